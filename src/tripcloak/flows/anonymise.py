"""The whole road: raw trips in, an audited release out."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from tripcloak.engines.choice import ON_CLUSTER
from tripcloak.engines.work import work_folder
from tripcloak.flows.audit import audit_matrix
from tripcloak.flows.few import Few, few_facts, groups_of_few, refuse_hollow
from tripcloak.flows.measures import measure
from tripcloak.flows.methods import FlowMethod
from tripcloak.flows.methods.method import all_in_one
from tripcloak.flows.model import KeyedRecords, ODMatrix, SegmentPart, TripEnds
from tripcloak.flows.notes import notes_on
from tripcloak.flows.publish import publish
from tripcloak.flows.reading.matrix import MatrixReading, Zoning, opened_by_segment, read_matrix
from tripcloak.flows.release import Publish, Release
from tripcloak.flows.release.bricks import TablesWanted
from tripcloak.flows.release.largest import LargestParts, largest_parts
from tripcloak.flows.release.laying import lay_tables
from tripcloak.flows.release.naming import released_box
from tripcloak.flows.release.rounding import RoundTo, refuse_numbers, rounded_release
from tripcloak.flows.report.plain import plain_words
from tripcloak.flows.resuming import reading_key, refuse_changed, seen_input
from tripcloak.ground.errors import ImpossibleRequestError, InputError
from tripcloak.ground.folders import note_on_leftovers, refuse_if_taken
from tripcloak.ground.memory import Memory
from tripcloak.ground.progress import Progress, silent
from tripcloak.ground.rulebook import Verdict, passed
from tripcloak.ground.spelling import spelt
from tripcloak.hierarchy.place_names import names_entry
from tripcloak.hierarchy.zonefile.zones import ZoneFile
from tripcloak.pages.background import read_background
from tripcloak.promises import EverySegment, SegmentsWhereSafe
from tripcloak.records.cleaning import CleaningReport
from tripcloak.records.files.fingerprints import input_digests
from tripcloak.records.pace import SILENCES
from tripcloak.records.segments import Segment, SegmentBy
from tripcloak.records.source import TripSource

if TYPE_CHECKING:
    from tripcloak.engines.spark import Cluster
    from tripcloak.flows.reading.matrix import Opened


def _largest_facts(largest: LargestParts | None) -> dict[str, Any]:
    """Return what JSON says of the largest parts; nothing where nobody is told apart."""
    return {} if largest is None else {"largest_parts": largest._asdict()}


def refuse_area_of_data(method: FlowMethod, zoning: Zoning) -> None:
    """Raise if a noisy method would take its study area from the data: one far trip would show in it.

    Examples
    --------
    >>> from tripcloak.flows.methods import METHODS
    >>> refuse_area_of_data(METHODS["laplace"](epsilon=1.0), Zoning(spec="quadtree:8"))
    Traceback (most recent call last):
    tripcloak.InputError: laplace needs a study area that does not follow from the data: give ...
    """
    if method.noisy and zoning.area is None and zoning.spec.strip().lower().startswith("quadtree"):
        raise InputError(
            f"{method.name} needs a study area that does not follow from the data: give "
            f"{spelt('area', 'SOUTH,WEST,NORTH,EAST')}, chosen without looking at the trips"
        )


Solver: TypeAlias = Callable[
    [FlowMethod, MatrixReading, tuple[KeyedRecords, ...], Progress], tuple[Release, tuple[str, ...]]
]
"""Is given the method, what was read and the records of every segment; returns the release, and notes."""


@dataclass(frozen=True, kw_only=True)
class ReleaseRequest:
    """What was asked for: the input, the zones and the method.

    With ``every_segment`` each segment, by these columns, must be safe in every released flow; or, with
    ``where_safe``, in those that it is told of.
    ``publish`` says which numbers of a flow are published, and how exactly, and ``round_to`` of what they are
    multiples.
    """

    source: TripSource
    method: FlowMethod
    zoning: Zoning = field(default_factory=Zoning)
    memory: Memory = None
    engine: str | None = None
    """Where flows are counted: ``arrays`` in memory, ``parts`` on disk or ``spark``; by the input's size."""
    master: str | None = None
    """Where Spark runs."""
    folder: Path | None = None
    stages: Path | None = field(default=None, compare=False, repr=False)
    """The folder of a run that may be taken up again."""
    every_segment: tuple[SegmentBy, ...] = ()
    where_safe: bool = False
    publish: Publish = "rounded"
    round_to: RoundTo | None = None
    tables: TablesWanted | None = None
    """Totals and other heights to publish beside the flows, if any."""
    title: str | None = None
    """What the owner calls the release; stands on its map and in its manifest."""
    names: bool = False
    """Whether zones get names, from the nearest place or from their members."""
    background: Path | None = None
    """Lines and polygons to draw behind the map: GeoJSON or PMTiles."""
    keyed: bytes | None = field(default=None, compare=False, repr=False)
    """The key by which records are known again in other releases; without one, they are not kept."""
    once_read: Callable[[MatrixReading], None] | None = field(default=None, compare=False, repr=False)
    """Called with what was read, before anything is made of it."""
    solved_by: Solver | None = field(default=None, compare=False, repr=False)
    """Makes the release in place of the method alone, and says what is to be known of it."""


