"""The methods on trajectories by name."""

from __future__ import annotations

from tripcloak.ground.errors import InputError
from tripcloak.trajectories.methods.glove import TrajectoryGlove
from tripcloak.trajectories.methods.kscale import KScale
from tripcloak.trajectories.methods.method import TrajectoryMethod
from tripcloak.trajectories.methods.nwa import NWA
from tripcloak.trajectories.methods.w4m import W4M

_ALL: tuple[type[TrajectoryMethod], ...] = (KScale, TrajectoryGlove, W4M, NWA)

TRAJECTORY_METHODS: dict[str, type[TrajectoryMethod]] = {method.name: method for method in _ALL}


def find_trajectory_method(name: str) -> type[TrajectoryMethod]:
    """Return the method of this name.

    >>> find_trajectory_method("w4m").__name__
    'W4M'
    >>> find_trajectory_method("magic")
    Traceback (most recent call last):
    tripcloak.InputError: there is no method 'magic' for trajectories; there are: k-scale, ...
    """
    try:
        return TRAJECTORY_METHODS[name]
    except KeyError:
        raise InputError(
            f"there is no method {name!r} for trajectories; there are: {', '.join(TRAJECTORY_METHODS)}"
        ) from None
