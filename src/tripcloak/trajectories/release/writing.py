"""Writes a release of trajectories: the public files, and the private ones that stay inside."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tripcloak.ground.arrays import Ints
from tripcloak.ground.errors import InputError
from tripcloak.ground.folders import PRIVATE, PUBLIC
from tripcloak.ground.manifest import new_manifest, write_manifest, write_record
from tripcloak.pages.background import write_background
from tripcloak.promises import TrajectoryPromise
from tripcloak.trajectories.model import Trajectories
from tripcloak.trajectories.release.exchange import write_geojson, write_mfjson
from tripcloak.trajectories.release.guess import BesideGuess, OwnerGuess
from tripcloak.trajectories.release.presenting import OnMap
from tripcloak.trajectories.release.published import (
    PublishedTrajectories,
    new_rows,
    under_pseudonyms,
    write_samples,
)
from tripcloak.trajectories.release.release import TrajectoryRelease

if TYPE_CHECKING:
    import pyarrow as pa

Pages = Callable[[PublishedTrajectories], Mapping[str, str]]
"""Makes the pages for readers from what is published: name of a file to its text."""

EXCHANGE = {"geojson": write_geojson, "mfjson": write_mfjson}
TEXT = "samples.csv"
MOST, MOST_AS_TEXT = 200_000, 2_000_000
"""Samples up to which the exchange formats, and CSV, which take many times the room, are written unasked."""


class NamedRelease(NamedTuple):
    """A release under pseudonyms: what is published, and the old row of each trajectory and of each box."""

    published: PublishedTrajectories
    order: Ints
    boxes: Ints

    def __repr__(self) -> str:
        return f"<NamedRelease: {self.published!r}>"


def name_release(
    release: TrajectoryRelease,
    formats: Collection[str] | None = None,
    *,
    guess: OwnerGuess | None = None,
    beside: BesideGuess | None = None,
    on_map: OnMap | None = None,
) -> NamedRelease:
    """Return what is published of a release, under fresh pseudonyms, with its manifest.

    Parameters
    ----------
    formats
        Which of ``csv``, ``geojson`` and ``mfjson`` are written; see :func:`chosen_files`.
    guess
        How often a simple guess is right, which stands beside the promise.
    beside
        The same of pieces that are linked, or of dummies told apart, where there are such.
    on_map
        What its owner wants on the map beside the trajectories.
    """
    published, order, boxes = under_pseudonyms(release)
    facts = _manifest(release, published, chosen_files(formats, published.n_boxes), guess, beside)
    told, drawn = (on_map or OnMap()).of(published)
    return NamedRelease(replace(published, manifest=facts | told, background=drawn), order, boxes)


def write_trajectory_release(
    staging: Path,
    trajectories: Trajectories,
    release: TrajectoryRelease,
    *,
    run: Mapping[str, Any],
    pages: Pages,
    formats: Collection[str] | None = None,
    guess: OwnerGuess | None = None,
    beside: BesideGuess | None = None,
    named: NamedRelease | None = None,
) -> dict[str, Any]:
    """Write the public and the private files of a release into a staging folder, and return the manifest.

    Parameters
    ----------
    staging
        A folder that holds ``release/`` and ``private/``, both empty.
    trajectories
        The input that the release was made from.
    run
        What stays inside: source, cleaning, exact numbers, measures, durations.
    pages
        Makes ``README.md`` and ``map.html`` of what is published.
    formats
        Which of ``csv``, ``geojson`` and ``mfjson`` to write; see :func:`chosen_files`.
    guess, beside
        How often simple guesses are right, which stands beside the promise.
    named
        The release under its pseudonyms, where it has been given some already.
    """
    public, private = staging / PUBLIC, staging / PRIVATE
    named = named or name_release(release, formats, guess=guess, beside=beside)
    published, _, boxes = named
    write_tables(public, published, chosen_files(formats, published.n_boxes))
    if published.background is not None:
        write_background(public, published.background)
    for name, text in pages(published).items():
        (public / name).write_text(text, encoding="utf-8")
    facts = write_manifest(public, published.manifest)
    _write_private(private / "mapping.parquet", mapping_table(trajectories, release, named))
    if release.promise.moves_samples:
        _write_boxes(private, release, new_rows(boxes))
    record = {"input_digest": release.input_digest, "facts": dict(release.facts), **run}
    write_record(private, public, record)
    return facts


def write_tables(public: Path, published: PublishedTrajectories, chosen: Collection[str]) -> None:
    """Write ``samples.parquet``, and those of the files that may be left out which are chosen."""
    write_samples(public, published, text=TEXT in chosen)
    for name, write in EXCHANGE.items():
        if _file_of(name) in chosen:
            write(public / _file_of(name), published)


def check_formats(formats: Collection[str] | None) -> None:
    """Raise an InputError where a format is asked for that does not exist."""
    known = ("csv", *EXCHANGE)
    if unknown := sorted(set(formats or ()) - set(known)):
        raise InputError(f"no such format: {', '.join(unknown)}; there are {', '.join(known)}")


def chosen_files(formats: Collection[str] | None, samples: int) -> tuple[str, ...]:
    """Return the files beside ``samples.parquet`` that are written of so many samples.

    CSV up to 2,000,000 samples, beyond that where it is asked for; the exchange formats that are asked for,
    both up to 200,000 samples where nothing is.

    Examples
    --------
    >>> chosen_files(None, 1_000_000), chosen_files(("geojson",), 3_000_000)
    (('samples.csv',), ('trajectories.geojson',))
    """
    check_formats(formats)
    asked = formats if formats is not None else EXCHANGE if samples <= MOST else ()
    text = (TEXT,) if samples <= MOST_AS_TEXT or "csv" in asked else ()
    return (*text, *(_file_of(name) for name in EXCHANGE if name in asked))


def _file_of(name: str) -> str:
    return f"trajectories.{name}"


def _manifest(
    release: TrajectoryRelease,
    published: PublishedTrajectories,
    chosen: Collection[str],
    guess: OwnerGuess | None,
    beside: BesideGuess | None,
) -> dict[str, Any]:
    """Return what the release says of itself: what is seen from its samples, its promise, and the guess."""
    begun = new_manifest(
        "trajectories",
        version=release.version,
        method=release.method,
        parameters=release.parameters,
        promise=release.promise.stated(),
    )
    left_out = [name for name in (TEXT, *map(_file_of, EXCHANGE)) if name not in chosen]
    return {
        **begun,
        "counted": release.promise.counted(),
        "grid": asdict(release.grid),
        "released": {"trajectories": published.n_released, "samples": published.n_boxes},
        **({"guess": guess.to_manifest()} if guess else {}),
        **({beside.entry: beside.to_manifest()} if beside else {}),
        **({"left_out": left_out} if left_out else {}),
    }


ENTRIES = (
    *("format", "kind", "version", "method", "parameters", "promise", "counted"),
    *("grid", "released", "guess", "links", "apart", "left_out", "title"),
    *("names", "background", "files"),
)
INNER = {
    "counted": ("trajectories",),
    "grid": ("seconds", "metres", "start", "projection", "clock"),
    "released": ("trajectories", "samples"),
    "guess": ("people", "right", "blind"),
    "links": ("changes", "blind", "timing", "transition", "both", "places", "alike"),
    "apart": ("people", "right", "blind"),
    "names": ("source", "attribution", "towns"),
}
"""Entries of a manifest, and of those within it, as they follow each other."""


def restated(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return a manifest as it would be written anew: its entries in their order, its promise said again."""
    promise = TrajectoryPromise.from_manifest(facts["promise"])
    told = {**facts, "promise": promise.stated(), "counted": promise.counted()}
    inner = {name: order for name, order in INNER.items() if name in told}
    for name, order in {**inner, "files": sorted(facts["files"])}.items():
        told[name] = {entry: told[name][entry] for entry in order}
    return {name: told[name] for name in ENTRIES if name in told}