@dataclass(frozen=True, kw_only=True)
class AnonymisationRequest(ReleaseRequest):
    """What was asked for, and the folder that the release goes to."""

    out: Path
    force: bool = False


@dataclass(frozen=True, kw_only=True, eq=False)
class MadeRelease:
    """A release that has passed its own audit, and is in memory alone; for the eyes of the data owner."""

    request: ReleaseRequest
    reading: MatrixReading
    release: Release
    measures: dict[str, Any]
    audit: Verdict
    notes: tuple[str, ...]
    seconds: dict[str, float]
    few: Few | None = None
    plain: tuple[str, ...] = ()
    largest: LargestParts | None = None
    part_records: tuple[KeyedRecords, ...] = ()
    """The records of every segment that is promised to be safe, where a key was given."""

    def __repr__(self) -> str:
        return f"<MadeRelease: {self.release!r}>"

    @property
    def matrix(self) -> ODMatrix:
        """Return the input's flows."""
        return self.reading.trips.matrix

    def to_publish(self) -> dict[str, Any]:
        """Return what the manifest says beside the release itself."""
        return {
            # Beside other releases of the same people, a number less another one would tell of few rows.
            "dropped": _dropped(self.reading.trips.cleaning) if self.request.keyed is None else {},
            "people": self.reading.trips.cleaning.people,
            "tilings": _tilings(self.reading),
            "segment": self.request.source.segment,
            "during": self.request.source.during,
            "title": self.request.title,
            "names": names_entry(released_box(self.release)) if self.request.names else None,
            "background": self.background,
            "largest": self.largest,
        }

    @cached_property
    def background(self) -> dict[str, Any] | None:
        """Return what is drawn behind the map, as far as the released zones reach; None where nothing is."""
        path, box = self.request.background, released_box(self.release)
        return None if path is None or box is None else read_background(path, box)

    def run(self) -> dict[str, Any]:
        """Return the private record of how the release was made."""
        told = {
            "notes": list(self.notes),
            "plain_words": list(self.plain),
            "measures": self.measures,
            "audit": self.audit.to_dict(),
        }
        told |= _largest_facts(self.largest) | self.release.promise.private_facts
        if self.request.round_to is not None and self.request.keyed is None:
            # With a ledger its key decides, which stays there.
            told |= {"secret": self.request.round_to.secret}
        return _private_record(self.request, self.reading) | told | {"seconds": self.seconds}


