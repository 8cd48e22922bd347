"""Measures of trajectories: how accurate a release is, and what can still be learnt from it."""

from tripcloak.trajectories.measures.accuracy import Accuracy, accuracy
from tripcloak.trajectories.measures.distribution import Distribution, distribution
from tripcloak.trajectories.measures.sample_errors import SampleErrors, sample_errors

__all__ = [
    "Accuracy",
    "Distribution",
    "SampleErrors",
    "accuracy",
    "distribution",
    "sample_errors",
]
