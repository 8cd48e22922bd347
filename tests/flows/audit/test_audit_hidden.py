"""Hidden choices: repeatable with the secret, never told, checked with the secret; refused where none can."""

from __future__ import annotations

import json
import shutil
import stat
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tripcloak.flows.anonymise import AnonymisationRequest, anonymise
from tripcloak.flows.checking import audit_against
from tripcloak.flows.keywords import flow_method, keywords
from tripcloak.flows.methods import METHODS, ProductCut
from tripcloak.flows.model import ODMatrix, group_flows
from tripcloak.flows.reading.matrix import Zoning
from tripcloak.ground.errors import InputError
from tripcloak.ground.options import values_of
from tripcloak.hierarchy import Hierarchy
from tripcloak.promises import HiddenChoices, KAnonymity, Promise, all_of
from tripcloak.promises.hidden import drawn
from tripcloak.records.source import TripSource
from worlds.trips import some_trips, write_csv

SECRET = "a secret of these tests"
FIVE = KAnonymity(k=5, unit="travellers")


def hidden(secret: str = SECRET, times: int = 2) -> Promise:
    return all_of((FIVE, HiddenChoices(k=5, unit="travellers", secret=secret, times=times)))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Path]]:
    """Some trips and a release of them whose choices are hidden."""
    folder = tmp_path_factory.mktemp("hidden")
    file = write_csv(folder / "trips.csv", some_trips(600, people=60, spread=0.02))
    request = AnonymisationRequest(
        source=TripSource(paths=(str(file),)),
        method=ProductCut(promise=hidden()),
        zoning=Zoning(spec="h3:9"),
        out=folder / "out",
    )
    outcome = anonymise(request)
    assert any(note.startswith("hidden choices cost") for note in outcome.notes)
    yield file, folder / "out"
    shutil.rmtree(folder)


def test_the_secret_stays_inside_and_the_audit_draws_by_it(made: tuple[Path, Path]) -> None:
    file, out = made
    public = b"".join(path.read_bytes() for path in sorted((out / "release").iterdir()))
    assert SECRET.encode() not in public
    facts = json.loads((out / "release" / "manifest.json").read_text())
    assert facts["promise"]["promises"][1] == {
        "kind": "hidden choices",
        "k": 5,
        "unit": "travellers",
        "up_to": 10,
    }
    readme = " ".join((out / "release" / "README.md").read_text().split())
    assert "which flows are released depends on a secret: one needs a support of 5 to 10" in readme
    assert json.loads((out / "private" / "run.json").read_text())["secret"] == SECRET
    assert stat.S_IMODE((out / "private" / "run.json").stat().st_mode) == 0o600
    report = audit_against(out, (str(file),))
    assert report.safe, report.broken


@pytest.mark.parametrize("secret", [None, "another secret than it was"])
def test_another_secret_does_not_fit(made: tuple[Path, Path], tmp_path: Path, secret: str | None) -> None:
    file, out = made
    shutil.copytree(out, tmp_path / "out")
    path = tmp_path / "out" / "private" / "run.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "secret": secret}))
    assert "choices-hidden" in audit_against(tmp_path / "out", (str(file),)).broken


@pytest.mark.parametrize("entries", [{"up_to": 9}, {"k": 6, "up_to": 12}, {"unit": "trips"}], ids=str)
def test_a_claim_that_does_not_fit_its_k_is_not_read(
    made: tuple[Path, Path], tmp_path: Path, entries: dict[str, Any]
) -> None:
    file, out = made
    shutil.copytree(out, tmp_path / "out")
    path = tmp_path / "out" / "release" / "manifest.json"
    facts = json.loads(path.read_text())
    facts["promise"]["promises"][1] |= entries
    path.write_text(json.dumps(facts))
    assert not audit_against(tmp_path / "out", (str(file),)).safe


def test_a_draw_is_the_zones_own_and_reaches_both_ends() -> None:
    draws = [drawn(SECRET, (f"zone {n}", "there"), 5, 10) for n in range(600)]
    assert set(draws) == set(range(5, 11))
    assert draws == [drawn(SECRET, (f"zone {n}", "there"), 5, 10) for n in range(600)]
    assert draws != [drawn("another", (f"zone {n}", "there"), 5, 10) for n in range(600)]


def test_the_very_edge_of_a_threshold() -> None:
    """A flow of as many people as are drawn is released, one of one fewer is not."""
    tree = Hierarchy.from_parents(["a", "b", "all"], [2, 2, -1])
    least = drawn(SECRET, ("a", "b"), 5, 10)
    for people, released in ((least, True), (least - 1, False)):
        matrix = ODMatrix.from_trips(
            tree, tree, np.zeros(people, int), np.ones(people, int), person=np.arange(people)
        )
        groups = group_flows(matrix, matrix.flows.origin, matrix.flows.destination)
        assert hidden().safe(groups).tolist() == [released]
        # Without the secret nobody can tell more than that k is reached.
        assert hidden().from_manifest(hidden().stated()).safe(groups).tolist() == [people >= 5]


