"""NWA: trajectories of one time span, moved together until k of them walk as one."""

from tripcloak.trajectories.methods.nwa.nwa import NWA

__all__ = ["NWA"]
