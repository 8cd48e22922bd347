"""Releases that a ledger knows of: checked against all before them, recorded, then written."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypeVar, get_args

from tripcloak.flows.anonymise import (
    AnonymisationOutcome,
    AnonymisationRequest,
    MadeRelease,
    ReleaseRequest,
    Solver,
    make_release,
    write_release,
)
from tripcloak.flows.methods import FlowMethod
from tripcloak.flows.model import KeyedRecords, ODMatrix
from tripcloak.flows.reading.matrix import MatrixReading
from tripcloak.flows.release import Publish, Release
from tripcloak.flows.release.bricks import TablesWanted
from tripcloak.flows.release.rounding import RoundTo, rounded_release
from tripcloak.flows.series import SeriesOutcome, SeriesRequest, make_series
from tripcloak.ground.errors import ImpossibleRequestError, InputError, InternalError, TripcloakError
from tripcloak.ground.folders import PUBLIC, refuse_if_taken
from tripcloak.ground.given_paths import given_path
from tripcloak.ground.progress import Progress, silent
from tripcloak.ground.spelling import called, spelt
from tripcloak.ledger.advising import advice, part_of_a_whole, road_for_parts
from tripcloak.ledger.attacked import Attacks
from tripcloak.ledger.charging import Charging
from tripcloak.ledger.disclosing import disclosed, disclosed_by
from tripcloak.ledger.disclosure import Disclosure
from tripcloak.ledger.prevention import (
    Cost,
    Disclosing,
    Prevention,
    adds_facts,
    refuse_new_facts,
    with_room,
)
from tripcloak.ledger.rounding import RoundingPrevention
from tripcloak.ledger.store import Ledger, RecordedRelease, open_ledger
from tripcloak.ledger.store.describing import flows_to_record, how_made
from tripcloak.ledger.totals import with_safe_tables
from tripcloak.promises import Promise

Request = TypeVar("Request", bound=ReleaseRequest)
Mode = Literal["coarsen", "withhold", "round"]
MODES: tuple[Mode, ...] = get_args(Mode)
Guard: TypeAlias = Callable[[Sequence[Disclosure], Sequence[Disclosure]], None]
"""Is given what earlier releases tell and what a new one would; raises where that is too much together."""


def anonymise_with_ledger(
    request: AnonymisationRequest,
    ledger: Ledger,
    *,
    mode: Mode = "coarsen",
    guard: Guard | None = None,
    approvals_needed: int | None = None,
    progress: Progress = silent,
) -> tuple[AnonymisationOutcome, RecordedRelease]:
    """Return the outcome of a request, and what the ledger has of it; both are on disk if this returns.

    Parameters
    ----------
    mode
        As for :func:`read_by`.
    guard, approvals_needed
        As for :func:`recorded`.
    """
    refuse_if_taken(request.out, force=request.force)
    made = make_release(read_by(request, ledger, mode), progress)
    progress("checking against earlier releases", 0, None)
    with recorded(made, request.out, ledger, guard=guard, approvals_needed=approvals_needed):
        outcome = write_release(made, request.out, force=request.force, progress=progress)
    return outcome, ledger.releases[-1]


def series_with_ledger(
    request: SeriesRequest,
    ledger: Ledger,
    *,
    approvals_needed: int | None = None,
    progress: Progress = silent,
) -> tuple[SeriesOutcome, tuple[RecordedRelease, ...]]:
    """Return a series whose releases a ledger checks and records, and what it has of each.

    They are recorded before any is written; where one would add a fact, none is.
    """

    def within(made: MadeRelease, out: Path) -> AbstractContextManager[None]:
        return recorded(made, out, ledger, approvals_needed=approvals_needed)

    asked = replace(request, release=read_by(request.release, ledger), recorded=within)
    outcome = make_series(asked, progress)
    folders = {str((request.out / name).absolute()) for name in outcome.released}
    latest = {one.facts["folder"]: one for one in ledger.releases if one.facts["folder"] in folders}
    return outcome, tuple(latest.values())


def ledger_of(given: Mapping[str, Any]) -> Ledger | None:
    """Return the ledger that keywords name, opened and checked; None where they name none.

    Raises
    ------
    InputError
        It cannot be used, or the other keywords do not go with it.
    """
    if given.get("ledger") is None:
        if given.get("needs_approvals") is not None:
            raise InputError(f"approvals are signed into a ledger; give one ({spelt('ledger', 'DIR')})")
        if given.get("ledger_mode") not in (None, MODES[0]):
            raise InputError(f"{called('ledger_mode')} goes with {spelt('ledger', 'DIR')}")
        return None
    if given.get("ledger_mode") not in (None, *MODES):
        raise InputError(
            f"{called('ledger_mode')} is one of {', '.join(MODES)}; got {given['ledger_mode']!r}"
        )
    if given.get("segment") and not given.get("segment_joint"):
        raise InputError(
            f"a ledger takes one release at a time: make one in which every segment is safe "
            f"({spelt('segment_joint', True)}), or one after the other ({spelt('where')})"
        )
    needed = given.get("needs_approvals")
    if needed is not None and (not isinstance(needed, int) or needed < 0):
        raise InputError(f"{called('needs_approvals')} is a whole number, 0 or more; got {needed!r}")
    return open_ledger(given_path(given["ledger"]))


def read_by(request: Request, ledger: Ledger, mode: Mode = "coarsen") -> Request:
    """Return a request whose records are read with the key of a ledger.

    Parameters
    ----------
    mode
        What happens where a release would add facts: ``coarsen`` lets the method look for zones in which none
        follows, and withholds the rest; ``withhold`` withholds alone; ``round`` publishes rounded numbers in
        the zones that the method finds by itself.
    """
    to, secret = request.round_to, ledger.key.rounding_secret
    solver: Solver = (
        Charging(ledger, request.source)
        if request.method.noisy
        else _Preventing(
            ledger.disclosures(),
            request.publish,
            mode,
            None if to is None else to.base,
            secret,
            request.tables,
        )
    )
    return replace(request, keyed=ledger.key.record_key, solved_by=solver)


@dataclass(eq=False)
class _Preventing:
    """Makes releases by a method that add no fact to what a ledger knows.

    It keeps what it attacked last, so that what is written is not attacked twice.
    """

    earlier: Sequence[Disclosure]
    publish: Publish
    mode: Mode
    base: int | None
    secret: str = field(repr=False)
    tables: TablesWanted | None = None
    attacks: Attacks | None = field(default=None, init=False, repr=False)

    def __call__(
        self,
        method: FlowMethod,
        reading: MatrixReading,
        part_records: tuple[KeyedRecords, ...],
        progress: Progress,
    ) -> tuple[Release, tuple[str, ...]]:
        """Return the release, and what it took."""
        matrix, records = reading.trips.matrix, reading.trips.records
        if records is None:
            raise InternalError("records were read without the key of the ledger")
        _refuse_another_mean(method.promise, matrix, self.earlier)
        if not self.earlier:
            first = with_room(method, matrix, progress)
            to = None if self.base is None else RoundTo(self.base, self.secret)
            return first if to is None else rounded_release(first, to), ()

        def told(release: Release) -> tuple[Disclosure, ...]:
            return disclosed_by(
                "the new release", reading, replace(release, publish=self.publish), part_records
            )

        self.attacks = attacks = Attacks(self.earlier, records)
        rounds = RoundingPrevention(attacks, records, told, secret=self.secret, base=self.base)
        promise = method.promise.resolve(matrix)
        asked = how_made(method.released_as, method.parameters(matrix), promise, reading)
        exact = Prevention(attacks, records, told, coarsens=self.mode == "coarsen", asked=asked)
        if self.mode == "round" and self.base is None:
            alone = method.anonymise(matrix, progress)
            if not adds_facts(self.earlier, told(alone)):
                return self._with_tables(matrix, alone, told), (Cost(0, 1).note(len(self.earlier)),)
        rounded = self.mode == "round" or self.base is not None
        parts = not rounded and part_of_a_whole(self.earlier, records.record)
        try:
            release, cost = (rounds if rounded else exact).anonymise(method, matrix, progress)
        except ImpossibleRequestError as error:
            if not parts:
                raise
            raise ImpossibleRequestError(f"{error}. {road_for_parts(method.released_as)}") from error
        notes: tuple[str, ...] = (cost.note(len(self.earlier)),)
        if parts:
            notes += advice(release, method.anonymise(matrix))
        return self._with_tables(matrix, release, told), notes

    def refuse_new_facts(self, earlier: Sequence[Disclosure], new: Sequence[Disclosure]) -> None:
        """Raise where a release would add facts to earlier ones; both are attacked unless they were."""
        known = None if self.attacks is None else self.attacks.known_of(earlier, new)
        refuse_new_facts(earlier, new, known)

    def _with_tables(self, matrix: ODMatrix, release: Release, told: Disclosing) -> Release:
        """Return a release with the tables that are wanted beside it, if any."""
        if self.tables is None:
            return release
        release = replace(release, publish=self.publish)
        self.tables.check(release.promise, release.publication)
        return with_safe_tables(matrix, release, self.tables, self.earlier, told)


def _refuse_another_mean(promise: Promise, matrix: ODMatrix, earlier: Sequence[Disclosure]) -> None:
    """Raise where another mean weight than before would be told: two of them tell somebody's weight."""
    if not promise.averages:
        return
    made = [Promise.from_manifest(one.made["promise"]) for one in earlier if one.made is not None]
    before = {one.thresholds["population"] for one in made if "population" in one.thresholds}
    if before - {promise.resolve(matrix).thresholds["population"]}:
        raise InputError(
            "with a release of another threshold on population in the ledger, one that is worked out from "
            "the mean weight would tell the weight of somebody who came or left; give the number yourself "
            f"({spelt('k_population', 'N')})"
        )


