"""Trajectories: their data model, methods, measures, attacks and audit."""

from tripcloak.trajectories.grid import Grid
from tripcloak.trajectories.release import Boxes, Solution, TrajectoryRelease
from tripcloak.trajectories.trajectories import Trajectories

__all__ = ["Boxes", "Grid", "Solution", "Trajectories", "TrajectoryRelease"]
