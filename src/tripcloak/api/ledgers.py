"""The ledger behind the front door: records are read with its key, and it knows of what is saved."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any

from tripcloak.ground.errors import InputError
from tripcloak.ground.given_paths import output_path

if TYPE_CHECKING:
    from tripcloak.flows.anonymise import ReleaseRequest
    from tripcloak.ground.progress import Progress
    from tripcloak.ledger.releasing import Mode
    from tripcloak.ledger.store import Ledger
    from tripcloak.trajectories.anonymise import MadeTrajectories, TrajectoryReleaseRequest


@dataclass(frozen=True)
class LedgerKept:
    """The ledger that a release is recorded in, if there is one, and how many must approve of it."""

    ledger: Ledger | None
    approvals_needed: int | None
    mode: Mode = "coarsen"

    @classmethod
    def of(cls, given: dict[str, Any], out: str | PathLike[str] | None) -> LedgerKept:
        """Return the ledger that keywords name, which are taken out of them."""
        names = ("ledger", "needs_approvals", "ledger_mode")
        told = {name: given.pop(name, None) for name in names}
        if all(value is None for value in told.values()):
            return cls(None, None)
        if out is None:
            raise InputError("a ledger records what is written: say where to save the release, out=...")
        from tripcloak.ledger.releasing import ledger_of

        parted = {name: given.get(name) for name in ("segment", "segment_joint")}
        ledger = ledger_of({**told, **parted})
        return cls(ledger, told["needs_approvals"], told["ledger_mode"] or "coarsen")

    def reading(self, request: ReleaseRequest) -> ReleaseRequest:
        """Return a request whose records are read with the ledger's key."""
        if self.ledger is None:
            return request
        from tripcloak.ledger.releasing import read_by

        return read_by(request, self.ledger, self.mode)

    def trajectories(self, request: TrajectoryReleaseRequest, progress: Progress) -> MadeTrajectories:
        """Return a release of trajectories, which the ledger charges before noise is drawn."""
        from tripcloak.trajectories.anonymise import make_trajectories

        if self.ledger is None:
            return make_trajectories(request, progress)
        from tripcloak.ledger.trajectories import TrajectoryCharging

        return TrajectoryCharging(self.ledger).make(request, progress)

    @contextmanager
    def recording(self, made: Any, out: str | PathLike[str]) -> Iterator[None]:
        """Save a release within this, and the ledger knows of it."""
        if self.ledger is None:
            yield
            return
        from tripcloak.ledger.releasing import recorded
        from tripcloak.ledger.trajectories import TrajectoryCharging
        from tripcloak.trajectories.anonymise import MadeTrajectories

        place, inside, needed = output_path(out), made.private.made, self.approvals_needed
        with (
            TrajectoryCharging(self.ledger).recorded(inside, place, approvals_needed=needed)
            if isinstance(inside, MadeTrajectories)
            else recorded(inside, place, self.ledger, approvals_needed=needed)
        ):
            yield
