"""The rules beyond thresholds, held to the very number: what is promised holds, one step more does not."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from tripcloak.flows.audit import audit_files, audit_folder, audit_matrix
from tripcloak.flows.methods import METHODS
from tripcloak.flows.model import ODMatrix, PlaceCounts, count_places
from tripcloak.flows.publish import publish
from tripcloak.flows.release import Release
from tripcloak.ground.errors import InputError
from tripcloak.ground.rulebook import Verdict
from tripcloak.promises import AllOf, KAnonymity, LDiversity, Promise, TCloseness, origin_distances
from worlds.depth import DEEP
from worlds.released_flows import Folder, World, raw_trips, tract_file

TEN = KAnonymity(k=10, unit="travellers")
PEOPLE = KAnonymity(k=20_000, unit="population")
AREA = (48.5, 2.0, 49.6, 3.2)
ORDERS = {
    "twincut for travellers": ("twincut", TEN),
    "productcut for population": ("productcut", PEOPLE),
}
if DEEP:
    ORDERS |= {
        "twincut for population": ("twincut", PEOPLE),
        "productcut for travellers": ("productcut", TEN),
    }


@dataclass(frozen=True)
class Released:
    """A world, a release of it, and the folder that holds it."""

    world: World
    matrix: ODMatrix
    release: Release
    folder: Folder

    def audit(self, world: World | None = None) -> Verdict:
        """Return the audit of the folder against its own raw input, or another one."""
        with (world or self.world).connection() as con:
            return audit_folder(self.folder.path, con, tiling=self.world.tiling)

    def promise(self, *parts: Promise) -> None:
        """Write other promises beside k into the manifest, with words that fit."""
        self.folder.restate(AllOf(promises=(self.release.promise.of_people, *parts)))


def published(world: World, release: Release, out: Path, matrix: ODMatrix | None = None) -> Released:
    matrix = matrix or world.matrix
    publish(out, matrix, release, run={}, dropped={}, tilings={"spec": world.spec})
    return Released(world, matrix, release, Folder(out))


@pytest.fixture(scope="module")
def worlds(tmp_path_factory: pytest.TempPathFactory) -> dict[str, World]:
    """The same trips over hierarchies of every kind."""
    raw = raw_trips()
    tracts = tract_file(tmp_path_factory.mktemp("zones"))
    return {
        "h3:9": World.of(raw),
        "h3:8/binary": World.of(raw, "h3:8/binary"),
        "quadtree:8": World.of(raw, "quadtree:8", area=AREA),
        "dendrogram": World.of(raw, "dendrogram", zones=tracts),
    }


def smallest_cover(release: Release, matrix: ODMatrix, what: Any = "tiles") -> int:
    origins, destinations = matrix.covers(what)
    return int(min(origins[release.group_origin].min(), destinations[release.group_destination].min()))


def furthest(release: Release, matrix: ODMatrix) -> float:
    volume = np.rint(release.support(release.volume))
    found = origin_distances(matrix.destinations, release.group_origin, release.group_destination, volume)
    return float(found.distance.max())


@pytest.mark.one_in(3)
@pytest.mark.parametrize("spec", ["h3:9", "h3:8/binary", "quadtree:8", "dendrogram"])
@pytest.mark.parametrize("order", ORDERS)
def test_what_is_promised_holds_to_the_very_number(
    spec: str, order: str, worlds: dict[str, World], tmp_path: Path
) -> None:
    world, (method, k) = worlds[spec], ORDERS[order]
    promise = AllOf(promises=(k, LDiversity(l=2), TCloseness(t=0.7)))
    release = METHODS[method](promise=promise).anonymise(world.matrix)
    made = published(world, release, tmp_path / "out")
    assert made.audit().broken == ()
    assert audit_matrix(world.matrix, release).broken == ()
    assert release.promise.further() == (
        "every released zone covers at least 2 tiles that occur",
        "the destinations of every origin zone differ from those of all by at most 0.7 (total variation)",
    )
    readme = made.folder.public("README.md").read_text()
    assert all(f"- Also: {words}\n" in readme for words in release.promise.further())
    most, far = smallest_cover(release, world.matrix), furthest(release, world.matrix)
    assert most >= 2
    assert 0 < far <= 0.7
    made.promise(LDiversity(l=most), TCloseness(t=far + 1e-7))
    assert made.audit().broken == ()
    made.promise(LDiversity(l=most + 1), TCloseness(t=far + 1e-7))
    assert made.audit().broken == ("zones-diverse",)
    made.promise(LDiversity(l=most), TCloseness(t=far - 1e-7))
    assert made.audit().broken == ("destinations-close",)
    assert "destinations-close" in {found.rule for found in audit_files(made.folder.path) if not found.ok}


@pytest.mark.parametrize("method", ["twincut", "nestedcut", "productcut"])
def test_arrays_are_held_to_the_very_number(method: str, worlds: dict[str, World]) -> None:
    matrix = worlds["dendrogram"].matrix
    release = METHODS[method](promise=TEN).anonymise(matrix)
    most, far = smallest_cover(release, matrix), furthest(release, matrix)
    for least, t, broken in (
        (most, far + 1e-7, ()),
        (most + 1, far + 1e-7, ("zones-diverse",)),
        (most, far - 1e-7, ("destinations-close",)),
    ):  # fmt: skip
        promise = AllOf(promises=(TEN, *([LDiversity(l=least)] if least > 1 else []), TCloseness(t=t)))
        told = replace(release, promise=promise)
        assert audit_matrix(matrix, told).broken == broken


def test_an_order_for_more_than_is_promised_is_not_met(worlds: dict[str, World], tmp_path: Path) -> None:
    world = worlds["h3:9"]
    order = AllOf(promises=(TEN, LDiversity(l=3), TCloseness(t=0.7)))
    made = published(world, METHODS["twincut"](promise=order).anonymise(world.matrix), tmp_path / "out")

    def broken(**ordered: Any) -> tuple[str, ...]:
        with world.connection() as con:
            return audit_folder(made.folder.path, con, tiling=world.tiling, **ordered).broken

    assert broken(diversity={"tiles": 3}, closeness=0.7) == ()
    assert broken(diversity={"tiles": 2}, closeness=0.9) == ()
    assert broken(diversity={"tiles": 4}) == ("zones-diverse",)
    assert broken(diversity={"places": 2}) == ("zones-diverse",)
    assert broken(closeness=0.69) == ("destinations-close",)
    made.folder.restate(TEN.resolve(world.matrix))
    assert broken() == ()
    assert broken(diversity={"tiles": 2}, closeness=0.9) == ("zones-diverse", "destinations-close")


@pytest.mark.parametrize(
    "order", [{"diversity": {"tiles": 1}}, {"diversity": {"cars": 3}}, {"closeness": 0.0}, {"closeness": 1.0}]
)
def test_an_order_that_makes_no_sense(order: dict[str, Any], tmp_path: Path) -> None:
    with World.of(raw_trips(50)).connection() as con, pytest.raises(InputError):
        audit_folder(tmp_path, con, **order)


# --- places ------------------------------------------------------------------------------------------


def with_places(raw: pa.Table) -> pa.Table:
    """Return trips that begin and end at places a hundred metres wide, which cross tiles; some unknown."""
    ends = {}
    for end in "od":
        lat, lon = (np.asarray(raw[f"{end}_{axis}"]) for axis in ("lat", "lon"))
        names = [f"{round(a * 900)} {round(b * 600)}" for a, b in zip(lat, lon, strict=True)]
        unknown = np.arange(len(names)) % 13 == 0
        ends[f"{end}_place"] = pa.array(names, pa.string(), mask=unknown)
    for name, column in ends.items():
        raw = raw.append_column(name, column)
    return raw


def matrix_with_places(world: World) -> ODMatrix:
    """Return the world's matrix with the places of its rows, counted by name."""
    matrix = world.matrix
    rows = [row for row in world.raw.to_pylist() if row["reason"] == 0]
    counted = []
    for end, tree in (("o", matrix.origins), ("d", matrix.destinations)):
        seen = [row for row in rows if row[f"{end}_place"] is not None]
        lat, lon = (np.array([row[f"{end}_{axis}"] for row in seen]) for axis in ("lat", "lon"))
        keys = world.tiling.encode(lat, lon)
        names = sorted({row[f"{end}_place"] for row in seen})
        numbers = np.array([names.index(row[f"{end}_place"]) for row in seen])
        counted.append(count_places(tree, world.tiling.tiles(keys, tree), numbers))
    return replace(matrix, places=PlaceCounts(*counted))


