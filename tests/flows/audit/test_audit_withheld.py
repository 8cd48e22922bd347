"""The withheld volume: what can be solved for from it, told or not, is caught with no other rule's help."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from tripcloak.flows.audit import audit_files, audit_folder
from tripcloak.flows.release import build_release
from tripcloak.promises import KAnonymity
from worlds.released_flows import TOWNS, Folder, World


def towns(flows: dict[tuple[int, int], int]) -> World:
    """Return a world of trips between towns, as many as told for every pair."""
    pairs = np.array([pair for pair, trips in flows.items() for _ in range(trips)])
    ends = {f"{end}_{axis}": TOWNS[pairs[:, e], a] for e, end in enumerate("od") for a, axis in AXES}
    return World.of(pa.table({**ends, "reason": np.zeros(len(pairs), np.int32)}), "h3:8")


AXES = ((0, "lat"), (1, "lon"))


def published(world: World, out: Path, k: int, limit: float, *, hide_below: int = 0) -> Folder:
    """Return the release of every flow as it is, but for those of fewer trips than told."""
    matrix = world.matrix
    release = build_release(
        matrix,
        method="by hand",
        parameters={},
        promise=KAnonymity(k=k, unit="trips"),
        suppression_limit=limit,
        origin_zone=matrix.flows.origin,
        destination_zone=matrix.flows.destination,
        suppressed=matrix.flows.trips < hide_below,
        homogeneous=True,
    )
    return world.publish(out, release)


def tell(folder: Folder, number: int) -> None:
    """Write a withheld volume into the manifest, with a share and words that fit."""

    def change(facts: dict[str, Any]) -> None:
        share = number / (number + facts["released"])
        facts.update(suppressed=number, suppressed_share=share, suppressed_words=f"{number:,} trips")

    folder.edit_manifest(change)


def broken(world: World, folder: Folder) -> tuple[str, ...]:
    with world.connection() as con:
        report = audit_folder(folder.path, con)
    with_files_alone = {finding.rule for finding in audit_files(folder.path) if not finding.ok}
    assert with_files_alone <= set(report.broken)
    return report.broken


@pytest.mark.parametrize(
    ("k", "limit", "solvable"),
    [
        (2, 0.1, True),
        (2, 0.0, False),
        (2, 0.02, False),
        (3, 0.1, False),
        (3, 0.025, True),
        (3, 1 / 41, True),
        (3, 2 / 42, False),
        (3, 0.02, False),
    ],
    ids=[
        "silence means below two", "no limit, nothing hidden", "room for none, though k is two",
        "one or two", "room for one alone", "room for just one", "room for just two", "room for none",
    ],
)  # fmt: skip
def test_zero_is_told_only_where_silence_has_two_readings(
    k: int, limit: float, solvable: bool, tmp_path: Path
) -> None:
    world = towns({(0, 1): 20, (1, 0): 20})
    folder = published(world, tmp_path / "out", k, limit)
    assert folder.facts["suppressed"] == (None if solvable else 0)
    assert broken(world, folder) == ()
    tell(folder, 0)
    assert broken(world, folder) == (("suppressed-not-solvable",) if solvable else ())


@pytest.mark.parametrize(("hidden", "solvable"), [((9, 9), True), ((9, 8), False), ((9, 4), False)])
def test_a_volume_that_leaves_absent_pairs_one_way_to_share_it_is_not_told(
    hidden: tuple[int, int], solvable: bool, tmp_path: Path
) -> None:
    world = towns({(0, 0): 50, (1, 1): 60, (0, 1): hidden[0], (1, 0): hidden[1]})
    folder = published(world, tmp_path / "out", 10, 0.3, hide_below=10)
    assert folder.facts["suppressed"] == (None if solvable else sum(hidden))
    assert broken(world, folder) == ()
    tell(folder, sum(hidden))
    assert broken(world, folder) == (("suppressed-not-solvable",) if solvable else ())
