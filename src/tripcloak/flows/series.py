"""A series: one release a period, all in the same zones, planned for all of them at once."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tripcloak.flows.anonymise import (
    AnonymisationOutcome,
    MadeRelease,
    ReleaseRequest,
    make_release,
    write_release,
)
from tripcloak.flows.methods import FlowMethod
from tripcloak.flows.methods.fixed_zones import FixedZones
from tripcloak.flows.methods.method import all_in_one
from tripcloak.flows.model import SegmentPart
from tripcloak.flows.model.kept import KeptZones, members_digest, zone_members
from tripcloak.flows.planning import Plan, as_part, plan_zones, released_zones_of
from tripcloak.flows.publish import write_cumulative
from tripcloak.flows.reading.matrix import MatrixReading, opened, read_matrix
from tripcloak.flows.release.cumulating import adds_up, cumulative_table
from tripcloak.flows.release.keeping import PLAN
from tripcloak.flows.report.series import series_page, series_readme
from tripcloak.ground.documents import parse_json
from tripcloak.ground.errors import ImpossibleRequestError, InputError
from tripcloak.ground.folders import (
    PRIVATE,
    PUBLIC,
    REPORT_FILES,
    FolderParts,
    json_text,
    refuse_if_taken,
    staged,
    write_json,
)
from tripcloak.ground.progress import Progress, silent
from tripcloak.ground.spelling import called, spelt
from tripcloak.records.during import find_periods
from tripcloak.records.files.frames import Input
from tripcloak.records.source import TripSource

if TYPE_CHECKING:
    from tripcloak.flows.reading.matrix import Opened

RECORD = "series.json"
"""The private file of a series: its periods, its plan, and exact numbers."""

MOST_PERIODS = 400
"""Each period is read, planned for, solved and audited."""


@dataclass(frozen=True, kw_only=True)
class SeriesRequest:
    """What was asked for: a release of every period, all in the same zones.

    Attributes
    ----------
    release : ReleaseRequest
        What is asked of every period; its source is all of the input.
    periods : str, optional
        What parts the input: day, week or month. Without it every input is a period.
    pilot : str, optional
        The period to plan the zones on; all of them at once if not given.
    cumulative : bool
        Whether sums from the first period until each are published too.
    recorded : callable, optional
        Given each release and the folder that it goes to; they are written within what it returns.
    """

    release: ReleaseRequest
    out: Path
    periods: str | None = None
    pilot: str | None = None
    cumulative: bool = False
    force: bool = False
    recorded: Callable[[MadeRelease, Path], AbstractContextManager[None]] | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class SeriesOutcome:
    """What came of a series; for the eyes of the data owner.

    Attributes
    ----------
    released : dict
        Period to what came of it, in the order of time.
    withheld : dict
        Periods that cannot be made safe even taken whole, and why.
    plan : Plan
        The zones, and how they suit every period.
    inputs : dict
        Period to the inputs that it was read from.
    """

    released: dict[str, AnonymisationOutcome]
    withheld: dict[str, str]
    plan: Plan
    digest: str
    out: Path
    inputs: dict[str, tuple[Input, ...]]

    def __repr__(self) -> str:
        return f"<SeriesOutcome: {', '.join(self.released)}>"

    @property
    def notes(self) -> tuple[str, ...]:
        """Return what a reader should know, over all periods; one that all have is told once."""
        told: dict[str, list[str]] = {}
        for name, one in self.released.items():
            for note in one.notes:
                told.setdefault(note, []).append(name)
        every = len(self.released)
        return tuple(n if len(of) == every else f"{', '.join(of)}: {n}" for n, of in told.items())

    def plain(self) -> tuple[str, ...]:
        """Return the result in sentences; numbers in them are not released."""
        shares = [fit.withheld for fit in self.plan.fits]
        worst = self.plan.worst
        told = [
            f"{len(self.released):,} periods are released in the same zones, planned on {self.plan.way}.",
            f"Between {min(shares):.1%} and {max(shares):.1%} of a period is withheld.",
            f"The worst period is {worst.name}: a released trip lies in {worst.tiles:,.4g} tiles on average.",
        ]
        if self.withheld:
            told.append(f"Left out, since too few people are in them: {', '.join(self.withheld)}.")
        return tuple(told)

    def to_dict(self) -> dict[str, Any]:
        """Return the object that ``tripcloak series --json`` prints."""
        return {
            "periods": {name: one.to_dict() for name, one in self.released.items()},
            "withheld": self.withheld,
            "plan": self.plan.to_dict(),
            "zones_from": self.digest,
            "notes": list(self.notes),
            "plain_words": list(self.plain()),
            "out": str(self.out),
        }


class PeriodSource(NamedTuple):
    """A period: its name, what is read of it, and where that is open already."""

    name: str
    source: TripSource
    within: Opened | None


def make_series(request: SeriesRequest, progress: Progress = silent) -> SeriesOutcome:
    """Return a series; all its releases are on disk, together, if and only if this returns.

    The zones are planned for all periods: every one keeps to the limit on what is withheld, and the worst
    loses as little as possible. Each is then a release of its own in these zones.
    """
    method = request.release.method
    _refuse_methods(request)
    refuse_if_taken(request.out, force=request.force, parts=_parts(request.out, ()))
    with _opened(request) as (whole_source, sources):
        within = sources[0].within
        whole = _read(request, whole_source, within, progress)
        settled = replace(request, release=replace(request.release, zoning=whole.zoning))
        parts, withheld = _possible(settled, sources, whole, progress)
        parts_of_folder = _parts(request.out, [part.name for part in parts])
        refuse_if_taken(request.out, force=request.force, parts=parts_of_folder)
        plan = _stated(_planned(settled, whole, parts, progress), method, parts, whole)
        by_name = {one.name: one for one in sources}
        made = {part.name: _made(settled, by_name[part.name], plan.zones, progress) for part in parts}
    with ExitStack() as records:
        for name, one in made.items():
            if request.recorded is not None:
                records.enter_context(request.recorded(one, request.out / name))
        written = _written(made, plan, request, parts_of_folder, withheld, progress)
    return SeriesOutcome(
        released=written,
        withheld=withheld,
        plan=plan,
        digest=plan.zones.digest,
        out=request.out,
        inputs={name: by_name[name].source.paths for name in written},
    )


def _refuse_methods(request: SeriesRequest) -> None:
    method, zoning = request.release.method, request.release.zoning
    if method.noisy or method.draws_zones or isinstance(method, FixedZones):
        raise InputError(
            f"{method.name} cannot plan zones for several periods; choose a method of k-anonymity that works "
            "on the hierarchy, such as twincut"
        )
    if method.promise.by_release or "places" in method.promise.floors:
        raise InputError(
            f"a series keeps its zones, so that {spelt('t')} and {spelt('l_places')} cannot be planned for; "
            "leave them out"
        )
    if request.cumulative and request.release.publish == "travellers":
        adds_up([request.release.publish])
    if zoning.apart or (zoning.time_slot is not None and zoning.fold is None):
        raise InputError(
            f"slots of time in a series must come again in every period: give {spelt('time_slot')} together "
            f"with {spelt('fold')}, and leave out {spelt('slot')}"
        )


@contextmanager
def _opened(request: SeriesRequest) -> Iterator[tuple[TripSource, list[PeriodSource]]]:
    """Give what is read of all periods together, and of each; where one input is parted it is opened once."""
    source, asked = request.release.source, request.release
    if request.periods is None:
        yield source, _by_input(source)
        return
    with opened(source, memory=asked.memory, folder=asked.folder) as within:
        con, canonical = within
        if not canonical.has_start:
            raise InputError(
                f"{called('periods')} needs the start of every trip; name it with {spelt('start_time')}"
            )
        names = find_periods(con, request.periods, canonical.timezone or "UTC")
        if len(names) > MOST_PERIODS:
            raise InputError(
                f"the input falls into more than {MOST_PERIODS} periods; take longer ({spelt('periods')})"
            )
        if not names:
            raise InputError("no usable trip tells when it began, so that there are no periods")
        yield source, [PeriodSource(name, replace(source, during=name), within) for name in names]


def _by_input(source: TripSource) -> list[PeriodSource]:
    """Return every input as a period, by the name of its file."""
    if not all(isinstance(path, str) for path in source.paths):
        raise InputError(f"a table in memory has no name that could be a period's; give {called('periods')}")
    names = [
        re.sub(r"[^\w.=-]", "_", str(path).rstrip("/").rpartition("/")[2]).split(".")[0]
        for path in source.paths
    ]
    if len(names) < 2 or len(set(names)) < len(names) or {*names} & {PUBLIC, PRIVATE, ""}:
        raise InputError(
            f"give {called('periods')} (month, week or day), or several inputs, each a period with a name of "
            "its own"
        )
    return [
        PeriodSource(name, replace(source, paths=(path,)), None)
        for name, path in sorted(zip(names, source.paths, strict=True), key=lambda one: one[0])
    ]


def _read(
    request: SeriesRequest, source: TripSource, within: Opened | None, progress: Progress
) -> MatrixReading:
    asked = request.release
    return read_matrix(
        source,
        asked.zoning,
        promise=asked.method.promise,
        repeats=True,
        weights="population" in asked.method.promise.parts_of,
        memory=asked.memory,
        folder=asked.folder,
        within=within,
        progress=progress,
    )


def _possible(
    request: SeriesRequest, sources: Sequence[PeriodSource], whole: MatrixReading, progress: Progress
) -> tuple[list[SegmentPart], dict[str, str]]:
    """Return the periods that are safe at least if taken whole, and why others are not."""
    method, parts, withheld = request.release.method, [], {}
    for one in sources:
        reading = _read(request, one.source, one.within, _about(one.name, progress))
        part = as_part(one.name, reading.trips.matrix, whole.trips.matrix)
        asked = method.promise.resolve(part.matrix).by_group
        if all_in_one(part.matrix, asked.monotone):
            parts.append(part)
        else:
            withheld[one.name] = f"taken whole, it does not hold {asked.sentence()}"
    if not parts:
        raise ImpossibleRequestError(
            "not possible: no period is safe, even taken whole. Take longer ones "
            f"({spelt('periods')}), or ask for less; nothing was written"
        )
    if request.pilot is not None and request.pilot not in [part.name for part in parts]:
        known = ", ".join(part.name for part in parts)
        raise InputError(f"{called('pilot')} must be one of the periods ({known}); got {request.pilot!r}")
    return parts, withheld


def _planned(
    request: SeriesRequest, whole: MatrixReading, parts: Sequence[SegmentPart], progress: Progress
) -> Plan:
    return plan_zones(
        request.release.method,
        whole.trips.matrix,
        parts,
        pilot=request.pilot,
        hierarchy=whole.zoning.told(whole.tiling, whole.trips.canonical.timezone),
        progress=progress,
    )


def _stated(plan: Plan, method: FlowMethod, parts: Sequence[SegmentPart], whole: MatrixReading) -> Plan:
    """Return a plan with no zones but those released in some period, and the digest of what states them."""
    columns = released_zones_of(plan, method, parts)
    zones = KeptZones.of_pairs(
        columns, digest=plan.zones.digest, homogeneous=plan.zones.homogeneous, hierarchy=plan.zones.hierarchy
    )
    members = {
        axis: members_digest(zone_members(tree, zones.rows(axis, tree)))
        for axis, (tree, _) in zip(("origin", "destination"), whole.trips.matrix.axes, strict=False)
        if tree.complete
    }
    zones = replace(zones, members=members)
    digest = hashlib.sha256(json_text(zones.to_dict()).encode()).hexdigest()
    return replace(plan, zones=replace(zones, digest=digest))


def _made(request: SeriesRequest, one: PeriodSource, kept: KeptZones, progress: Progress) -> MadeRelease:
    asked = request.release
    method = FixedZones(
        zones=kept, promise=asked.method.promise, suppression_limit=asked.method.suppression_limit
    )
    order = replace(
        asked, source=one.source, method=method, zoning=replace(asked.zoning, kept=kept), once_read=None
    )
    return make_release(order, _about(one.name, progress), one.within)


def _parts(out: Path, names: Sequence[str]) -> FolderParts:
    """Return the folders of a series; periods that an earlier one had beyond them go away."""
    others = [*sorted(set(_periods_there(out)) - {*names}), *REPORT_FILES]
    return FolderParts("series", folders=(PRIVATE, PUBLIC), files=tuple(names), optional=tuple(others))


def _periods_there(out: Path) -> list[str]:
    """Return the periods of a series that is there already."""
    try:
        told = parse_json((out / PRIVATE / RECORD).read_text(encoding="utf-8"))["periods"]
        return [name for name in told if re.fullmatch(r"[\w.=-]+", name) and name not in (PUBLIC, PRIVATE)]
    except (OSError, ValueError, KeyError, TypeError):
        return []


def _written(
    made: Mapping[str, MadeRelease],
    plan: Plan,
    request: SeriesRequest,
    parts: FolderParts,
    withheld: Mapping[str, str],
    progress: Progress,
) -> dict[str, AnonymisationOutcome]:
    """Return the outcomes after writing all releases aside, and moving them into place together."""
    with staged(request.out, force=request.force, parts=parts) as staging:
        written = {name: write_release(one, staging / name, progress=progress) for name, one in made.items()}
        folders = {name: staging / name for name in written}
        public, private = staging / PUBLIC, staging / PRIVATE
        if request.cumulative:
            write_cumulative(public, cumulative_table(folders))
        (public / PLAN).write_text(json_text(plan.zones.to_dict()), encoding="utf-8")
        (public / "map.html").write_text(series_page(folders), encoding="utf-8")
        readme = series_readme(folders, cumulative=request.cumulative)
        (public / "README.md").write_text(readme, encoding="utf-8")
        (private / RECORD).touch(mode=0o600)
        told = {"periods": list(written), "withheld": dict(withheld), "plan": plan.to_dict()}
        write_json(private / RECORD, told)
    return {name: replace(one, out=request.out / name) for name, one in written.items()}


def _about(name: str, progress: Progress) -> Progress:
    return lambda what, done, total: progress(f"{name}: {what}", done, total)