@pytest.fixture(scope="module", params=["h3:9", "quadtree:8"])
def places(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Released:
    """A release whose zones cover at least four places."""
    spec = str(request.param)
    place = {"area": AREA} if spec.startswith("quadtree") else {}
    world = World.of(with_places(raw_trips()), spec, **place)
    matrix = matrix_with_places(world)
    promise = AllOf(promises=(TEN, LDiversity(l=4, of="places")))
    release = METHODS["twincut"](promise=promise).anonymise(matrix)
    return published(world, release, tmp_path_factory.mktemp("places") / "out", matrix)


def test_places_are_counted_afresh(places: Released) -> None:
    assert places.audit().broken == ()
    assert places.release.promise.further() == ("every released zone covers at least 4 places that occur",)
    assert audit_matrix(places.matrix, places.release).broken == ()
    most = smallest_cover(places.release, places.matrix, "places")
    assert most != smallest_cover(places.release, places.matrix), "places and tiles must not be mistaken"
    places.promise(LDiversity(l=most, of="places"))
    assert places.audit().broken == ()
    places.promise(LDiversity(l=most + 1, of="places"))
    assert places.audit().broken == ("zones-diverse",)
    told = AllOf(promises=(TEN, LDiversity(l=most + 1, of="places")))
    assert audit_matrix(places.matrix, replace(places.release, promise=told)).broken == ("zones-diverse",)
    places.promise(LDiversity(l=4, of="places"))


def test_a_raw_input_without_places_cannot_keep_the_promise(places: Released) -> None:
    bare = replace(places.world, raw=places.world.raw.drop_columns(["o_place", "d_place"]))
    assert places.audit(bare).broken == ("zones-diverse",)


def test_a_forger_who_moves_the_places_is_caught(places: Released) -> None:
    """The same trips, all of them at one station: nothing but the places tells the two inputs apart."""
    raw = places.world.raw
    one = pa.array(["station"] * raw.num_rows)
    moved = raw.set_column(raw.column_names.index("o_place"), "o_place", one)
    assert places.audit(replace(places.world, raw=moved)).broken == ("zones-diverse",)
