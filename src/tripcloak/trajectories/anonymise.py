"""From raw fixes to an audited release of trajectories."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tripcloak.engines.choice import ON_CLUSTER
from tripcloak.ground.errors import InputError
from tripcloak.ground.folders import PRIVATE, note_on_leftovers, refuse_if_taken, staged
from tripcloak.ground.memory import Memory
from tripcloak.ground.progress import Progress, silent
from tripcloak.ground.rulebook import Verdict, passed
from tripcloak.ground.spelling import spelt
from tripcloak.records.files.fingerprints import input_digests
from tripcloak.trajectories.attacks.beside import guess_beside
from tripcloak.trajectories.attacks.owner import guess_owner
from tripcloak.trajectories.audit import audit_release
from tripcloak.trajectories.measures import TrajectoryMeasures, take_measures
from tripcloak.trajectories.methods.method import TrajectoryMethod
from tripcloak.trajectories.model import Trajectories
from tripcloak.trajectories.reading import ReadTrajectories, TrajectorySource, read_trajectories
from tripcloak.trajectories.release.guess import BesideGuess, OwnerGuess
from tripcloak.trajectories.release.presenting import OnMap
from tripcloak.trajectories.release.release import TrajectoryRelease
from tripcloak.trajectories.release.writing import (
    MOST,
    MOST_AS_TEXT,
    TEXT,
    NamedRelease,
    check_formats,
    chosen_files,
    name_release,
    write_trajectory_release,
)
from tripcloak.trajectories.report.figures import trajectory_figures_page
from tripcloak.trajectories.report.map import trajectory_pages
from tripcloak.trajectories.report.plain import plain_words

if TYPE_CHECKING:
    from tripcloak.engines.spark import Cluster


@dataclass(frozen=True, kw_only=True)
class TrajectoryReleaseRequest:
    """What was asked for: the input, the method, and which exchange formats to write."""

    source: TrajectorySource
    method: TrajectoryMethod
    memory: Memory = None
    formats: tuple[str, ...] | None = None
    title: str | None = None
    """What the owner calls the release; stands on its map and in its manifest."""
    names: bool = False
    """Whether towns are labelled on the map."""
    background: Path | None = None
    """Lines and polygons to draw behind the map: GeoJSON or PMTiles."""
    engine: str | None = None
    """Who compares, merges and audits: one machine, or ``spark``; the release is the same."""
    master: str | None = None
    """Where Spark runs, if nothing else says it."""
    once_read: Callable[[ReadTrajectories], None] | None = field(default=None, compare=False, repr=False)
    """Called with what was read, before anything is made of it."""


@dataclass(frozen=True, kw_only=True)
class TrajectoryRequest(TrajectoryReleaseRequest):
    """What was asked for, and the folder that the release goes to."""

    out: Path
    force: bool = False


@dataclass(frozen=True, kw_only=True, eq=False)
class MadeTrajectories:
    """A release that has passed its own audit, and is in memory alone; for the eyes of the data owner.

    Its pseudonyms are drawn once: the tables in memory and every folder written of them name people alike.
    """

    request: TrajectoryReleaseRequest
    reading: ReadTrajectories
    release: TrajectoryRelease
    measures: TrajectoryMeasures
    audit: Verdict
    guess: OwnerGuess | None
    beside: BesideGuess | None
    notes: tuple[str, ...]
    plain: tuple[str, ...]
    seconds: dict[str, float]

    def __repr__(self) -> str:
        return f"<MadeTrajectories: {self.release!r}>"

    @cached_property
    def named(self) -> NamedRelease:
        """Return what is published, under pseudonyms, with its manifest."""
        asked = self.request
        on_map = OnMap(title=asked.title, names=asked.names, background=asked.background)
        return name_release(self.release, asked.formats, guess=self.guess, beside=self.beside, on_map=on_map)

    def run(self) -> dict[str, Any]:
        """Return the private record of how the release was made."""
        return {
            "source": self.reading.source.to_dict(),
            "input_files": input_digests(self.request.source.paths, self.request.source.preset),
            "columns": dict(self.reading.columns),
            "cleaning": self.reading.cleaning.to_dict(),
            "reading": dict(self.reading.facts),
            "measures": self.measures.to_dict(),
            "audit": self.audit.to_dict(),
            "guess": _told(self.guess),
            **_told_beside(self.beside),
            "notes": list(self.notes),
            "plain_words": list(self.plain),
            "seconds": self.seconds,
        }


@dataclass(frozen=True, kw_only=True, eq=False)
class TrajectoryOutcome:
    """What came of a request; for the eyes of the data owner, not for publishing."""

    trajectories: Trajectories
    release: TrajectoryRelease
    reading: ReadTrajectories
    measures: dict[str, Any]
    audit: Verdict
    guess: OwnerGuess | None
    beside: BesideGuess | None
    notes: tuple[str, ...]
    plain: tuple[str, ...]
    seconds: dict[str, float]
    out: Path

    def __repr__(self) -> str:
        return f"<TrajectoryOutcome: {self.release!r} in {self.out}>"

    def to_dict(self) -> dict[str, Any]:
        """Return the object that ``tripcloak trajectories anonymise --json`` prints."""
        release, grid = self.release, self.release.grid
        return {
            "method": release.method,
            "parameters": dict(release.parameters),
            "k": release.promise.k,
            "promise": release.promise.to_manifest(),
            "users": self.trajectories.n_users,
            "samples": self.trajectories.n_samples,
            "released": {"trajectories": release.n_released, "samples": release.n_boxes},
            "cleaning": self.reading.cleaning.to_dict(),
            "grid": vars(grid),
            "measures": self.measures,
            "metrics": self.measures,
            "facts": dict(release.facts),
            "audit": self.audit.to_dict(),
            "guess": _told(self.guess),
            **_told_beside(self.beside),
            "seconds": self.seconds,
            "notes": list(self.notes),
            "plain_words": list(self.plain),
            "out": str(self.out),
        }


def anonymise_trajectories(request: TrajectoryRequest, progress: Progress = silent) -> TrajectoryOutcome:
    """Return the outcome of a request; the release is on disk, whole, if and only if this returns.

    Reads, solves, checks the result with code of its own, measures, and writes aside before it puts
    the release in place. An unsafe result is never written.
    """
    refuse_if_taken(request.out, force=request.force)
    made = make_trajectories(request, progress)
    return write_trajectories(made, request.out, force=request.force, progress=progress)


def make_trajectories(request: TrajectoryReleaseRequest, progress: Progress = silent) -> MadeTrajectories:
    """Return a release that has passed its own audit; nothing is written, an unsafe one never returned."""
    check_formats(request.formats)
    _check_engine(request)
    started = time.perf_counter()
    reading = read_trajectories(
        request.source, k=request.method.hidden_among, memory=request.memory, progress=progress
    )
    if request.once_read is not None:
        request.once_read(reading)
    trajectories = reading.trajectories
    read = time.perf_counter()
    with _machines(request) as cluster:
        release = _solved(request, trajectories, cluster, progress)
        solved = time.perf_counter()
        progress("auditing", 0, None)
        audit = passed(audit_release(trajectories, release, machines=cluster))
    progress("guessing whose is whose", 0, None)
    guess = guess_owner(trajectories, release)
    beside = guess_beside(trajectories, release)
    progress("measuring", 0, None)
    measures = take_measures(trajectories, release, timezone=local_clock(request.source))
    measured = time.perf_counter()
    return MadeTrajectories(
        request=request,
        reading=reading,
        release=release,
        measures=measures,
        audit=audit,
        guess=guess,
        beside=beside,
        notes=(
            *reading.warnings,
            *reading.notes,
            *promise_notes(release),
            *_note_on_frame(request.source, release),
            *_note_on_formats(request, release),
        ),
        plain=plain_words(reading, release, measures.to_dict(), guess, beside),
        seconds={"read": read - started, "solve": solved - read, "check": measured - solved},
    )


def _check_engine(request: TrajectoryReleaseRequest) -> None:
    """Raise where a cluster is asked for that cannot help, or half asked for."""
    if request.engine not in (None, "arrays", ON_CLUSTER):
        raise InputError(
            f"there is no engine {request.engine!r} for trajectories; there are: arrays, {ON_CLUSTER} "
            f"({spelt('engine')})"
        )
    if request.engine == ON_CLUSTER:
        request.method.require_cluster()
    elif request.master is not None:
        raise InputError(f"{spelt('master')} is for {spelt('engine', ON_CLUSTER)}; give both or none")


@contextmanager
def _machines(request: TrajectoryReleaseRequest) -> Iterator[Cluster | None]:
    """Give the cluster that compares, merges and counts, where one was asked for."""
    if request.engine != ON_CLUSTER:
        yield None
        return
    from tripcloak.engines.spark import spark_cluster

    with spark_cluster(request.master) as cluster:
        yield cluster


def _solved(
    request: TrajectoryReleaseRequest,
    trajectories: Trajectories,
    cluster: Cluster | None,
    progress: Progress,
) -> TrajectoryRelease:
    """Return the release that the method makes, where it was asked to."""
    if cluster is None:
        return request.method.anonymise(trajectories, progress)
    try:
        return request.method.on_cluster(cluster).anonymise(trajectories, progress)
    finally:
        # What the method has left there is of no use to the audit.
        cluster.let_go()


def write_trajectories(
    made: MadeTrajectories, out: Path, *, force: bool = False, progress: Progress = silent
) -> TrajectoryOutcome:
    """Return the outcome of a release that was made, after writing it to a folder, whole or not at all."""
    progress("writing the release", 0, None)
    started = time.perf_counter()
    notes = (*made.notes, *note_on_leftovers(out))
    with staged(out, force=force) as staging:
        figures = trajectory_figures_page(made.measures, made.release)
        (staging / PRIVATE / "figures.html").write_text(figures, encoding="utf-8")
        write_trajectory_release(
            staging,
            made.reading.trajectories,
            made.release,
            run={**made.run(), "notes": list(notes)},
            pages=trajectory_pages,
            formats=made.request.formats,
            named=made.named,
        )
    return TrajectoryOutcome(
        trajectories=made.reading.trajectories,
        release=made.release,
        reading=made.reading,
        measures=made.measures.to_dict(),
        audit=made.audit,
        guess=made.guess,
        beside=made.beside,
        notes=notes,
        plain=made.plain,
        seconds={**made.seconds, "write": time.perf_counter() - started},
        out=out,
    )


def _told_beside(beside: BesideGuess | None) -> dict[str, Any]:
    return {} if beside is None else {beside.entry: _told(beside)}


def _told(guess: OwnerGuess | BesideGuess | None) -> dict[str, Any] | None:
    return None if guess is None else {**guess.to_manifest(), "sentence": guess.sentence()}


FRAME = {
    "since": "TIME",
    "until": "TIME",
    "box": "S,W,N,E",
    "seconds": "SECONDS",
    "metres": "METRES",
}
"""What says where, when and how finely a release is told, before anybody looks at the input."""


def _note_on_frame(source: TrajectorySource, release: TrajectoryRelease) -> tuple[str, ...]:
    """Return what noise does not hide unless it is asked for: the frame that is found from the input."""
    found = [spelt(name, like) for name, like in FRAME.items() if getattr(source, name) is None]
    if not (release.promise.noisy and found):
        return ()
    return (
        "which period and area the input covers, and how finely it is told, are seen from it without noise "
        f"and count as known; where they could tell of somebody, say them beforehand: {' '.join(found)}",
    )


def _note_on_formats(request: TrajectoryReleaseRequest, release: TrajectoryRelease) -> tuple[str, ...]:
    """Return what to know of files that are not written."""
    chosen = chosen_files(request.formats, release.n_boxes)
    kinds = {"CSV": ("csv", MOST_AS_TEXT), "GeoJSON and MF-JSON": ("geojson,mfjson", MOST)}
    if TEXT in chosen:
        del kinds["CSV"]
    if request.formats is not None or release.n_boxes <= MOST:
        del kinds["GeoJSON and MF-JSON"]
    return tuple(
        f"{name} of more than {most:,} samples would be large and left out; ask for it with "
        f"{spelt('formats', asked)}"
        for name, (asked, most) in kinds.items()
    )


def local_clock(source: TrajectorySource) -> str | None:
    """Return the zone that says what night is; where none was named, longitudes do."""
    return None if source.timezone in (None, "UTC") else source.timezone


def promise_notes(release: TrajectoryRelease) -> tuple[str, ...]:
    """Return what must be said of a promise that is weaker than it looks."""
    caution = release.promise.note()
    if caution is not None:
        return (f"{release.method} promises {caution}",)
    if release.parameters.get("constraint") in {None, "full"}:
        return ()
    return (
        "the k trajectories that fit a person are not equally likely; "
        f"{spelt('constraint', 'full')} makes them identical (`tripcloak trajectories attack --kind owner` "
        "says which guesses are right how often)",
    )
