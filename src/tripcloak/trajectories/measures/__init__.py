"""Measures of trajectories: how accurate a release is, and what can still be learnt from it."""

from tripcloak.trajectories.measures.accuracy import Accuracy, SampleErrors, accuracy, sample_errors
from tripcloak.trajectories.measures.anchors import compare_anchors, home, local_seconds, work
from tripcloak.trajectories.measures.displacement import Law, displacement_laws, slopes
from tripcloak.trajectories.measures.distribution import Distribution, distribution
from tripcloak.trajectories.measures.entropy import compare_regularity, predictability, regularity
from tripcloak.trajectories.measures.likeness import Likeness, likeness
from tripcloak.trajectories.measures.scorecard import (
    TrajectoryMeasures,
    comparison_rows,
    comparison_table,
    measure_trajectories,
    take_measures,
)
from tripcloak.trajectories.measures.shape import PersonTracks, agreement, paired_tracks, shapes

__all__ = [
    "Accuracy",
    "Distribution",
    "Law",
    "Likeness",
    "PersonTracks",
    "SampleErrors",
    "TrajectoryMeasures",
    "accuracy",
    "agreement",
    "compare_anchors",
    "compare_regularity",
    "comparison_rows",
    "comparison_table",
    "displacement_laws",
    "distribution",
    "home",
    "likeness",
    "local_seconds",
    "measure_trajectories",
    "paired_tracks",
    "predictability",
    "regularity",
    "sample_errors",
    "shapes",
    "slopes",
    "take_measures",
    "work",
]