@dataclass(frozen=True, kw_only=True, eq=False)
class AnonymisationOutcome:
    """What came of a request; for the eyes of the data owner, not for publishing."""

    release: Release
    measures: dict[str, Any]
    audit: Verdict
    cleaning: CleaningReport
    notes: tuple[str, ...]
    seconds: dict[str, float]
    hierarchy: str
    out: Path
    zoning: Zoning = field(default_factory=Zoning)
    few: Few | None = None
    plain: tuple[str, ...] = ()
    largest: LargestParts | None = None

    def __repr__(self) -> str:
        return f"<AnonymisationOutcome: {self.release!r} in {self.out}>"

    def to_dict(self) -> dict[str, Any]:
        """Return the object that ``tripcloak anonymise --json`` prints."""
        release, promise = self.release, self.release.promise
        thresholds = dict(promise.thresholds)
        main = next(iter(thresholds), "travellers" if release.travellers is not None else "trips")
        bound = release.bound
        return {
            "method": release.method,
            "parameters": {
                **release.parameters,
                "k": release.k,
                "unit": ",".join(thresholds),
                "thresholds": thresholds,
                **({"diversity": dict(floors)} if (floors := promise.floors) else {}),
                **({"t": min(part.t for part in near)} if (near := promise.by_release) else {}),
                "suppress": None if promise.noisy else release.suppression_limit,
                "hierarchy": self.hierarchy,
                **self.zoning.clock(),
            },
            "groups": release.n_groups,
            "zones": dict(zip(("origins", "destinations", "times"), release.zone_numbers, strict=False)),
            "homogeneous": release.homogeneous,
            **promise.noise_facts(),
            "measures": self.measures,
            "metrics": self.measures,
            "audit": {
                "safe": self.audit.safe,
                "smallest_support": self.audit.smallest_support.get(main),
                "by_unit": dict(self.audit.smallest_support),
            },
            **few_facts(self.few),
            **_largest_facts(self.largest),
            "bound": None if bound is None else vars(bound),
            "seconds": self.seconds,
            "cleaning": self.cleaning.to_dict(),
            "notes": list(self.notes),
            "plain_words": list(self.plain),
            "out": str(self.out),
        }


def anonymise(
    request: AnonymisationRequest, progress: Progress = silent, within: Opened | None = None
) -> AnonymisationOutcome:
    """Return the outcome of a request; the release is on disk, whole, if and only if this returns.

    Reads, solves, checks the result with SQL of its own, measures, and writes aside before it puts
    the release in place. An unsafe result is never written. A run that is killed is taken up again by the
    next one of the same request on the same input.

    Parameters
    ----------
    within
        The request's source, where it is open already.
    """
    refuse_if_taken(request.out, force=request.force)
    refuse_impossible(request)
    before = seen_input(request.source)
    key = reading_key(request.source, request.zoning, request.method.promise, before)
    with work_folder(request.out, key) as folder:
        made = make_release(replace(request, folder=folder, stages=folder), progress, within)
        refuse_changed(before, request.source)
        return write_release(made, request.out, force=request.force, progress=progress)


def refuse_impossible(request: ReleaseRequest) -> None:
    """Raise, before anything is read, where a request asks for what its method cannot do."""
    request.method.check_request()
    refuse_area_of_data(request.method, request.zoning)
    if request.tables is not None:
        request.tables.check_method(
            request.method.name, noisy=request.method.noisy, draws_zones=request.method.draws_zones
        )
    if request.zoning.time_slot is not None:
        request.method.require_time()


def make_release(
    request: ReleaseRequest, progress: Progress = silent, within: Opened | None = None
) -> MadeRelease:
    """Return a release that has passed its own audit; nothing is written, and an unsafe one never returned.

    Parameters
    ----------
    within
        The request's source, where it is open already.
    """
    refuse_impossible(request)
    request = replace(request, source=_source_for(request.method, request.source))
    if request.engine != ON_CLUSTER:
        return _by_segment(request, progress, within, None)
    from tripcloak.engines.spark import spark_cluster

    # One for the whole run: flows that were counted there are worked on there.
    with spark_cluster(request.master, request.folder) as cluster:
        made = _by_segment(request, progress, within, cluster)
    alone = replace(made.matrix, parts=None, points=None if made.matrix.points is None else _left_there)
    return replace(made, reading=replace(made.reading, trips=replace(made.reading.trips, matrix=alone)))


def _left_there() -> Iterator[TripEnds]:
    """Raise: what stayed on a cluster has gone with the run."""
    raise InputError(
        "where trips began and ended was read from the cluster while the release was made, and is not kept; "
        f"read the input again, without {spelt('engine', 'spark')}"
    )


def _by_segment(
    request: ReleaseRequest, progress: Progress, within: Opened | None, cluster: Cluster | None
) -> MadeRelease:
    """Return a release, of which every segment is safe where that is asked for."""
    if not request.every_segment:
        return _made(request, progress, within, (), cluster)
    request.method.require_segments()
    if request.zoning.apart:
        raise InputError(
            f"segments in one release do not go together with slots kept apart ({spelt('slot')}); leave out "
            f"one of them, or make time an axis ({spelt('time_slot')})"
        )
    with opened_by_segment(
        request.source, request.every_segment, people=False, memory=request.memory, folder=request.folder
    ) as (
        shared,
        segments,
    ):
        return _made(request, progress, shared, segments, cluster)