def mapping_table(trajectories: Trajectories, release: TrajectoryRelease, named: NamedRelease) -> pa.Table:
    """Return whose trajectory, piece or dummy each one is; people without ids are numbered as they come."""
    import pyarrow as pa

    names = named.published.pseudonyms[new_rows(named.order)]
    users = range(trajectories.n_users) if trajectories.users is None else trajectories.users
    beside = np.full(release.n_released, -1) if release.guards is None else release.guards
    deleted = np.flatnonzero(release.released_of < 0)
    people = np.concatenate([np.maximum(release.whose, beside), deleted])
    released = np.concatenate([np.arange(release.n_released), np.full(len(deleted), -1)])
    mine = np.flatnonzero(people >= 0)
    order = mine[np.argsort(people[mine], kind="stable")]
    people, released = people[order], released[order]
    named_users = np.array([str(user) for user in users], dtype=object)
    columns = {
        "user": pa.array(named_users[people], pa.string()),
        "trajectory": pa.array(names[released], pa.string(), mask=released < 0),
    }
    if release.guards is not None:
        columns["dummy"] = pa.array((released >= 0) & (release.guards[released] >= 0))
    if release.profiles is not None:
        columns |= {
            name: pa.array(release.profiles[people, at]) for at, name in enumerate(("sd", "ld", "dst"))
        }
    return pa.table(columns)


def _write_boxes(private: Path, release: TrajectoryRelease, rows: Ints) -> None:
    """Write the row of ``samples.parquet`` that stands for each input sample.

    Where samples are moved, the one that stands for another cannot be found again by time and place.
    """
    import pyarrow as pa

    deleted = release.box_of < 0
    _write_private(
        private / "boxes.parquet", pa.table({"sample": pa.array(rows[release.box_of], mask=deleted)})
    )


def _write_private(path: Path, table: pa.Table) -> None:
    from pyarrow import parquet

    parquet.write_table(table, path, compression="zstd", store_schema=False)
