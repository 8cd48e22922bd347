"""Measures: how useful a release still is. One function a measure, and one that gives them all.

Every measure reads a matrix and its release and asks nothing about the method. They are computed from
data that is not released, so their values are for the data owner; see docs/measures.md.
"""

from tripcloak.metrics.fidelity import cpc, distribution_loss, reconstruction_loss
from tripcloak.metrics.lengths import trip_length_distance
from tripcloak.metrics.places import Displacement, displacement
from tripcloak.metrics.ranks import top_flow_agreement
from tripcloak.metrics.scorecard import measure
from tripcloak.metrics.sizes import average_group_size, discernability, suppressed_share
from tripcloak.metrics.tile_counts import generalisation, generalisation_in_time

__all__ = [
    "Displacement",
    "average_group_size",
    "cpc",
    "discernability",
    "displacement",
    "distribution_loss",
    "generalisation",
    "generalisation_in_time",
    "measure",
    "reconstruction_loss",
    "suppressed_share",
    "top_flow_agreement",
    "trip_length_distance",
]