def write_release(
    made: MadeRelease, out: Path, *, force: bool = False, progress: Progress = silent
) -> AnonymisationOutcome:
    """Return the outcome of a release that was made, after writing it to a folder, whole or not at all."""
    progress("writing the release", 0, None)
    started = time.perf_counter()
    made = replace(made, notes=(*made.notes, *note_on_leftovers(out)))
    zones = made.reading.zoning.zones
    publish(
        out,
        made.matrix,
        made.release,
        run=made.run(),
        **made.to_publish(),
        zones=zones if isinstance(zones, ZoneFile) else None,
        kept=made.reading.zoning.kept,
        force=force,
    )
    return AnonymisationOutcome(
        release=made.release,
        measures=made.measures,
        audit=made.audit,
        cleaning=made.reading.trips.cleaning,
        notes=made.notes,
        few=made.few,
        plain=made.plain,
        largest=made.largest,
        seconds={**made.seconds, "write": time.perf_counter() - started},
        hierarchy=made.reading.tiling.name,
        out=out,
        zoning=made.reading.zoning,
    )


def _made(
    request: ReleaseRequest,
    progress: Progress,
    within: Opened | None,
    segments: Sequence[Segment],
    cluster: Cluster | None,
) -> MadeRelease:
    reading = _read(request, progress, within, segments, cluster)
    if request.once_read is not None:
        request.once_read(reading)
    matrix = reading.trips.matrix
    if not request.method.noisy:
        refuse_hollow(matrix, request.method.promise)
    started = time.perf_counter()
    method = request.method
    part_records: list[KeyedRecords] = []
    if within is not None and segments:
        parts, part_records = _parts(request, reading, within, segments, progress)
        method = _for_every_segment(request, reading, parts, tuple(segments[0].values))
    _refuse_columns(method, matrix, request)
    solve = request.solved_by or _alone
    release, told = solve(method, reading, tuple(part_records), progress)
    release = _as_asked(request, matrix, release)
    solved = time.perf_counter()
    progress("auditing", 0, None)
    audit = passed(audit_matrix(matrix, release, memory=request.memory))
    progress("measuring", 0, None)
    measures = measure(matrix, release)
    checked = time.perf_counter()
    few = groups_of_few(matrix, release)
    return MadeRelease(
        request=request,
        reading=reading,
        release=release,
        measures=measures,
        audit=audit,
        notes=(
            *reading.trips.notes,
            *([few.note()] if few is not None and few.groups else []),
            *notes_on(method, reading, release),
            *told,
        ),
        seconds={"read": reading.seconds, "solve": solved - started, "check": checked - solved},
        few=few,
        plain=plain_words(matrix, release, measures),
        largest=largest_parts(matrix, release),
        part_records=tuple(part_records),
    )


def _read(
    request: ReleaseRequest,
    progress: Progress,
    within: Opened | None,
    segments: Sequence[Segment],
    cluster: Cluster | None,
) -> MatrixReading:
    """Return the whole input of a request, read once."""
    return read_matrix(
        request.source,
        request.zoning,
        promise=request.method.promise,
        repeats=True,
        weights="population" in request.method.promise.parts_of,
        keyed=request.keyed,
        memory=request.memory,
        folder=request.folder,
        engine=request.engine,
        master=request.master,
        cluster=cluster,
        stages=request.stages,
        within=within,
        segments=segments,
        progress=progress,
    )


def _as_asked(request: ReleaseRequest, matrix: ODMatrix, release: Release) -> Release:
    """Return a release with the numbers that should be published, rounded and in tables where asked."""
    release = replace(release, publish=request.publish)
    if request.round_to is not None and release.rounded is None:
        release = rounded_release(release, request.round_to)
    if request.tables is not None and release.tables is None:
        release = replace(release, tables=lay_tables(matrix, release, request.tables))
    return release


def _alone(
    method: FlowMethod, reading: MatrixReading, _: tuple[KeyedRecords, ...], progress: Progress
) -> tuple[Release, tuple[str, ...]]:
    """Return what the method makes of the input by itself."""
    return method.anonymise(reading.trips.matrix, progress), ()


