"""The band of the withheld volume: one step past what may be told is caught with no other rule's help."""

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


def published(world: World, out: Path, k: int, limit: float) -> Folder:
    """Return the release of every flow as it is, but for those of fewer trips than k."""
    matrix = world.matrix
    release = build_release(
        matrix,
        method="by hand",
        parameters={},
        promise=KAnonymity(k=k, unit="trips"),
        suppression_limit=limit,
        origin_zone=matrix.flows.origin,
        destination_zone=matrix.flows.destination,
        suppressed=matrix.flows.trips < k,
        homogeneous=True,
    )
    return world.publish(out, release)


def tell(folder: Folder, at_least: int | None, at_most: int | None, words: str | None = None) -> None:
    """Write a band into the manifest, with the words that stand there if no others are given."""

    def change(facts: dict[str, Any]) -> None:
        words_now = facts["withheld"]["words"] if words is None else words
        facts["withheld"] = {"at_least": at_least, "at_most": at_most, "words": words_now}

    folder.edit_manifest(change)


def broken(world: World, folder: Folder) -> tuple[str, ...]:
    with world.connection() as con:
        report = audit_folder(folder.path, con)
    with_files_alone = {finding.rule for finding in audit_files(folder.path) if not finding.ok}
    assert with_files_alone <= set(report.broken)
    return report.broken


def three_absent(hidden: int, *, on_diagonal: int = 294) -> World:
    """Return a world of three towns in which three of nine pairs hold fewer than ten trips together."""
    held = dict.fromkeys([(0, 0), (1, 1), (2, 2)], on_diagonal)
    return towns({**held, (0, 1): 10, (1, 2): 10, (2, 0): 10, (0, 2): hidden})


@pytest.mark.parametrize("hidden", [0, 1, 9])
def test_a_band_is_told_and_no_finer_one(hidden: int, tmp_path: Path) -> None:
    """Released are 912 trips, of which 1 and 2 percent make 9 and 18; two pairs of nine hold 18."""
    world = three_absent(hidden)
    folder = published(world, tmp_path / "out", 10, 0.3)
    told = folder.facts["withheld"]
    assert told == {"at_least": 0, "at_most": 9, "words": "between 0 and 1 % of the trips"}
    assert broken(world, folder) == ()
    for low, high in ((0, 8), (1, 9), (hidden, hidden), (0, 10), (0, 390)):
        tell(folder, low, high)
        assert broken(world, folder) == ("suppressed-told-safely", "suppressed-not-solvable"), (low, high)


def test_the_band_is_the_one_that_the_volume_lies_in(tmp_path: Path) -> None:
    world = three_absent(9)
    folder = published(world, tmp_path / "out", 10, 0.3)
    tell(folder, 10, 390, "between 1 and 30 % of the trips")
    assert broken(world, folder) == ("suppressed-told-safely",)
    tell(folder, 0, 9, "between 0 and 2 % of the trips")
    assert broken(world, folder) == ("manifest-consistent",)
    tell(folder, None, None, "not told")
    assert broken(world, folder) == ("suppressed-told-safely",)
    tell(folder, None, 9)
    assert broken(world, folder) == (
        "suppressed-told-safely", "suppressed-not-solvable", "manifest-consistent"
    )  # fmt: skip


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("on_diagonal", "at_most", "finer"), [(283, 17, 18), (284, 378, 18)])
def test_an_edge_is_told_up_to_what_absent_pairs_but_one_hold(
    on_diagonal: int, at_most: int, finer: int, tmp_path: Path
) -> None:
    """Two percent of 879 trips are 17, and of 882 trips 18: from 19 on no pair of three could be empty."""
    world = three_absent(9, on_diagonal=on_diagonal)
    folder = published(world, tmp_path / "out", 10, 0.3)
    assert folder.facts["withheld"]["at_most"] == at_most
    assert broken(world, folder) == ()
    tell(folder, 0, finer)
    assert broken(world, folder) == ("suppressed-told-safely", "suppressed-not-solvable")


def test_where_zones_may_overlap_nothing_but_the_limit_is_told(tmp_path: Path) -> None:
    world = three_absent(9)
    folder = published(world, tmp_path / "out", 10, 0.3)
    folder.edit_manifest(lambda facts: facts.update(homogeneous=False))
    assert broken(world, folder)[:2] == ("suppressed-told-safely", "suppressed-not-solvable")
    tell(folder, 0, 390, "between 0 and 30 % of the trips")
    assert not {"suppressed-told-safely", "suppressed-not-solvable"} & set(broken(world, folder))
