"""GLOVE: the cheapest two trajectories are merged, again and again, until each group holds k people."""

from tripcloak.trajectories.methods.glove.glove import TrajectoryGlove

__all__ = ["TrajectoryGlove"]
