"""The raw input, as the audit asks for it: whoever can read it hands it in, and the audit reads none."""

from __future__ import annotations

from typing import Any, Protocol

from tripcloak.ground.arrays import Floats, Ints
from tripcloak.trajectories.model import Grid


class RawFixes(Protocol):
    """The clean fixes of everybody, by person and time."""

    @property
    def offsets(self) -> Ints:
        """Return where each person's fixes begin; one more than there are people."""

    @property
    def instant(self) -> Ints:
        """Return when, in microseconds since 1970."""

    @property
    def lat(self) -> Floats:
        """Return degrees of latitude."""

    @property
    def lon(self) -> Floats:
        """Return degrees of longitude."""

    @property
    def users(self) -> Any:
        """Return whose fixes they are, in this order."""

    @property
    def n_users(self) -> int:
        """Return the number of people."""


class RawInput(Protocol):
    """The raw input, read when it is first asked for: a folder without a table needs none."""

    @property
    def fixes(self) -> RawFixes:
        """Return the clean fixes; an InputError where the input cannot be read."""

    def grid(self) -> Grid | None:
        """Return the grid on which such an input is told; None where nothing says how fine it is.

        An InputError where no one projection serves the input.
        """
