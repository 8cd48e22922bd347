"""Methods that do what no method should, each in its own way; other processes import them by name."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tripcloak.flows.methods.method import FlowMethod, Solution
from tripcloak.flows.model import ODMatrix
from tripcloak.ground.errors import ImpossibleRequestError, InputError
from tripcloak.ground.progress import Progress
from tripcloak.promises import Promise

SECRET = "4711-secret-id"


def everything(matrix: ODMatrix) -> Solution:
    """Return all flows in one group."""
    roots = (np.full(matrix.n_flows, tree.root) for tree in (matrix.origins, matrix.destinations))
    return Solution(*roots, np.zeros(matrix.n_flows, dtype=bool), homogeneous=True)


@dataclass(frozen=True, kw_only=True)
class _Made(FlowMethod):
    summary: ClassVar[str] = "misbehaves"
    source: ClassVar[str] = "made up"

    def solve(self, matrix: ODMatrix, promise: Promise, progress: Progress) -> Solution:
        self.misbehave()
        return everything(matrix)

    def misbehave(self) -> None:
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class Behaves(_Made):
    """Puts everything into one group."""

    name: ClassVar[str] = "behaves"

    def misbehave(self) -> None:
        pass


@dataclass(frozen=True, kw_only=True)
class Sleeps(_Made):
    """Takes for ever."""

    name: ClassVar[str] = "sleeps"

    def misbehave(self) -> None:
        time.sleep(600)


@dataclass(frozen=True, kw_only=True)
class Dies(_Made):
    """Dies without a word."""

    name: ClassVar[str] = "dies"

    def misbehave(self) -> None:
        os.kill(os.getpid(), signal.SIGSEGV)


@dataclass(frozen=True, kw_only=True)
class Leaks(_Made):
    """Fails with data in its words."""

    name: ClassVar[str] = "leaks"

    def misbehave(self) -> None:
        raise ValueError(SECRET)


@dataclass(frozen=True, kw_only=True)
class Hoards(_Made):
    """Takes more and more memory."""

    name: ClassVar[str] = "hoards"

    def misbehave(self) -> None:
        hoard = []
        # It ends some day, so that a test that fails does not take the machine with it.
        for _ in range(64):
            hoard.append(np.ones(4_000_000))
            time.sleep(0.02)
        raise ValueError("nobody stopped me")


@dataclass(frozen=True, kw_only=True)
class Hopeless(_Made):
    """Says that the request cannot be met."""

    name: ClassVar[str] = "hopeless"

    def misbehave(self) -> None:
        raise ImpossibleRequestError("not possible: ask for less")


@dataclass(frozen=True, kw_only=True)
class Refuses(_Made):
    """Refuses the input before it starts."""

    name: ClassVar[str] = "refuses"

    def refuse(self, matrix: ODMatrix) -> None:
        raise InputError("refuses such flows")
