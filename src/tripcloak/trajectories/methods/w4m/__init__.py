"""W4M-LC: trajectories edited in space and time until k of them move as one."""

from tripcloak.trajectories.methods.w4m.w4m import W4M

__all__ = ["W4M"]
