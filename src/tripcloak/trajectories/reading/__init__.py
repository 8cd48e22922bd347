"""Reading: from files of fixes, check-ins or call records to trajectories, and what was dropped."""

from tripcloak.trajectories.reading.fixes import OpenFixes, open_fixes
from tripcloak.trajectories.reading.reading import ReadTrajectories, describe_trajectories, read_trajectories
from tripcloak.trajectories.reading.source import TrajectorySource
from tripcloak.trajectories.reading.tracks import Tracks, read_tracks

__all__ = [
    "OpenFixes",
    "ReadTrajectories",
    "Tracks",
    "TrajectorySource",
    "describe_trajectories",
    "open_fixes",
    "read_tracks",
    "read_trajectories",
]
