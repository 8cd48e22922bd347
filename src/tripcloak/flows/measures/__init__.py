"""Measures: how useful a release still is. One function a measure, and one that gives them all.

Every measure reads a matrix and its release and asks nothing about the method. They are computed from
data that is not released, so their values are for the data owner; see docs/measures.md.
"""

from tripcloak.flows.measures.distances import Displacement, displacement, trip_length_distance
from tripcloak.flows.measures.fidelity import (
    cpc,
    cpc_of_shares,
    distribution_loss,
    reconstruction_loss,
    top_flow_agreement,
)
from tripcloak.flows.measures.rounding import RoundingError, rounding_error
from tripcloak.flows.measures.scorecard import measure
from tripcloak.flows.measures.sizes import (
    average_group_size,
    discernability,
    generalisation,
    generalisation_in_time,
    suppressed_share,
)

__all__ = [
    "Displacement",
    "RoundingError",
    "average_group_size",
    "cpc",
    "cpc_of_shares",
    "discernability",
    "displacement",
    "distribution_loss",
    "generalisation",
    "generalisation_in_time",
    "measure",
    "reconstruction_loss",
    "rounding_error",
    "suppressed_share",
    "top_flow_agreement",
    "trip_length_distance",
]
