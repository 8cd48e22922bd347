"""The disclosures of a release: one that was just made, or a folder whose input is read again."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tripcloak.flows.anonymise import MadeRelease
from tripcloak.flows.checking import how_it_was_read
from tripcloak.flows.few import expected_people
from tripcloak.flows.model import Groups, KeyedRecords, ODMatrix, SegmentPart
from tripcloak.flows.reading.matrix import MatrixReading, Zoning, opened, opened_by_segment, read_matrix
from tripcloak.flows.release import Publication, Publish, Release, published_as, segments_told
from tripcloak.flows.release.reading import read_release
from tripcloak.flows.release.totals import brick_names
from tripcloak.flows.release.withheld import withheld_entry
from tripcloak.ground.arrays import Bools, Ints, to_read
from tripcloak.ground.errors import InputError, InternalError
from tripcloak.ground.manifest import read_manifest, read_run, release_folder
from tripcloak.ground.memory import Memory
from tripcloak.ground.progress import Progress, silent
from tripcloak.ledger.disclosure import WITHHELD, Counted, Disclosure, Rounded, Whole, with_totals
from tripcloak.promises import Promise, Unit
from tripcloak.records.files.fingerprints import same_input
from tripcloak.records.files.frames import Input
from tripcloak.records.segments import SegmentBy
from tripcloak.records.source import TripSource

EVERY_TIME = "any time"
"""Stands for the time of a number that is of all times together."""


def disclosed(made: MadeRelease, name: str) -> tuple[Disclosure, ...]:
    """Return what a release tells that was made of records read with a key.

    That is one disclosure of the released flows, and one of every segment that they are told by. Tables
    beside the flows are sums over bricks, and each brick is a difference of their cells: so they tell what
    the bricks tell, which stand beside the flows. Noisy numbers tell nothing exactly: of a differentially
    private release there is none.

    Parameters
    ----------
    name
        What the release is called in words.
    """
    told = disclosed_by(name, made.reading, made.release, made.part_records)
    return _with_whole(told, made.matrix, made.release)


def disclosed_by(
    name: str, reading: MatrixReading, release: Release, part_records: Sequence[KeyedRecords]
) -> tuple[Disclosure, ...]:
    """Return what a release of some input would tell.

    Parameters
    ----------
    part_records
        The records of every segment that it tells apart.
    """
    records = _known(reading.trips.records)
    if release.promise.noisy:
        return ()
    told = _Told(name, reading.trips.matrix, release, release.publication)
    parts = list(zip(release.promise.segments, part_records, strict=True))
    return (*told.of_flows(records), *told.of_segments(parts))


def _with_whole(told: tuple[Disclosure, ...], matrix: ODMatrix, release: Release) -> tuple[Disclosure, ...]:
    """Return what a finished release tells, with what its limit tells of the whole input."""
    released = int(release.trips.sum())
    if not told or release.volume != "trips":
        return told
    withheld = withheld_entry(matrix, release, released)
    if withheld["at_most"] is None:
        return told
    # Tables count some of what is withheld.
    least = max(released + withheld["at_least"], int(told[0].trips.sum()))
    whole = Whole(least, released + withheld["at_most"], int(matrix.flows.trips.sum()))
    return (replace(told[0], whole=whole), *told[1:])


def read_again(
    folder: Path,
    key: bytes,
    *,
    inputs: Sequence[Input] = (),
    name: str | None = None,
    memory: Memory = None,
    progress: Progress = silent,
) -> tuple[Disclosure, ...]:
    """Return what a release folder tells, by reading its input again as its private record says.

    Parameters
    ----------
    key
        The key by which records are known: the same for all releases that are looked at together.
    inputs
        Where the input lies now; where it lay when the release was made, if not given.
    name
        What the release is called in words; the folder's name by default.

    Raises
    ------
    InputError
        The private part is missing or was changed, or the input is gone or another one.
    """
    whole = release_folder(folder)
    if Promise.from_manifest(read_manifest(whole, "flows").get("promise")).noisy:
        return ()
    again = read_release_again(whole, key, inputs=inputs, memory=memory, progress=progress)
    return again.disclosures(name or whole.resolve().name)


class ReadRequest(NamedTuple):
    """What was asked for, as far as a private record says it."""

    source: TripSource


@dataclass(frozen=True, kw_only=True, eq=False)
class ReadAgain:
    """A release folder with its input, which was read again with a key."""

    request: ReadRequest
    reading: MatrixReading
    release: Release
    parts: tuple[tuple[SegmentPart, KeyedRecords], ...]

    def __repr__(self) -> str:
        return f"<ReadAgain: {self.release!r}>"

    def disclosures(self, name: str) -> tuple[Disclosure, ...]:
        """Return what the release tells; nothing exactly, where its numbers are noisy."""
        if self.release.promise.noisy:
            return ()
        matrix = self.reading.trips.matrix
        told = _Told(name, matrix, self.release, self.release.publication)
        flows = _with_whole(told.of_flows(_known(self.reading.trips.records)), matrix, self.release)
        return (*flows, *told.of_segments(self.parts))


def read_release_again(
    folder: Path,
    key: bytes,
    *,
    inputs: Sequence[Input] = (),
    memory: Memory = None,
    progress: Progress = silent,
) -> ReadAgain:
    """Return a release and its input, read again; parameters and errors are those of :func:`read_again`."""
    whole = release_folder(folder)
    facts, run = read_manifest(whole, "flows"), read_run(whole)
    promise = Promise.from_manifest(facts.get("promise"))
    paths = tuple(inputs) or _recorded_inputs(whole, run)
    source, zoning = how_it_was_read(whole, paths)
    _refuse_another(whole, run, paths, source.preset)
    by = [SegmentBy.parse(text) for text in promise.segmented_by]
    options = {"keyed": key, "memory": memory, "progress": progress}
    reading, parts = _read(source, zoning, by, options)
    release = read_release(whole, reading.trips.matrix)
    publish: Publish = "rounded" if promise.noisy else _publish(whole, facts, promise)
    return ReadAgain(
        request=ReadRequest(source),
        reading=reading,
        release=replace(release, promise=promise, publish=publish),
        parts=tuple(parts),
    )


@dataclass(frozen=True)
class _Told:
    """A release with the numbers that are published of it."""

    name: str
    matrix: ODMatrix
    release: Release
    publication: Publication

    def of_flows(self, records: KeyedRecords) -> tuple[Disclosure, ...]:
        """Return what the released flows tell, and their totals where those tell more."""
        travellers = self.release.travellers if "travellers" in self.publication.columns else None
        told = self._of(self.name, records, travellers)
        rounding = self.release.promise.rounding
        if rounding is None:
            return (told if self.release.tables is None else self._with_tables(told, records),)
        heads = [k for unit, k in self.release.promise.thresholds.items() if unit != "population"]
        rounded = Rounded(rounding.base, int(max(heads)), rounding.sums)
        name = f"{self.name}, multiples of {rounding.base:,}"
        trips = self.release.published("trips")
        return with_totals(replace(told, name=name, trips=trips, rounded=rounded))

    def _with_tables(self, flows: Disclosure, records: KeyedRecords) -> Disclosure:
        """Return what flows and the tables beside them tell, brick by brick."""
        tables = self.release.tables
        assert tables is not None
        more = len(tables.laid_at)
        least_most = flows.travellers
        if least_most is not None:
            # Of withheld flows no travellers are told.
            unknown = np.stack([np.zeros(more, dtype=np.int64), tables.trips[flows.n_groups :]])
            least_most = np.concatenate([least_most, unknown], axis=1)
        names = brick_names(self.matrix, tables)
        return replace(
            flows,
            group=tables.brick_of_flow[records.flow].astype(np.int32),
            trips=np.concatenate([flows.trips, tables.trips[flows.n_groups :]]),
            travellers=least_most,
            zones={
                axis: np.concatenate([zones, names.get(axis, np.full(more, EVERY_TIME))])
                for axis, zones in flows.zones.items()
            },
        )

    def of_segments(self, parts: Sequence[tuple[SegmentPart, KeyedRecords]]) -> list[Disclosure]:
        """Return what they tell of every segment, given the records of each."""
        where = segments_told(self.release, [part for part, _ in parts])
        return [self._of_segment(*one, told) for one, told in zip(parts, where, strict=True)]

    def _of_segment(self, part: SegmentPart, records: KeyedRecords, where: Bools) -> Disclosure:
        members = self.release.group_of_flow[part.row]
        groups = Groups(part.matrix, members, self.release.group_origin, self.release.group_destination)
        told = "travellers" in self.publication.by_segment
        travellers = groups.support("travellers") if told else None
        return self._of(f"{self.name}, {part.name}", records.in_whole(part.row), travellers, where)

    def _of(
        self, name: str, records: KeyedRecords, travellers: Ints | None, where: Bools | None = None
    ) -> Disclosure:
        from tripcloak.ledger._kernels.groups import trips_in_groups

        counted, k = _threshold(self.release.promise, self.matrix)
        of_flow = self.release.group_of_flow
        if where is not None:
            of_flow = np.where((of_flow >= 0) & where[of_flow], of_flow, WITHHELD)
        group = of_flow[records.flow].astype(np.int32, copy=False)
        each = np.empty(0, np.int64) if records.weight is None else records.weight
        trips = trips_in_groups(to_read(group), to_read(each), self.release.n_groups)
        return Disclosure(
            name=name,
            record=records.record,
            person=records.person if counted == "travellers" else records.record,
            group=group,
            weight=records.weight,
            trips=trips,
            travellers=None if travellers is None else self._bounds(travellers, trips),
            k=k,
            counted=counted,
            tells_trips=counted == "trips" or self._adds_up(records),
            zones={axis: zones.ids[column] for axis, zones, column in self.release.axes},
        )

    def _adds_up(self, records: KeyedRecords) -> bool:
        """Return whether what is told adds up as trips do: people alone only where nobody comes twice."""
        if {"trips", "population"} & set(self.publication.columns):
            return True
        return records.weight is None and len(np.unique(records.person)) == len(records)

    def _bounds(self, travellers: Ints, trips: Ints) -> Ints:
        """Return the least and the greatest number of travellers that what is published leaves possible."""
        least = self.publication.rounded("travellers", travellers)
        most = least + self.publication.steps.get("travellers", 1) - 1
        return np.stack([least, np.minimum(most, trips)])


def _threshold(promise: Promise, matrix: ODMatrix) -> tuple[Counted, int]:
    """Return what is counted, and how many of it every group holds at least.

    Of a population it is as many average people as make it up.
    """
    thresholds = promise.thresholds
    units: tuple[Unit, ...] = ("travellers", "trips")
    unit = next((unit for unit in units if unit in thresholds), None)
    k = expected_people(matrix, thresholds) if unit is None else math.ceil(thresholds[unit])
    unit = unit or ("travellers" if "travellers" in matrix.units else "trips")
    # Where every trip is another person, nobody is told apart, and trips are the people.
    return ("travellers" if unit == "travellers" and matrix.flows.travellers is not None else "trips"), k


def _read(
    source: TripSource, zoning: Zoning, by: Sequence[SegmentBy], options: dict[str, Any]
) -> tuple[MatrixReading, list[tuple[SegmentPart, KeyedRecords]]]:
    """Return an input, and every segment of it with its records."""
    if not by:
        with opened(source, memory=options["memory"]) as within:
            return read_matrix(source, zoning, within=within, **options), []
    parts = []
    with opened_by_segment(source, by, memory=options["memory"]) as (within, segments):
        reading = read_matrix(source, zoning, within=within, **options)
        for one in segments:
            narrowed = replace(source, segment=one.values)
            part = read_matrix(narrowed, zoning, within=within, **options).trips
            of_whole = SegmentPart.of(one.name, part.matrix, reading.trips.matrix)
            parts.append((of_whole, _known(part.records)))
    return reading, parts


def _known(records: KeyedRecords | None) -> KeyedRecords:
    if records is None:
        raise InternalError("records were read without a key")
    return records


def _recorded_inputs(folder: Path, run: Mapping[str, Any]) -> tuple[Input, ...]:
    """Return where the input of a release lay, or raise where it was a table in memory."""
    try:
        paths = run["source"]["paths"]
        if run["input_files"] is not None and all(isinstance(path, str) for path in paths):
            return tuple(paths)
    except (KeyError, TypeError):
        raise InputError(f"{folder}/private/run.json does not say how the input was read") from None
    raise InputError(f"{folder} was made of a table in memory: give that table, or a file of the same rows")


def _refuse_another(
    folder: Path, run: Mapping[str, Any], inputs: Sequence[Input], preset: str | None
) -> None:
    """Raise where the input is gone, or not the one that the release was made of."""
    try:
        same = same_input(run.get("input_files"), inputs, preset)
    except InputError as error:
        raise InputError(
            f"the input of {folder} is not where it was read from: {error}. Work in the same folder as then, "
            "or say where it is now"
        ) from None
    if same is False:
        raise InputError(
            f"{folder} was made from another input than this one, or the input was changed since; give the "
            "very files it was made from"
        )


def _publish(folder: Path, facts: Mapping[str, Any], promise: Promise) -> Publish:
    try:
        return published_as(facts, promise)
    except (KeyError, TypeError, ValueError):
        raise InputError(f"{folder} was changed since it was made: its manifest does not fit") from None
