"""The wing of trajectories: from fixes to released boxes in space and time, and the verbs that do it all."""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tripcloak.api.checks import audit, measures, open
    from tripcloak.api.trajectories import anonymise, compare, describe
    from tripcloak.trajectories.linking import link_releases
    from tripcloak.trajectories.model import Grid, Trajectories
    from tripcloak.trajectories.release.release import Boxes, TrajectoryRelease, TrajectorySolution

# Loaded on first use, like the names of the whole package.
_HOMES = {
    "Boxes": "release.release",
    "Grid": "model",
    "TrajectorySolution": "release.release",
    "Trajectories": "model",
    "TrajectoryRelease": "release.release",
    "link_releases": "linking",
}
_VERBS = {
    "anonymise": "api.trajectories",
    "audit": "api.checks",
    "compare": "api.trajectories",
    "describe": "api.trajectories",
    "measures": "api.checks",
    "open": "api.checks",
}

__all__ = [
    "Boxes",
    "Grid",
    "Trajectories",
    "TrajectoryRelease",
    "TrajectorySolution",
    "anonymise",
    "audit",
    "compare",
    "describe",
    "link_releases",
    "measures",
    "open",
]


class _Verb:
    """A verb of the front door as an attribute of this module.

    Rooms of the wing are called ``anonymise``, ``audit`` and ``measures`` too. Python would put a room in the
    verb's place once it is imported; whoever imports from a room finds it all the same.
    """

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, module: ModuleType | None, owner: type) -> Any:
        return getattr(import_module(f"tripcloak.{_VERBS[self._name]}"), self._name)

    def __set__(self, module: ModuleType, room: ModuleType) -> None:
        """Keep the verb."""


class _Wing(ModuleType):
    """This module, with the verbs."""

    anonymise, audit, compare, describe, measures, open = (_Verb() for _ in range(6))

    def __getattr__(self, name: str) -> Any:
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)

    def __dir__(self) -> list[str]:
        return sorted(__all__)


sys.modules[__name__].__class__ = _Wing
