"""Noisy trajectories under a ledger: everybody is charged before noise is drawn, and they are recorded."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tripcloak.flows.methods.noise.composing import Spending
from tripcloak.flows.reading.keyed import RecordDigests
from tripcloak.ground.errors import InputError, InternalError
from tripcloak.ground.folders import refuse_if_taken
from tripcloak.ground.progress import Progress, silent
from tripcloak.ground.spelling import spelt
from tripcloak.ledger.charging import charge
from tripcloak.ledger.releasing import written_after
from tripcloak.ledger.store import Ledger, RecordedRelease
from tripcloak.ledger.store.describing import Recordable, part_covered
from tripcloak.ledger.store.sameness import OF, PEOPLE, Offered
from tripcloak.ledger.store.spent import Charge
from tripcloak.promises import TrajectoryPrivacy
from tripcloak.trajectories.anonymise import (
    MadeTrajectories,
    TrajectoryOutcome,
    TrajectoryReleaseRequest,
    TrajectoryRequest,
    make_trajectories,
    write_trajectories,
)
from tripcloak.trajectories.methods.method import TrajectoryMethod
from tripcloak.trajectories.methods.noise.noisy import NoisyTrajectoryMethod
from tripcloak.trajectories.reading import ReadTrajectories


def anonymise_trajectories_with_ledger(
    request: TrajectoryRequest,
    ledger: Ledger,
    *,
    approvals_needed: int | None = None,
    progress: Progress = silent,
) -> tuple[TrajectoryOutcome, RecordedRelease]:
    """Return noisy trajectories, and what a ledger has of them; both are on disk if this returns.

    Parameters
    ----------
    approvals_needed
        How many people must approve of the release, where that is more than the ledger asks for.
    """
    refuse_if_taken(request.out, force=request.force)
    charging = TrajectoryCharging(ledger)
    made = charging.make(request, progress)
    with charging.recorded(made, request.out, approvals_needed=approvals_needed):
        outcome = write_trajectories(made, request.out, force=request.force, progress=progress)
    return outcome, ledger.releases[-1]


@dataclass(eq=False)
class TrajectoryCharging:
    """Makes noisy trajectories that a ledger charges first, and then knows of."""

    ledger: Ledger

    def make(self, request: TrajectoryReleaseRequest, progress: Progress = silent) -> MadeTrajectories:
        """Return the release; everybody in it is charged as soon as the input is read.

        Raises
        ------
        InputError
            It would have no noise that could be charged.
        OverdrawnError
            The cap would be passed; nothing is drawn, and nothing charged.
        """
        method, told = _charged_method(request.method), request.once_read
        notes: list[str] = []

        def once_read(reading: ReadTrajectories) -> None:
            if told is not None:
                told(reading)
            notes.append(
                charge(self.ledger, method, lambda asked: _cost(asked, reading), self._of(request, reading))
            )

        made = make_trajectories(replace(request, once_read=once_read), progress)
        return replace(made, request=request, notes=(*made.notes, *notes))

    @contextmanager
    def recorded(
        self, made: MadeTrajectories, out: Path, *, approvals_needed: int | None = None
    ) -> Iterator[None]:
        """Write a release within this, and the ledger knows of it."""
        method, promise = _charged_method(made.request.method), made.release.promise
        if not isinstance(promise, TrajectoryPrivacy) or promise.epsilon != method.epsilon:
            raise InternalError("other noise was charged for than was drawn; nothing was released")
        to_record = Recordable(
            offered=self._of(made.request, made.reading),
            facts=_facts(made),
            zones={},
            charge=_cost(method, made.reading),
        )
        with self.ledger.changing():
            release = self.ledger.prepare(to_record, (), out, approvals_needed=approvals_needed)
        with written_after(release, out, self.ledger):
            yield

    def _of(self, request: TrajectoryReleaseRequest, reading: ReadTrajectories) -> Offered:
        """Return an input as the ledger gets to know it: its people, by the digests of trips."""
        import pyarrow as pa

        people = pa.array(reading.trajectories.users, pa.string())
        columns = {"person": reading.columns["person"].lower()} if "person" in reading.columns else {}
        return Offered(
            RecordDigests(self.ledger.key.record_key).of_each(people),
            {OF: PEOPLE, "columns": columns},
            _covered(request, reading),
        )


def _charged_method(method: TrajectoryMethod) -> NoisyTrajectoryMethod:
    """Return a method that draws noise which can be charged, or raise where this is none."""
    if isinstance(method, NoisyTrajectoryMethod) and isinstance(method.promise, TrajectoryPrivacy):
        return method
    if isinstance(method, NoisyTrajectoryMethod):
        raise InputError(
            f"{method.name} as it was published is not differentially private, and no account can be kept of "
            f"it; take {spelt('variant', 'private')}, or no ledger"
        )
    raise InputError(
        f"a ledger keeps the account of noise of trajectories, and {method.name} draws none. What several "
        "releases without noise tell of the same people it cannot prevent: `tripcloak difference` measures "
        "how many are found again. Make it without a ledger"
    )


def _cost(method: NoisyTrajectoryMethod, reading: ReadTrajectories) -> Charge:
    """Return what a method's noise costs everybody in an input, with all they did."""
    return Charge(method.name, Spending(method.cost_of_a_user(reading.trajectories)), "user")


def _facts(made: MadeTrajectories) -> dict[str, Any]:
    """Return how a release was made, and how much is in it, in plain values."""
    release = made.release
    told = {
        "method": release.method,
        "parameters": dict(release.parameters),
        "promise": release.promise.stated(),
        "hierarchy": {},
        "groups": release.n_released,
        "records": made.reading.trajectories.n_users,
    }
    plain: dict[str, Any] = json.loads(json.dumps(told))
    return plain


def _covered(request: TrajectoryReleaseRequest, reading: ReadTrajectories) -> dict[str, Any]:
    """Return which part of the data an input is."""
    period = reading.facts["period"]
    return part_covered(request.source) | ({} if period is None else {"period": list(period)})
