"""Releases under differential privacy: honest noise passes, and no noise, little noise or a lie does not."""

from __future__ import annotations

import math
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pyarrow import parquet

from tripcloak.flows.audit import audit_files, audit_folder, audit_matrix
from tripcloak.flows.methods.noise import InfTDA, Laplace, NoisyCut, NoisyMethod
from tripcloak.flows.release import Release
from tripcloak.ground.arrays import Ints
from tripcloak.ground.rulebook import Verdict
from tripcloak.promises import DifferentialPrivacy
from worlds.released_flows import TEN_TRAVELLERS, Folder, World, raw_trips, tract_file

AREA = (48.5, 2.0, 49.6, 3.2)


class Drawn:
    """Noise from a seed, of another scale than stated if wanted: for tests, not for privacy."""

    def __init__(self, factor: float = 1.0, seed: int = 3) -> None:
        self.factor = factor
        self.random = np.random.default_rng(seed)

    def laplace(self, exact: Ints, *, scale: float, sensitivity: int, epsilon: float) -> Ints:
        if not self.factor:
            return exact
        stop = -math.expm1(-1 / (scale * self.factor))
        return exact + self.random.geometric(stop, len(exact)) - self.random.geometric(stop, len(exact))

    def gaussian(self, exact: Ints, *, scale: float, sensitivity: int, rho: float) -> Ints:
        noise = self.random.normal(0, scale * self.factor, len(exact))
        return exact + np.rint(noise).astype(np.int64)


@pytest.fixture(scope="module")
def worlds(tmp_path_factory: pytest.TempPathFactory) -> dict[str, World]:
    """Trips of people who make five each on average, some without an id, over tiles of every kind."""
    raw = raw_trips(20_000, people=4000, seed=5)
    busy = raw_trips(100_000, people=20_000, seed=5)
    tracts = tract_file(tmp_path_factory.mktemp("zones"))
    return {
        "h3": World.of(raw, "h3:9"),
        "quadtree": World.of(raw, "quadtree:7", area=AREA),
        "tracts": World.of(raw, "dendrogram", zones=tracts),
        "no ids": World.of(raw.drop_columns(["person"]), "h3:9"),
        "small": World.of(raw_trips(4000, people=1500), "h3:8"),
        "busy h3": World.of(busy, "h3:8"),
        "busy tracts": World.of(busy, "dendrogram", zones=tracts),
    }


METHODS: dict[str, tuple[str, NoisyMethod]] = {
    "laplace on cells": ("h3", Laplace(epsilon=2, contributions=5, height=1)),
    "laplace on squares": ("quadtree", Laplace(epsilon=1, contributions=3, height=1)),
    "laplace on every pair of tracts": ("tracts", Laplace(epsilon=1)),
    "laplace on every pair of squares": ("quadtree", Laplace(epsilon=1, delta=0, height=3)),
    "laplace on trips": ("no ids", Laplace(epsilon=0.5, height=1)),
    "inftda on cells": ("h3", InfTDA(epsilon=5, contributions=5, height=1)),
    "inftda on squares": ("quadtree", InfTDA(epsilon=2, contributions=5, height=1)),
    "inftda on tracts": ("tracts", InfTDA(epsilon=1)),
}


SCALED: dict[str, tuple[str, NoisyMethod]] = {
    "noisycut on cells": ("h3", NoisyCut(epsilon=2, height=2)),
    "noisycut on squares": ("quadtree", NoisyCut(epsilon=2, contributions=5, height=1)),
    "noisycut on tracts": ("tracts", NoisyCut(epsilon=1)),
    "noisycut on trips": ("no ids", NoisyCut(epsilon=0.5, height=2)),
    "inftda scaled on cells": ("h3", InfTDA(epsilon=5, height=3, bounding="scale")),
    "inftda scaled on squares": ("quadtree", InfTDA(epsilon=5, height=3, bounding="scale")),
    "inftda scaled on tracts": ("tracts", InfTDA(epsilon=2, contributions=3, bounding="scale")),
    "laplace scaled on cells": ("h3", Laplace(epsilon=2, height=3, bounding="scale")),
    "laplace scaled on squares": (
        "quadtree",
        Laplace(epsilon=2, contributions=3, height=3, bounding="scale"),
    ),
    "laplace scaled on every pair of tracts": ("tracts", Laplace(epsilon=1, bounding="scale")),
}
"""Methods that scale travellers: without noise, too, their numbers are not those of any trips."""

