"""The wing of trajectories: from fixes to released boxes in space and time."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tripcloak.trajectories.model import Grid, Trajectories
    from tripcloak.trajectories.release.release import Boxes, TrajectoryRelease, TrajectorySolution

# Loaded on first use, like the names of the whole package.
_HOMES = {
    "Boxes": "release.release",
    "Grid": "model",
    "TrajectorySolution": "release.release",
    "Trajectories": "model",
    "TrajectoryRelease": "release.release",
}

__all__ = ["Boxes", "Grid", "Trajectories", "TrajectoryRelease", "TrajectorySolution"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