@contextmanager
def recorded(
    made: MadeRelease,
    out: Path,
    ledger: Ledger,
    *,
    guard: Guard | None = None,
    approvals_needed: int | None = None,
) -> Iterator[None]:
    """Write a release within this, and a ledger knows of it.

    It is checked against all that the ledger holds, while nobody else may add to it, and recorded before it
    is written. From then on it counts as published, whatever becomes of this run.

    Parameters
    ----------
    made
        The release, of records that were read with the ledger's key; see :func:`read_by`.
    out
        The folder that it is written to.
    guard
        Raises where the earlier disclosures and the new ones tell too much together: nothing is recorded. If
        not given, new facts are refused.
    approvals_needed
        How many people must approve of the release, where that is more than the ledger asks for.
    """
    told = disclosed(made, out.absolute().name)
    solver = made.request.solved_by
    if guard is None:
        guard = solver.refuse_new_facts if isinstance(solver, _Preventing) else refuse_new_facts
    with ledger.changing():
        guard(ledger.disclosures(), told)
        release = ledger.prepare(flows_to_record(made), told, out, approvals_needed=approvals_needed)
    with written_after(release, out, ledger):
        yield


@contextmanager
def written_after(release: RecordedRelease, out: Path, ledger: Ledger) -> Iterator[None]:
    """Write a release within this that a ledger was told of, and it is told what became of it."""
    there_before = (out / PUBLIC).exists()
    try:
        yield
    except BaseException:
        # Where nothing is in place, nobody can ever have had it.
        if not there_before and not (out / PUBLIC).exists():
            with suppress(TripcloakError):
                ledger.abandon(release)
        raise
    try:
        ledger.released(release, out)
    except InputError as error:
        raise InputError(
            f"the release is in {out} and counts as published, but the ledger could not note its files: "
            f"{str(error).partition(';')[0]}. When that is mended, `tripcloak ledger add {out} --ledger "
            f"{ledger.folder}` records it"
        ) from error
