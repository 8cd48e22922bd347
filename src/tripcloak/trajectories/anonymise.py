"""From raw fixes to an audited release of trajectories."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tripcloak.ground.folders import PRIVATE, note_on_leftovers, refuse_if_taken, staged
from tripcloak.ground.memory import Memory
from tripcloak.ground.progress import Progress, silent
from tripcloak.ground.rulebook import Verdict, passed
from tripcloak.trajectories.audit import audit_release
from tripcloak.trajectories.measures import TrajectoryMeasures, take_measures
from tripcloak.trajectories.methods.method import TrajectoryMethod
from tripcloak.trajectories.model import Trajectories
from tripcloak.trajectories.reading import ReadTrajectories, TrajectorySource, read_trajectories
from tripcloak.trajectories.release.release import TrajectoryRelease
from tripcloak.trajectories.release.writing import MOST, check_formats, write_trajectory_release
from tripcloak.trajectories.report.figures import trajectory_figures_page
from tripcloak.trajectories.report.map import trajectory_pages

COLOCATION = (
    "{method} promises (k, delta)-anonymity alone: at every moment k - 1 other released trajectories are "
    "within delta. Whoever knows original samples may still find their person; k-scale and glove hide "
    "people from them too"
)
UNLIKE = (
    "the k trajectories that fit a person are not equally likely; --constraint full makes them identical "
    "(`tripcloak trajectories attack --kind owner` says how often simple guesses are right)"
)


@dataclass(frozen=True, kw_only=True)
class TrajectoryRequest:
    """What was asked for: the input, the method, and where the release goes."""

    source: TrajectorySource
    method: TrajectoryMethod
    out: Path
    memory: Memory = None
    force: bool = False
    formats: tuple[str, ...] | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class TrajectoryOutcome:
    """What came of a request; for the eyes of the data owner, not for publishing."""

    trajectories: Trajectories
    release: TrajectoryRelease
    reading: ReadTrajectories
    measures: dict[str, Any]
    audit: Verdict
    notes: tuple[str, ...]
    seconds: dict[str, float]
    out: Path

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
            "seconds": self.seconds,
            "notes": list(self.notes),
            "out": str(self.out),
        }


def anonymise_trajectories(request: TrajectoryRequest, progress: Progress = silent) -> TrajectoryOutcome:
    """Return the outcome of a request; the release is on disk, whole, if and only if this returns.

    Reads, solves, checks the result with code of its own, measures, and writes aside before it puts
    the release in place. An unsafe result is never written.
    """
    refuse_if_taken(request.out, force=request.force)
    check_formats(request.formats)
    started = time.perf_counter()
    reading = read_trajectories(request.source, memory=request.memory, progress=progress)
    trajectories = reading.trajectories
    read = time.perf_counter()
    release = request.method.anonymise(trajectories, progress)
    solved = time.perf_counter()
    progress("auditing", 0, None)
    audit = passed(audit_release(trajectories, release))
    progress("measuring", 0, None)
    measures = take_measures(trajectories, release, timezone=local_clock(request.source))
    measured = time.perf_counter()
    outcome = TrajectoryOutcome(
        trajectories=trajectories,
        release=release,
        reading=reading,
        measures=measures.to_dict(),
        audit=audit,
        notes=(*reading.notes, *promise_notes(release), *_notes_on_writing(request, release)),
        seconds={"read": read - started, "solve": solved - read, "check": measured - solved},
        out=request.out,
    )
    progress("writing the release", 0, None)
    _write(request, outcome, measures)
    return replace(outcome, seconds={**outcome.seconds, "write": time.perf_counter() - measured})


def _write(request: TrajectoryRequest, outcome: TrajectoryOutcome, measures: TrajectoryMeasures) -> None:
    """Write the public and the private part, whole or not at all."""
    reading, release = outcome.reading, outcome.release
    run = {
        "source": reading.source.to_dict(),
        "cleaning": reading.cleaning.to_dict(),
        "reading": dict(reading.facts),
        "measures": outcome.measures,
        "audit": outcome.audit.to_dict(),
        "notes": list(outcome.notes),
        "seconds": outcome.seconds,
    }
    with staged(request.out, force=request.force) as staging:
        figures = trajectory_figures_page(measures, release)
        (staging / PRIVATE / "figures.html").write_text(figures, encoding="utf-8")
        write_trajectory_release(
            staging, reading.trajectories, release, run=run, pages=trajectory_pages, formats=request.formats
        )


def _notes_on_writing(request: TrajectoryRequest, release: TrajectoryRelease) -> tuple[str, ...]:
    """Return what to know of files that are not written, and of what stands there already."""
    left = note_on_leftovers(request.out)
    if request.formats is not None or release.n_boxes <= MOST:
        return left
    return (
        f"GeoJSON and MF-JSON of more than {MOST:,} samples would be large and were left out; ask for them "
        "with --formats geojson,mfjson",
        *left,
    )


def local_clock(source: TrajectorySource) -> str | None:
    """Return the zone that says what night is; where none was named, longitudes do."""
    return None if source.timezone == "UTC" else source.timezone


def promise_notes(release: TrajectoryRelease) -> tuple[str, ...]:
    """Return what must be said of a promise that is weaker than it looks."""
    if release.promise.moves_samples:
        return (COLOCATION.format(method=release.method),)
    return () if release.parameters.get("constraint") in {None, "full"} else (UNLIKE,)