LARGE: dict[str, tuple[str, NoisyMethod]] = {
    "inftda on busy cells": ("busy h3", InfTDA(epsilon=1, height=1, bounding="scale")),
    "inftda on busy tracts": ("busy tracts", InfTDA(epsilon=0.4, contributions=3, bounding="scale")),
    "laplace on busy cells": ("busy h3", Laplace(epsilon=0.2, height=1, bounding="scale")),
    "laplace on every pair of busy tracts": ("busy tracts", Laplace(epsilon=0.1, bounding="scale")),
}
"""The same with numbers, and noise, so large that it shows whether there is any."""


def made(worlds: dict[str, World], name: str, factor: float = 1.0) -> tuple[World, Release]:
    kind, method = (METHODS | SCALED | LARGE)[name]
    return worlds[kind], method.anonymise(worlds[kind].matrix, noise=Drawn(factor))


def audit(world: World, folder: Folder, **order: Any) -> Verdict:
    with world.connection() as con:
        return audit_folder(folder.path, con, tiling=world.tiling, **order)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", METHODS)
def test_honest_noise_passes_and_claims_no_k(name: str, worlds: dict[str, World], tmp_path: Path) -> None:
    world, release = made(worlds, name)
    folder = world.publish(tmp_path / "out", release, unparsable=50)
    for report in (audit_matrix(world.matrix, release), audit(world, folder)):
        assert report.broken == ()
        words = {finding.rule: finding.words for finding in report.findings}
        for rule in ("every-group-safe", "flows-match-recount", "totals-add-up", "suppression-within-limit"):
            assert words[rule].startswith("not promised: ")
        assert "as far from the recount" in words["noise-as-stated"]
        unnamed = "person" not in world.raw.column_names
        assert set(report.smallest_support) == ({"trips"} if unnamed else {"trips", "travellers"})
        if "every pair" in name:
            assert report.smallest_support["trips"] == 0
    assert all(finding.ok for finding in audit_files(folder.path))


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", SCALED | LARGE)
def test_honest_noise_on_scaled_travellers_passes(
    name: str, worlds: dict[str, World], tmp_path: Path
) -> None:
    world, release = made(worlds, name)
    folder = world.publish(tmp_path / "out", release, unparsable=50)
    for report in (audit_matrix(world.matrix, release), audit(world, folder)):
        assert report.broken == ()
    assert all(finding.ok for finding in audit_files(folder.path))


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", LARGE)
def test_scaled_travellers_without_noise_are_found_by_scaling_them_anew(
    name: str, worlds: dict[str, World], tmp_path: Path
) -> None:
    world, release = made(worlds, name, factor=0.0)
    assert audit_matrix(world.matrix, release).broken == ("noise-as-stated",)
    assert audit(world, world.publish(tmp_path / "out", release)).broken == ("noise-as-stated",)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", ["noisycut on cells", "noisycut on trips"])
def test_exact_numbers_in_the_place_of_noisy_cuts_fail(
    name: str, worlds: dict[str, World], tmp_path: Path
) -> None:
    world, release = made(worlds, name)
    kept = release.group_of_flow >= 0
    size = {"minlength": release.n_groups}
    exact = np.bincount(release.group_of_flow[kept], world.matrix.flows.trips[kept], **size)
    forged = replace(release, trips=np.where(exact > 0, exact, release.trips).astype(np.int64))
    assert audit_matrix(world.matrix, forged).broken == ("noise-as-stated",)
    assert "noise-as-stated" in audit(world, world.publish(tmp_path / "out", forged)).broken


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", METHODS)
def test_without_noise_every_method_fails(name: str, worlds: dict[str, World], tmp_path: Path) -> None:
    world, release = made(worlds, name, factor=0.0)
    assert audit_matrix(world.matrix, release).broken == ("noise-as-stated",)
    assert audit(world, world.publish(tmp_path / "out", release)).broken == ("noise-as-stated",)


@pytest.mark.parametrize(
    ("name", "factor"),
    [
        ("laplace on every pair of tracts", 0.5),
        ("laplace on cells", 0.1),
        ("laplace on squares", 0.1),
        ("laplace on trips", 0.5),
    ],
)
def test_much_less_noise_than_stated_fails(name: str, factor: float, worlds: dict[str, World]) -> None:
    world, release = made(worlds, name, factor)
    assert audit_matrix(world.matrix, release).broken == ("noise-as-stated",)


def test_trips_that_were_not_bounded_and_got_no_noise_fail(worlds: dict[str, World]) -> None:
    """Whoever publishes the very recount, bounds or not, is caught by it."""
    world, release = made(worlds, "laplace on cells")
    kept = release.group_of_flow >= 0
    exact = np.bincount(release.group_of_flow[kept], world.matrix.flows.trips[kept]).astype(np.int64)
    assert "noise-as-stated" in audit_matrix(world.matrix, replace(release, trips=exact)).broken


