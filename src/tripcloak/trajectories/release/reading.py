"""Reads a release of trajectories back: as its readers have it, and as it was made, for measures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tripcloak.ground.arrays import Floats, Ints
from tripcloak.ground.errors import InputError, InternalError
from tripcloak.ground.folders import PRIVATE
from tripcloak.ground.manifest import public_part, read_manifest, read_run, release_folder
from tripcloak.ground.spelling import spelt, spelt_command
from tripcloak.pages.background import published_background
from tripcloak.promises import TrajectoryPromise
from tripcloak.trajectories.model import Grid, Trajectories
from tripcloak.trajectories.release.published import COLUMNS, PublishedTrajectories
from tripcloak.trajectories.release.release import (
    Boxes,
    TrajectoryRelease,
    TrajectorySolution,
    build_trajectory_release,
)


def read_trajectory_folder(folder: Path) -> PublishedTrajectories:
    """Return a release from its public files alone: ``folder`` is the release folder, or its public part.

    Raises
    ------
    InputError
        The folder holds no release of trajectories, or was changed since it was made.
    """
    public, facts = public_part(folder), read_manifest(folder, "trajectories")
    path = public / "samples.parquet"
    names = _opened(path, lambda file: file.schema_arrow.names)
    try:
        return _published(facts, path, names)
    except (KeyError, TypeError, ValueError, InputError):
        raise _changed(folder) from None


def release_of_folder(folder: Path, trajectories: Trajectories) -> TrajectoryRelease:
    """Return the release that a folder holds, over the trajectories that it was made from.

    Released trajectories come in the order of their pseudonyms. Which generalised sample stands for an
    input sample is found again by time and place; where a method moves samples, a private file says it.

    Raises
    ------
    InputError
        The folder is no release, was made from another input, or was changed since.
    """
    folder = release_folder(folder)
    run = read_run(folder)
    if run.get("input_digest") != trajectories.digest:
        raise InputError(
            f"{folder} was made from another input than this one, or the input was changed since; "
            f"give the very files it was made from ({spelt('against', 'FILE')}), with the same options"
        )
    published = read_trajectory_folder(folder)
    mapping = _table(folder / PRIVATE / "mapping.parquet")
    try:
        return _release(folder, trajectories, published, mapping, run)
    except (KeyError, TypeError, ValueError, IndexError, InternalError, InputError):
        raise _changed(folder) from None


def _changed(folder: Path) -> InputError:
    return InputError(
        f"{folder} was changed since it was made; {spelt_command('trajectories audit')} says what is wrong"
    )


def _table(path: Path) -> Any:
    return _opened(path, lambda file: file.read().combine_chunks())


def _opened(path: Path, read: Callable[[Any], Any], coded: Sequence[str] = ()) -> Any:
    """Return what is read from a Parquet file, or say in words what is wrong with the file."""
    import pyarrow as pa
    from pyarrow import parquet

    try:
        with parquet.ParquetFile(path.absolute(), read_dictionary=list(coded)) as file:
            return read(file)
    except FileNotFoundError:
        raise InputError(
            f"{path.parent.parent} is not a whole release: {path.parent.name}/{path.name} is missing"
        ) from None
    except (OSError, pa.ArrowException):
        raise InputError(f"{path} cannot be read; it may be damaged") from None


def _published(facts: dict[str, Any], path: Path, names: list[str]) -> PublishedTrajectories:
    if tuple(names) != COLUMNS:
        raise ValueError("other columns than a release has")

    # One column at a time: all of them at once take many times the room of what is kept.
    def column(name: str) -> Any:
        return _opened(path, lambda file: file.read(columns=[name]).column(name), ["trajectory"])

    grid = Grid(**facts["grid"])
    coded = column("trajectory").unify_dictionaries().combine_chunks()
    code = coded.indices.to_numpy(zero_copy_only=False)
    pseudonyms = np.asarray(coded.dictionary.to_pylist(), dtype=np.str_)
    if not len(code) or (np.diff(code) < 0).any() or (pseudonyms[1:] <= pseudonyms[:-1]).any():
        raise ValueError("trajectories are out of order, or there are none")
    times = [_steps(_seconds(column(name)) - grid.start, grid.seconds) for name in ("t_start", "t_end")]
    places = [_steps(column(name).to_numpy(), grid.metres) for name in COLUMNS[3:7]]
    return PublishedTrajectories(
        grid=grid,
        pseudonyms=pseudonyms,
        offsets=np.searchsorted(code, np.arange(len(pseudonyms) + 1)),
        boxes=Boxes(*times, *places),
        manifest=facts,
        background=published_background(path.parent, facts),
    )


def _seconds(column: Any) -> Ints:
    seconds: Ints = column.to_numpy().astype("datetime64[s]").astype(np.int64)
    return seconds


def _steps(edges: Ints, length: int) -> Ints:
    steps, rest = np.divmod(edges, length)
    if rest.any():
        raise ValueError("an edge lies off the grid")
    return steps.astype(np.int32)


def _release(
    folder: Path,
    trajectories: Trajectories,
    published: PublishedTrajectories,
    mapping: Any,
    run: dict[str, Any],
) -> TrajectoryRelease:
    facts = published.manifest
    promise = TrajectoryPromise.from_manifest(facts["promise"])
    whose = _whose(trajectories, published, mapping)
    released_of = np.full(trajectories.n_users, -1, np.int64)
    # The first piece of each comes last, and stays.
    latest = np.argsort(-published.boxes.t0[published.offsets[:-1]].astype(np.int64), kind="stable")
    latest = latest[whose[latest] >= 0]
    released_of[whose[latest]] = latest
    if promise.moves_samples:
        box_of = _table(folder / PRIVATE / "boxes.parquet")["sample"].fill_null(-1).to_numpy()
    else:
        box_of = _box_of(trajectories, published, whose)
    told = (published.offsets, published.boxes, released_of, box_of, run.get("facts", {}))
    guards = _whose(trajectories, published, mapping, dummies=True) if promise.adds else None
    return build_trajectory_release(
        trajectories,
        TrajectorySolution(*told, whose if promise.parted else None, guards, _profiles(mapping)),
        promise=promise,
        method=facts["method"],
        parameters=facts["parameters"],
        version=facts["version"],
    )


def _whose(
    trajectories: Trajectories, published: PublishedTrajectories, mapping: Any, *, dummies: bool = False
) -> Ints:
    """Return the row of the person that each released trajectory, or dummy, is of; -1 where of nobody."""
    users = range(trajectories.n_users) if trajectories.users is None else trajectories.users
    people = {str(user): row for row, user in enumerate(users)}
    named = mapping["user"].to_pylist()
    if list(dict.fromkeys(named)) != list(people):
        raise ValueError("the mapping is of other people")
    rows = {name: row for row, name in enumerate(published.pseudonyms.tolist())}
    whose = np.full(published.n_released, -1, np.int64)
    dummy = mapping["dummy"].to_pylist() if "dummy" in mapping.column_names else [False] * len(named)
    for user, name, drawn in zip(named, mapping["trajectory"].to_pylist(), dummy, strict=True):
        if name is not None and drawn == dummies:
            whose[rows[name]] = people[user]
    return whose


def _profiles(mapping: Any) -> Floats | None:
    """Return what each person asks for beyond the promise, if anybody does; the mapping goes by person."""
    if "sd" not in mapping.column_names:
        return None
    named = np.array(mapping["user"].to_pylist())
    first = np.flatnonzero(np.append(True, named[1:] != named[:-1]))
    return np.stack([mapping[name].to_numpy()[first] for name in ("sd", "ld", "dst")], axis=1)


def _box_of(trajectories: Trajectories, published: PublishedTrajectories, whose: Ints) -> Ints:
    """Return the box of its own person that holds each sample, -1 where none does."""
    boxes, own = published.boxes, trajectories.owner
    first = int(boxes.t0.min())
    span = int(boxes.t1.max()) - first + 1
    # Boxes of one person never overlap in time, so that (person, start) finds the only candidate.
    owner = np.repeat(whose, np.diff(published.offsets))
    key = owner * span + (boxes.t0 - first)
    order = np.argsort(key, kind="stable")
    moment = np.clip(trajectories.t.astype(np.int64) - first, -1, span - 1)
    at = np.searchsorted(key[order], own * span + moment, "right") - 1
    at = np.maximum(at, 0)
    at = order[at]
    holds = owner[at] == own
    for column, low, high in (
        (trajectories.t, boxes.t0, boxes.t1),
        (trajectories.x, boxes.x0, boxes.x1),
        (trajectories.y, boxes.y0, boxes.y1),
    ):
        holds &= (low[at] <= column) & (column < high[at])
    return np.where(holds, at, -1)
