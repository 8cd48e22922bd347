"""Forgeries that run through all public files of released trajectories, written by their own writers."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from forgeries.forgery import Forgery
from tripcloak.trajectories.model import Clock
from tripcloak.trajectories.release.published import PublishedTrajectories
from tripcloak.trajectories.release.reading import read_trajectory_folder
from tripcloak.trajectories.release.release import Boxes
from tripcloak.trajectories.rewriting import REWRITINGS

Change = Callable[[PublishedTrajectories], PublishedTrajectories]


def rewrite(folder: Path, change: Change) -> None:
    """Write all public files anew of something else that is published."""
    published = change(read_trajectory_folder(folder))
    for one in REWRITINGS:
        if one.write is not None:
            one.write(folder / "release", published)


def with_facts(facts: Mapping[str, Any]) -> Change:
    """Return the change that says something else of the same boxes."""
    return lambda published: replace(published, manifest=facts)


def consistent_trajectories() -> Iterator[Forgery]:
    """Yield forgeries of which no file contradicts another."""
    for name, change in CHANGES.items():
        yield Forgery(f"everywhere: {name}", lambda folder, c=change: rewrite(folder, c))


def facts_of(folder: Path) -> dict[str, Any]:
    """Return the manifest."""
    told: dict[str, Any] = json.loads((folder / "release" / "manifest.json").read_text(encoding="utf-8"))
    return told


def _side(name: str, amount: int, *, row: int = 0) -> Change:
    """Return the change that moves one side of one box by some steps."""

    def change(published: PublishedTrajectories) -> PublishedTrajectories:
        side = getattr(published.boxes, name).copy()
        side[row] += amount
        return replace(published, boxes=published.boxes._replace(**{name: side}))

    return change


def _moved(*names: str, amount: int) -> Change:
    def change(published: PublishedTrajectories) -> PublishedTrajectories:
        for name in names:
            published = _side(name, amount)(published)
        return published

    return change


def _kept(rows: Any, trajectories: Any) -> Change:
    """Return the change that publishes some boxes of some trajectories alone."""

    def change(published: PublishedTrajectories) -> PublishedTrajectories:
        lengths = np.diff(published.offsets)
        owner = np.repeat(np.arange(len(lengths)), lengths)
        whose, kept = trajectories(published), rows(published)
        chosen = np.flatnonzero(np.isin(owner, whose) & kept)
        sizes = np.bincount(owner[chosen], minlength=len(lengths))[whose]
        facts = dict(published.manifest)
        facts["released"] = {**facts["released"], "trajectories": len(whose), "samples": len(chosen)}
        return replace(
            published,
            pseudonyms=published.pseudonyms[whose],
            offsets=np.concatenate(([0], np.cumsum(sizes))),
            boxes=Boxes(*(side[chosen] for side in published.boxes)),
            manifest=facts,
        )

    return change


def _all(published: PublishedTrajectories) -> Any:
    return np.arange(published.n_released)


def _every(published: PublishedTrajectories) -> Any:
    return np.ones(published.n_boxes, dtype=bool)


def _but_the_last_box(published: PublishedTrajectories) -> Any:
    return np.arange(published.n_boxes) < published.n_boxes - 1


def _renamed(name: Callable[[Any], str]) -> Change:
    def change(published: PublishedTrajectories) -> PublishedTrajectories:
        names = published.pseudonyms.astype("<U40")
        names[0] = name(names)
        return replace(published, pseudonyms=names)

    return change


def _exchanged(published: PublishedTrajectories) -> PublishedTrajectories:
    """Return all trajectories under the names of others, in another order."""
    order = np.arange(published.n_released)[::-1]
    lengths = np.diff(published.offsets)[order]
    offsets = np.concatenate(([0], np.cumsum(lengths)))
    rows = np.arange(offsets[-1]) + np.repeat(published.offsets[:-1][order] - offsets[:-1], lengths)
    boxes = Boxes(*(side[rows] for side in published.boxes))
    return replace(published, offsets=offsets, boxes=boxes)


def _another_clock(published: PublishedTrajectories) -> PublishedTrajectories:
    """Return the same times with a zone that nobody knew, or without the one that was known."""
    clock: Clock = "UTC" if published.grid.clock == "unknown" else "unknown"
    grid = replace(published.grid, clock=clock)
    return replace(published, grid=grid, manifest={**published.manifest, "grid": asdict(grid)})


CHANGES: dict[str, Change] = {
    "another clock": _another_clock,
    **{f"{name} a step less": _side(name, -1) for name in Boxes._fields},
    **{f"{name} a step more": _side(name, 1) for name in Boxes._fields},
    "a box a step to the east": _moved("x0", "x1", amount=1),
    "a box a step to the south": _moved("y0", "y1", amount=-1),
    "a box a minute later": _moved("t0", "t1", amount=1),
    "a trajectory gone": _kept(_every, lambda published: _all(published)[1:]),
    "a trajectory twice": _kept(_every, lambda published: np.append(_all(published), 0)),
    "a box gone": _kept(_but_the_last_box, _all),
    "trajectories under each other's names": _exchanged,
    "a name that says something": _renamed(lambda names: "t00000000000000aa"),
    "a name in capitals": _renamed(lambda names: str(names[0]).upper()),
    "a name twice": _renamed(lambda names: str(names[1])),
}