def test_few_numbers_tell_nothing(worlds: dict[str, World], tmp_path: Path) -> None:
    world = worlds["tracts"]
    release = Laplace(epsilon=100, height=2, contributions=10).anonymise(world.matrix, noise=Drawn())
    report = audit(world, world.publish(tmp_path / "out", release))
    assert report.safe
    words = next(finding.words for finding in report.findings if finding.rule == "noise-as-stated")
    assert words.startswith("not to be told")


def test_true_pairs_alone_fail_where_every_pair_should_have_noise(
    worlds: dict[str, World], tmp_path: Path
) -> None:
    world, release = made(worlds, "laplace on every pair of tracts")
    occurs = np.zeros(release.n_groups, dtype=bool)
    occurs[release.group_of_flow[release.group_of_flow >= 0]] = True
    number = np.append(np.where(occurs, np.cumsum(occurs) - 1, -1), -1)
    forged = replace(
        release,
        group_of_flow=number[release.group_of_flow].astype(np.int32),
        **{name: getattr(release, name)[occurs] for name in ("group_origin", "group_destination", "trips")},
    )
    assert audit(world, world.publish(tmp_path / "out", forged)).broken == ("noise-as-stated",)


# --- a release in memory that lies about itself -------------------------------------------------------


def stated(release: Release, **facts: Any) -> Release:
    """Return the release with other facts about its noise."""
    privacy = release.promise
    assert isinstance(privacy, DifferentialPrivacy)
    details = {**dict(privacy.details), **{n: v for n, v in facts.items() if n in dict(privacy.details)}}
    promise = {n: v for n, v in facts.items() if n not in dict(privacy.details)}
    return replace(release, promise=replace(privacy, details=tuple(details.items()), **promise))


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("name", "facts", "words"),
    [
        ("laplace on cells", {"epsilon": 1.0}, "too small for the stated epsilon"),
        ("laplace on cells", {"contributions": 6}, "too small for the stated epsilon"),
        ("laplace on cells", {"noise_scale": 2.4}, "too small for the stated epsilon"),
        ("laplace on cells", {"delta": 1e-9}, "threshold is too low"),
        ("laplace on cells", {"threshold": 30}, "threshold is too low"),
        ("noisycut on tracts", {"rho": 0.01}, "too small for the stated rho"),
        ("noisycut on tracts", {"noise_scale": 0.1}, "too small for the stated norms"),
        ("noisycut on tracts", {"norms": [9.0]}, "multipliers"),
        ("noisycut on squares", {"contributions": 4}, "longer than the stated contributions"),
        ("inftda on tracts", {"noise_scale": 50.0}, "too small for the stated rho"),
        ("inftda on tracts", {"heights": 12}, "too small for the stated rho"),
        ("inftda on tracts", {"rho": 0.5}, "too large for the stated epsilon"),
        ("inftda on tracts", {"epsilon": 0.9}, "too large for the stated epsilon"),
        ("inftda on tracts", {"delta": 1e-7}, "too large for the stated epsilon"),
        ("inftda on tracts", {"delta": 0.0}, "too large for the stated epsilon"),
    ],
)
def test_noise_that_does_not_give_what_is_promised_fails(
    name: str, facts: dict[str, Any], words: str, worlds: dict[str, World], tmp_path: Path
) -> None:
    world, release = made(worlds, name)
    forged = stated(release, **facts)
    for report in (
        audit_matrix(world.matrix, forged),
        audit(world, world.publish(tmp_path / "out", forged)),
    ):
        assert "noise-suffices" in report.broken
        assert words in next(found.words for found in report.findings if found.rule == "noise-suffices")


def test_other_lies_in_memory_fail(worlds: dict[str, World]) -> None:
    world, release = made(worlds, "laplace on cells")

    def broken(**changes: Any) -> tuple[str, ...]:
        return audit_matrix(world.matrix, replace(release, **changes)).broken

    assert "noise-suffices" in broken(seed=17)
    low = release.trips.copy()
    low[0] = 1
    assert "noise-suffices" in broken(trips=low)
    assert "noise-suffices" in broken(trips=release.trips.astype(float))
    twice = release.group_origin.copy(), release.group_destination.copy()
    for column in twice:
        column[0] = column[1]
    assert "flows-match-recount" in broken(group_origin=twice[0], group_destination=twice[1])
    assert "zones-contain-tiles" in broken(group_origin=np.roll(release.group_origin, 1))
    assert "zones-table-matches" in broken(origins=replace(release.origins, tiles=release.origins.tiles + 1))
    names = release.origins.ids.astype("<U20")
    names[0] = "nowhere"
    assert {"zones-contain-tiles", "zones-table-matches"} <= set(
        broken(origins=replace(release.origins, ids=names))
    )
    assert "every-flow-accounted" in broken(group_of_flow=release.group_of_flow + release.n_groups)