def city(people: int = 3000, side: int = 16) -> ODMatrix:
    """Return trips of people who live and work around a few places, on a binary tree of places."""
    names, parents, level = [f"t{n:02d}" for n in range(side * side)], [], list(range(side * side))
    while len(level) > 1:
        above = [len(names) + n for n in range(len(level) // 2)]
        parents += [above[n // 2] for n in range(len(level))]
        names += [f"z{n}" for n in above]
        level = above
    tree = Hierarchy.from_parents(names, [*parents, -1])
    dice = np.random.default_rng(8)
    home, work = (np.abs(dice.normal(0, 40, people)).astype(int) % (side * side) for _ in range(2))
    person = np.repeat(np.arange(people), 3)
    return ODMatrix.from_trips(tree, tree, home[person], work[person], person=person)


def claims(matrix: ODMatrix, release: Any, k: int) -> np.ndarray[Any, Any]:
    """Return, for every released pair of zones but pairs of tiles, whether some child holds 1 to k - 1."""
    group, kept = release.group_of_flow, release.group_of_flow >= 0
    true = np.zeros(release.n_groups, dtype=bool)
    tiles = np.ones(release.n_groups, dtype=bool)
    for (tree, tile), zone in zip(
        matrix.axes, (release.group_origin, release.group_destination), strict=True
    ):
        tiles &= tree.zones.height[zone] == 0
        here, child, end = tile.astype(np.int64), tile.astype(np.int64), zone[group]
        for _ in range(len(tree.levels)):
            below = kept & (here != end)
            child, here = np.where(below, here, child), np.where(below, tree.parent[here], here)
        split = kept & (tile != end)
        children = group_flows(matrix, np.where(split, group, 0), np.where(split, child, 0), keep=split)
        assert children is not None
        true[children.origin[children.support("travellers") < k]] = True
    return true[~tiles]


def test_reasoning_backwards_is_always_right_before_and_often_wrong_after() -> None:
    matrix = city()
    openly = claims(matrix, ProductCut(promise=FIVE).anonymise(matrix), 5)
    assert len(openly) > 100
    assert openly.all(), "whoever knows the method is always right"
    wrong = {
        times: 1 - claims(matrix, ProductCut(promise=hidden(times=times)).anonymise(matrix), 5).mean()
        for times in (2, 3)
    }
    # Of 420 claims, all right before; one in twelve is wrong after, and more than one in four up to 3k.
    assert wrong[2] > 0.06
    assert wrong[3] > 0.2


def test_the_same_secret_gives_the_same_release_and_another_does_not() -> None:
    matrix = city(people=800)
    one, same = (ProductCut(promise=hidden()).anonymise(matrix) for _ in range(2))
    assert (one.group_of_flow == same.group_of_flow).all()
    other = ProductCut(promise=hidden("quite another secret")).anonymise(matrix)
    assert (one.group_of_flow != other.group_of_flow).any()
    assert SECRET not in repr(one)


@pytest.mark.parametrize("name", [name for name in METHODS if not METHODS[name].noisy])
def test_methods_hide_their_choices_or_name_those_that_can(name: str) -> None:
    # Nothing but tiles: there must be people enough in pairs of them.
    matrix = city(people=3000, side=4) if name == "suppression" else city(people=800)
    own = {"multiplier": 500.0} if name == "atg-soft" else {}
    limit = 0.9 if name == "suppression" else 0.2
    method = METHODS[name](promise=hidden(), suppression_limit=limit, **own)
    if not method.judges_products:
        with pytest.raises(InputError, match=r"cannot hide its choices.*twincut, nestedcut, productcut"):
            method.anonymise(matrix)
        return
    release = method.anonymise(matrix)
    groups = group_flows(
        matrix,
        np.append(release.group_origin, 0)[release.group_of_flow],
        np.append(release.group_destination, 0)[release.group_of_flow],
        keep=~release.suppressed,
    )
    assert hidden().safe(groups).all()
    assert (release.travellers >= 5).all()
    openly = replace(method, promise=FIVE).anonymise(matrix)
    assert (openly.group_of_flow != release.group_of_flow).any()


def test_secrets_come_from_a_file_or_anew(tmp_path: Path) -> None:
    def asked(**given: Any) -> Any:
        values = values_of(keywords("anonymise"), {"method": "productcut", **given})
        return flow_method(values).promise.private_facts

    file = tmp_path / "secret"
    file.write_text(f"{SECRET}\n")
    assert asked(hide_choices=True, secret=str(file)) == {"secret": SECRET}
    assert asked(hide_choices=True) != asked(hide_choices=True)
    assert asked() == {}
    with pytest.raises(InputError, match="goes with"):
        asked(secret=str(file))
    file.write_text("short")
    with pytest.raises(InputError, match="16 characters or more"):
        asked(hide_choices=True, secret=str(file))