def _refuse_columns(method: FlowMethod, matrix: ODMatrix, request: ReleaseRequest) -> None:
    """Raise, before any work, if the numbers that should be published are not covered by what is promised."""
    publish, to = request.publish, request.round_to
    if not method.noisy:
        told = refuse_numbers(method.promise.resolve(matrix), publish, to)
        if request.tables is not None:
            request.tables.check(method.promise.resolve(matrix), told)
    elif to is not None or publish not in ("rounded", "trips"):
        other = spelt("publish", publish) if to is None else spelt("round", to.base)
        raise InputError(f"{method.name} publishes noisy trips alone; leave out {other}")


def _parts(
    request: ReleaseRequest,
    reading: MatrixReading,
    within: Opened,
    segments: Sequence[Segment],
    progress: Progress,
) -> tuple[tuple[SegmentPart, ...], list[KeyedRecords]]:
    """Return every segment as a part of the whole matrix, and the records of each where there is a key."""
    if counted := reading.trips.segments:
        named = zip(segments, counted, strict=True)
        return tuple(SegmentPart.of(one.name, matrix, reading.trips.matrix) for one, matrix in named), []
    parts, records = [], []
    for segment in segments:
        part = read_matrix(
            replace(request.source, segment=segment.values),
            reading.zoning,
            keyed=request.keyed,
            memory=request.memory,
            folder=request.folder,
            engine=request.engine,
            master=request.master,
            within=within,
            progress=progress,
        ).trips
        parts.append(SegmentPart.of(segment.name, part.matrix, reading.trips.matrix))
        records += [] if part.records is None else [part.records]
    return tuple(parts), records


def _for_every_segment(
    request: ReleaseRequest, reading: MatrixReading, parts: tuple[SegmentPart, ...], by: tuple[str, ...]
) -> FlowMethod:
    """Return the method with a promise that asks for every segment of the input to be safe, or where told.

    Where some segment is too small to be safe even taken whole, an error names it.
    """
    matrix = reading.trips.matrix
    kind = SegmentsWhereSafe if request.where_safe else EverySegment
    promise = kind(
        promise=request.method.promise,
        parts=parts,
        by=by,
        people_in_several=_people(matrix) < sum(_people(part.matrix) for part in parts),
    )
    asked = request.method.promise.resolve(matrix).of_people
    small = [part.name for part in parts if not all_in_one(part.matrix, asked)]
    if small:
        raise ImpossibleRequestError(
            f"not possible: taken whole, these segments do not hold {asked.sentence()}: {', '.join(small)}. "
            f"Part the input less finely ({spelt('segment')}), leave these out ({spelt('where')}), or ask "
            "for less"
        )
    return replace(request.method, promise=promise)


def _people(matrix: ODMatrix) -> int:
    """Return how many different people there are; 0 where nobody is told apart."""
    travellers = matrix.flows.travellers
    return 0 if travellers is None else len(np.unique(travellers.people))


def _source_for(method: FlowMethod, source: TripSource) -> TripSource:
    """Return the source with the usual silence where noise must hide everybody: none is found from data."""
    if not method.noisy or source.silence is not None:
        return source
    return replace(source, silence=SILENCES[0])


def _private_record(request: ReleaseRequest, reading: MatrixReading) -> dict[str, Any]:
    """Return what stays inside: enough to replay the reading."""
    return {
        "source": reading.trips.canonical.settled(request.source).to_dict(),
        "input_files": input_digests(request.source.paths, request.source.preset),
        "tiling": reading.zoning.to_dict(),
        "columns": dict(reading.trips.canonical.columns),
        "cleaning": reading.trips.cleaning.to_dict(),
    }


def _tilings(reading: MatrixReading) -> dict[str, Any]:
    """Return how the zones were made, for everybody: the text, a quadtree's study area, the slots of time."""
    return reading.zoning.told(reading.tiling, reading.trips.canonical.timezone)


def _dropped(cleaning: CleaningReport) -> dict[str, int]:
    """Return the rows dropped by reason, those of GPS fixes under names of their own.

    Whose fixes were dropped is not counted, so that their numbers are never told.
    """
    before = {} if cleaning.before is None else cleaning.before.dropped
    return {**{f"fixes: {name}": n for name, n in before.items()}, **cleaning.dropped}
