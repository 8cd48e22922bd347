"""k-scale: proxy distance, nearest neighbours, sparse costs, constraints, merging (Mishra and Fiore 2025)."""

from tripcloak.trajectories.methods.kscale.method import KScale

__all__ = ["KScale"]
