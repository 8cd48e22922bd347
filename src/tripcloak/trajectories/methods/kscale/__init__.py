"""k-scale: proxy distance, nearest neighbours, sparse costs, constraints, generalisation (paper 002)."""

from tripcloak.trajectories.methods.kscale.method import KScale

__all__ = ["KScale"]