def test_a_promise_that_protects_nobody_is_not_safe(worlds: dict[str, World]) -> None:
    world = worlds["h3"]
    release = world.release()
    nobody = type("Nothing", (), {"to_manifest": lambda self: {"kind": "all of", "promises": []}})()
    assert "every-group-safe" in audit_matrix(world.matrix, replace(release, promise=nobody)).broken


# --- a folder that was tampered with ------------------------------------------------------------------


@pytest.fixture(scope="module")
def honest(worlds: dict[str, World], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An honest release of noisy numbers between cells."""
    world = worlds["small"]
    release = Laplace(epsilon=5, contributions=5, height=1).anonymise(world.matrix, noise=Drawn())
    return world.publish(tmp_path_factory.mktemp("noisy") / "out", release).path


def noted(**changes: Any) -> Callable[[Folder], None]:
    """Return a change of the entry on differential privacy; None takes a fact away."""

    def change(facts: dict[str, Any]) -> None:
        entry = {**facts["promise"], **changes}
        facts["promise"] = {name: value for name, value in entry.items() if value is not None}

    return lambda folder: folder.edit_manifest(change)


def told(**entries: Any) -> Callable[[Folder], None]:
    return lambda folder: folder.edit_manifest(lambda facts: facts.update(entries))


def first_flow(**values: Any) -> Callable[[Folder], None]:
    return lambda folder: folder.edit_flows(lambda rows: rows[0].update(values))


def parameter(**values: Any) -> Callable[[Folder], None]:
    return lambda folder: folder.edit_manifest(lambda facts: facts["parameters"].update(values))


TAMPERINGS: dict[str, tuple[Callable[[Folder], Any], str]] = {
    "promise k as well": (noted(k=10), "every-group-safe"),
    "promise k beside it": (
        lambda folder: folder.edit_manifest(
            lambda facts: facts.update(
                promise={"kind": "all of", "promises": [TEN_TRAVELLERS.to_manifest(), facts["promise"]]}
            )
        ),
        "every-group-safe",
    ),
    "promise nothing": (
        lambda folder: folder.edit_manifest(lambda facts: facts.pop("promise")),
        "every-group-safe",
    ),
    "an epsilon of nothing": (noted(epsilon=0), "every-group-safe"),
    "an epsilon in words": (noted(epsilon="one"), "every-group-safe"),
    "an endless epsilon": (noted(epsilon=10**400), "every-group-safe"),
    "a delta of one": (noted(delta=1), "every-group-safe"),
    "no contributions": (noted(contributions=0), "every-group-safe"),
    "half a contribution": (noted(contributions=2.5), "every-group-safe"),
    "five trips of one trip": (noted(unit="trip"), "every-group-safe"),
    "another unit": (noted(unit="city"), "every-group-safe"),
    "no noise stated": (noted(noise_scale=None), "every-group-safe"),
    "noise of another kind": (noted(mechanism="we thought hard about it"), "every-group-safe"),
    "a number in the words": (
        noted(mechanism="discrete Laplace noise on 20,000 trips"),
        "every-group-safe",
    ),
    "one more fact": (noted(trips=20_000), "every-group-safe"),
    "no study area": (noted(study_area=None), "noise-suffices"),
    "another study area": (noted(study_area="871fb4674ffffff"), "noise-suffices"),
    "a limit": (parameter(suppression_limit=0.1), "every-group-safe"),
    "a smaller epsilon": (noted(epsilon=4.9), "noise-suffices"),
    "a seed": (told(seed=17), "manifest-consistent"),
    "a seed among the parameters": (parameter(seed=17), "manifest-consistent"),
    "other words": (
        noted(sentence="differential privacy of every traveller (epsilon 1, delta 1e-06, 5 trips each)"),
        "manifest-consistent",
    ),
    "a bound": (told(bound={"within_percent": 3, "relaxation": "x"}), "manifest-consistent"),
    "a k in the measures": (
        lambda folder: folder.edit_manifest(lambda facts: facts["measures"].update(C_AVG=3.0)),
        "manifest-consistent",
    ),
    "what is withheld": (
        told(withheld={"at_least": 0, "at_most": 50, "words": "between 0 and 1 % of the trips"}),
        "suppressed-told-safely",
    ),
    "dropped rows": (told(dropped_rows={"unparsable": 4000}), "dropped-told-safely"),
    "a number below the threshold": (first_flow(trips=2), "flows-match-recount"),
    "a pair twice": (
        lambda folder: folder.edit_flows(lambda rows: rows.append(dict(rows[0]))),
        "flows-match-recount",
    ),
    "a pair that is not released": (
        lambda folder: folder.edit_flows(lambda rows: rows.pop(0)),
        "flows-match-recount",
    ),
    "exact travellers": (
        lambda folder: folder.edit_flows(lambda rows: [row.update(travellers=9) for row in rows]),
        "only-protected-columns",
    ),
    "a zone that is none": (first_flow(origin="nowhere"), "zones-table-matches"),
}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", TAMPERINGS)
def test_tampering_is_caught(name: str, honest: Path, worlds: dict[str, World], tmp_path: Path) -> None:
    shutil.copytree(honest, tmp_path / "out")
    folder = Folder(tmp_path / "out")
    change, rule = TAMPERINGS[name]
    change(folder)
    folder.refresh()
    assert rule in audit(worlds["small"], folder).broken


def test_an_ordered_k_is_not_met_by_noise(honest: Path, worlds: dict[str, World]) -> None:
    folder = Folder(honest)
    assert audit(worlds["small"], folder).broken == ()
    assert audit(worlds["small"], folder, k=10).broken == ("every-group-safe",)
    assert audit(worlds["small"], folder, k=10, unit="travellers").broken == ("every-group-safe",)
    assert audit(worlds["small"], folder, closeness=0.5).broken == ("destinations-close",)


def test_the_study_area_of_a_file_is_all_of_it(worlds: dict[str, World], tmp_path: Path) -> None:
    world, release = made(worlds, "inftda on tracts")
    folder = world.publish(tmp_path / "out", stated(release, study_area="t00"))
    assert audit(world, folder).broken == ("noise-suffices",)


def test_contributions_that_are_understated_fail(worlds: dict[str, World], tmp_path: Path) -> None:
    """The noise may fit what is stated, but the total is that of people who were counted more often."""
    world = worlds["h3"]
    release = InfTDA(epsilon=400, contributions=100, height=4).anonymise(world.matrix, noise=Drawn())
    forged = stated(release, contributions=1)
    assert "noise-as-stated" in audit_matrix(world.matrix, forged).broken
    assert "noise-as-stated" in audit(world, world.publish(tmp_path / "out", forged)).broken


# --- at the very edge -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("beyond", "kept"), [(0.0, True), (-0.5, True), (0.5, False), (1.0, False)])
def test_a_threshold_between_two_numbers_is_the_higher_one(
    beyond: float, kept: bool, honest: Path, worlds: dict[str, World], tmp_path: Path
) -> None:
    """Whole numbers reach half a number only where they reach the next."""
    world = worlds["small"]
    release = Laplace(epsilon=5, contributions=5, height=1).anonymise(world.matrix, noise=Drawn())
    threshold = int(release.trips.min()) + beyond
    forged = stated(release, threshold=threshold)
    assert ("noise-suffices" not in audit_matrix(world.matrix, forged).broken) == kept
    shutil.copytree(honest, tmp_path / "out")
    folder = Folder(tmp_path / "out")
    assert min(row["trips"] for row in folder_flows(folder)) == release.trips.min()
    noted(threshold=threshold)(folder)
    assert ("flows-match-recount" not in audit(world, folder).broken) == kept


def folder_flows(folder: Folder) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = parquet.read_table(folder.public("flows.parquet")).to_pylist()
    return rows


@pytest.mark.parametrize(
    ("values", "kept"),
    [
        ({"epsilon": 5, "contributions": 5}, True),
        ({"epsilon": math.nextafter(5, 6)}, False),
        ({"epsilon": math.nextafter(5, 4)}, False),
        ({"epsilon": None}, False),
        ({"contributions": 4}, False),
        ({"contributions": 6}, False),
    ],
    ids=str,
)
def test_parameters_name_the_very_numbers_that_are_promised(
    values: dict[str, Any], kept: bool, honest: Path, worlds: dict[str, World], tmp_path: Path
) -> None:
    shutil.copytree(honest, tmp_path / "out")
    folder = Folder(tmp_path / "out")
    parameter(**values)(folder)
    assert ("noise-suffices" not in audit(worlds["small"], folder).broken) == kept
