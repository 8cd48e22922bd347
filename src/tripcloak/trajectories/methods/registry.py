"""The methods on trajectories by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tripcloak.ground.errors import InputError
from tripcloak.ground.registry import Registry

if TYPE_CHECKING:
    from tripcloak.trajectories.methods.method import TrajectoryMethod

TRAJECTORY_METHODS: Registry[TrajectoryMethod] = Registry(
    "tripcloak.trajectories.methods",
    {
        "k-scale": "kscale:KScale",
        "glove": "glove:TrajectoryGlove",
        "w4m": "w4m:W4M",
        "nwa": "nwa:NWA",
        "grid": "grid:GridGeneralisation",
        "k-m": "km:KMTrajectories",
        "mix-zones": "mixzones.zones:MixZones",
        "dummies": "dummies:Dummies",
        "safepath": "noise.safepath:SafePath",
        "dptd": "noise.dptd:DPTD",
        "adatrace": "noise.adatrace:AdaTrace",
        "locations": "noise.locations:InterestingLocations",
    },
)
"""Every method by its name, with its file and its class; a new one is one line more."""


def find_trajectory_method(name: str) -> type[TrajectoryMethod]:
    """Return the method of this name.

    >>> find_trajectory_method("w4m").__name__
    'W4M'
    >>> find_trajectory_method("magic")
    Traceback (most recent call last):
    tripcloak.InputError: there is no method 'magic' for trajectories; there are: k-scale, ...
    """
    if name not in TRAJECTORY_METHODS:
        raise InputError(
            f"there is no method {name!r} for trajectories; there are: {', '.join(TRAJECTORY_METHODS)}"
        )
    return TRAJECTORY_METHODS[name]
