"""The public part gives nothing away: everything in it is read, and every number accounted for."""

from __future__ import annotations

import csv
import itertools
import json
import math
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

import h3
import pytest
from pyarrow import parquet

from tripcloak.flows.reading.matrix import Zoning
from tripcloak.flows.release.tables import POINTS
from worlds.folders import PUBLIC_FILES, PublicPart, read_public
from worlds.trips import Row, leaks, some_trips, without, write_csv, write_zones, zone_trips

KEYS = {
    "format", "kind", "version", "method", "parameters", "promise", "seed", "hierarchy", "homogeneous",
    "groups", "zones", "columns", "counted", "volume", "released", "withheld",
    "typical_zone_km2", "smallest", "bound", "measures", "dropped_rows", "files",
}  # fmt: skip

Pair = tuple[str, str]


class Truth:
    """What the raw rows say, counted by plain loops; which tile went where is read from the private part."""

    def __init__(self, rows: list[Row], out: Path, resolution: int) -> None:
        table = parquet.read_table(out / "private" / "groups.parquet").to_pylist()
        went = {
            (flow["origin"], flow["destination"]): (flow["released_origin"], flow["released_destination"])
            for flow in table
        }
        self.tiles = {tile for pair in went for tile in pair}
        self.trips: dict[Pair, int] = defaultdict(int)
        self.people: dict[Pair, set[str]] = defaultdict(set)
        self.population: dict[Pair, float] = defaultdict(float)
        for row in rows:
            ends = [
                h3.latlng_to_cell(float(row[f"{end}_lat"]), float(row[f"{end}_lon"]), resolution)
                for end in ("start", "end")
            ]
            pair = went[ends[0], ends[1]]
            self.trips[pair] += 1
            self.population[pair] += float(row.get("weight", "nan"))
            if "person_id" in row:
                self.people[pair].add(row["person_id"])

    def support(self, unit: str, pair: Pair) -> float:
        if unit == "travellers":
            return len(self.people.get(pair, ()))
        return {"trips": self.trips, "population": self.population}[unit].get(pair, 0)


WITHHELD: Any = (None, None)


def numbers_in(value: Any) -> set[float]:
    """Return every number in a JSON value, those in texts too."""
    if isinstance(value, dict):
        return set().union(*map(numbers_in, value.values())) if value else set()
    if isinstance(value, list):
        return set().union(*map(numbers_in, value)) if value else set()
    if isinstance(value, str):
        return {float(found.replace(",", "")) for found in re.findall(r"\d[\d,]*(?:\.\d+)?", value)}
    return {float(value)} if isinstance(value, int | float) and not isinstance(value, bool) else set()


def check_tables(public: PublicPart, truth: Truth, columns: list[str], k: int) -> None:
    """Every table tells the same released flows, truly, with the columns that may be told."""
    assert public.manifest["columns"] == columns
    for flow in public.flows:
        assert list(flow) == ["origin", "destination", *columns, *POINTS]
        pair = (flow["origin"], flow["destination"])
        for unit in columns:
            step, true = public.manifest.get("steps", {}).get(unit), truth.support(unit, pair)
            if step is None:
                # Only populations have halves to be rounded.
                assert flow[unit] == pytest.approx(true, rel=0, abs=0.5 + 1e-9)
            else:
                assert flow[unit] - 1e-9 <= true < flow[unit] + step
                assert step == k
                assert flow[unit] % step == 0
    assert public.flows_csv == [{name: str(value) for name, value in flow.items()} for flow in public.flows]
    assert {(flow["origin"], flow["destination"]) for flow in public.flows} == set(truth.trips) - {WITHHELD}
    volumes = [unit for unit in columns if unit != "travellers"]
    for zone in public.zones:
        assert set(zone) - {"geometry"} == {
            "axis",
            "zone",
            "height",
            "tiles",
            "area_km2",
            "lat",
            "lon",
            *volumes,
        }
        own = [flow for flow in public.flows if flow[zone["axis"]] == zone["zone"]]
        assert own
        assert {unit: zone[unit] for unit in volumes} == {u: sum(flow[u] for flow in own) for u in volumes}


def check_zones(public: PublicPart, truth: Truth) -> None:
    """Zones are those of the flows, in their cells' own places; no other cell is named anywhere."""
    released = {flow[axis] for flow in public.flows for axis in ("origin", "destination")}
    listed = {(zone["axis"], zone["zone"]) for zone in public.zones}
    assert listed == {(axis, flow[axis]) for flow in public.flows for axis in ("origin", "destination")}
    assert {(f["properties"]["axis"], f["properties"]["zone"]) for f in public.features} == listed
    assert set(re.findall(r"(?<![0-9a-f.])8[0-9a-f]{14}(?![0-9a-f])", public.text)) == released
    assert [tile for tile in truth.tiles - released if tile in public.text] == []
    for zone in public.zones:
        assert (zone["lat"], zone["lon"]) == pytest.approx(h3.cell_to_latlng(zone["zone"]), abs=1e-9)
    finest = h3.get_resolution(min(truth.tiles))
    for feature in public.features:
        tiles = h3.cell_to_children(feature["properties"]["zone"], finest)
        corners = {(round(lon, 7), round(lat, 7)) for tile in tiles for lat, lon in h3.cell_to_boundary(tile)}
        rings = feature["geometry"]["coordinates"]
        assert {tuple(point) for ring in rings for point in ring} <= corners


def check_manifest(public: PublicPart, truth: Truth, k: int, dropped: dict[str, int]) -> None:
    """Every number of the manifest follows from the released table, or is guarded."""
    facts, volume = public.manifest, public.manifest["volume"]
    released = sum(flow[volume] for flow in public.flows)
    several = {"steps", "columns_words"} if len(facts["columns"]) > 1 else set()
    several |= {"largest_parts"} if "trips" in facts["columns"] else set()
    assert set(facts) == KEYS | several
    assert set(facts["files"]) == PUBLIC_FILES - {"manifest.json"}
    assert set(facts["hierarchy"]) == {"spec"}
    assert facts["released"] == pytest.approx(released, abs=len(public.flows))
    assert facts["groups"] == len(public.flows)
    assert facts["smallest"] == {unit: min(f[unit] for f in public.flows) for unit in facts["columns"]}
    assert set(facts["measures"]) == {"G", "C_AVG"}
    sizes = {(zone["axis"], zone["zone"]): zone["tiles"] for zone in public.zones}
    mass = [
        (sizes["origin", f["origin"]] + sizes["destination", f["destination"]]) * f[volume]
        for f in public.flows
    ]
    assert facts["measures"]["G"] == pytest.approx(sum(mass) / released, rel=1e-12)
    areas = [zone["area_km2"] for zone in public.zones if zone["axis"] == "origin"]
    assert facts["typical_zone_km2"] in {float(f"{area:.3g}") for area in areas}
    withheld, limit = facts["withheld"], facts["parameters"]["suppression_limit"]
    exact = truth.support(volume, WITHHELD) if WITHHELD in truth.trips else 0
    assert withheld["at_least"] <= math.ceil(exact - 1e-6) <= withheld["at_most"]
    assert numbers_in(withheld["words"]) <= {0.0, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100 * limit}
    if facts["bound"] is not None:
        assert set(facts["bound"]) == {"within_percent", "relaxation"}
        assert type(facts["bound"]["within_percent"]) is int
        assert numbers_in(facts["bound"]["relaxation"]) == set()
    assert facts["dropped_rows"] == dropped


def check_words(public: PublicPart, out: Path, rows: list[Row]) -> None:
    """No file tells anything personal, an exact measure of unreleased data, or where the input lay."""
    assert leaks(public.text, rows) == []
    run = json.loads((out / "private" / "run.json").read_text())
    inside = {name: value for name, value in run["measures"].items() if name not in ("G", "C_AVG")}
    awkward = {value for value in inside.values() if isinstance(value, float) and not value.is_integer()}
    assert not {repr(value) for value in awkward} & set(re.findall(r"[\d.e+-]+", public.text))
    for secret in (run["input_digest"], *run["source"]["paths"], Path(run["source"]["paths"][0]).name):
        assert secret not in public.text
    for name in ("flows.csv", "map.html", "manifest.json", "README.md", "zones.geojson"):
        assert leaks((out / "release" / name).read_text(encoding="utf-8"), rows) == []


UNITS = {
    ("travellers",): ["trips", "travellers"],
    ("trips",): ["trips"],
    ("population",): ["population"],
    ("trips", "population"): ["trips", "population"],
    ("travellers", "population"): ["trips", "travellers", "population"],
}


@pytest.mark.one_in(4)
@pytest.mark.parametrize(("units", "seed"), list(itertools.product(UNITS, range(3))), ids=str)
def test_everything_public_is_safe_to_read(make, tmp_path, units, seed):
    rows = some_trips(120 + 40 * seed, people=12 + 9 * seed, seed=seed, spread=0.004 + 0.03 * seed)
    small, large = 3, 25
    # Of few people, of one person alone, and of as many people as rows.
    bad = [{**rows[0], "start_lat": "none"}] * small + [
        {**rows[0], "start_lat": "0", "start_lon": "0"}
    ] * large
    bad += [{**rows[0], "end_lon": "500", "person_id": f"lost {n}"} for n in range(large)]
    file = write_csv(tmp_path / "trips.csv", rows + bad)
    k = 400 if units == ("population",) else 5 + seed
    method = ("odkanon", "twincut", "productcut")[seed]
    outcome = make(file, k=k, units=units, limit=(0.05, 0.1, 0.3)[seed], method=method)
    public, truth = read_public(outcome.out), Truth(rows, outcome.out, 9)
    assert {path.name for path in (outcome.out / "release").iterdir()} == PUBLIC_FILES
    for pair, unit in itertools.product(set(truth.trips) - {WITHHELD}, units):
        assert truth.support(unit, pair) >= k
    check_tables(public, truth, UNITS[units], k)
    check_zones(public, truth)
    check_manifest(public, truth, k, {"out_of_range": large} if k <= large else {})
    check_words(public, outcome.out, rows)


def test_trips_without_ids_have_no_travellers_column(make, tmp_path):
    rows = without(some_trips(200), "person_id", "weight")
    public = read_public(make(write_csv(tmp_path / "trips.csv", rows), k=5).out)
    assert public.manifest["promise"] == {
        "kind": "k-anonymity",
        "k": 5,
        "unit": "trips",
        "sentence": "at least 5 trips, which may be one person's",
    }
    assert public.manifest["columns"] == ["trips"]


class TestWithheldVolume:
    """The withheld volume is told in a band, whoever stands behind it."""

    @staticmethod
    def trips(lone: int, people: int) -> list[Row]:
        """A hundred trips between two places, and lone ones far apart by some people."""
        usual = [{**some_trips(1)[0], "person_id": f"usual {n}", "start_time": ""} for n in range(100)]
        far = [
            {
                **row,
                "person_id": f"lone {n % people}",
                "start_lat": f"{10 + 3 * n}.5",
                "end_lat": f"{12 + 3 * n}.5",
            }
            for n, row in enumerate(some_trips(lone))
        ]
        return without([*usual, *far], "start_time", "weight")

    def test_none_one_and_many_look_alike(self, make, tmp_path):
        """One released pair has no absent one beside it, so nothing but the limit is told."""
        pages = []
        for lone, people in ((0, 1), (1, 1), (8, 1), (8, 4), (8, 8)):
            file = write_csv(tmp_path / "trips.csv", self.trips(lone, people))
            # One flow of a hundred trips and the lone ones: the budget counts rows of the matrix.
            outcome = make(file, k=5, units=("travellers",), limit=0.9, out=f"{lone} of {people}")
            assert int(outcome.release.suppressed.sum()) == lone
            public = read_public(outcome.out)
            numbers = re.findall(r"\d+", public.readme + public.map_words)
            assert not lone or str(100 + lone) not in numbers
            assert "Withheld: between 0 and 90 % of the trips" in public.readme
            assert "between 0 and 90 % of the trips" in public.map_words
            pages.append(public.manifest["withheld"])
        assert pages == [{"at_least": 0, "at_most": 900, "words": "between 0 and 90 % of the trips"}] * 5


@pytest.mark.parametrize("spec", ["dendrogram", "table:county"])
def test_lists_of_members_are_whole_and_tell_nothing_about_the_data(make, tmp_path, spec):
    zones = write_zones(tmp_path / "zones.csv")
    # Zones from z08 on never occur.
    rows = zone_trips(600, zones=8)
    outcome = make(write_csv(tmp_path / "trips.csv", rows), k=10, zoning=Zoning(spec=spec, zones=str(zones)))
    public = read_public(outcome.out)
    with zones.open(newline="") as file:
        known = {row["zone"]: row["county"] for row in csv.DictReader(file)}
    for zone in public.zones:
        assert len(zone["members"]) == zone["tiles"]
        if zone["zone"].startswith("county"):
            assert zone["members"] == sorted(z for z, county in known.items() if county == zone["zone"])
        assert set(zone["members"]) <= set(known)
    assert leaks(public.text, rows) == []
    assert str(zones) not in public.text
    assert zones.name not in public.text


def test_a_quadtree_tells_its_study_area_in_coarse_steps_only(make, tmp_path):
    rows = some_trips(300)
    public = read_public(make(write_csv(tmp_path / "trips.csv", rows), zoning=Zoning(spec="quadtree:6")).out)
    for edge in public.manifest["hierarchy"]["area"]:
        assert round(edge * 20, 9).is_integer()
    assert leaks(public.text, rows) == []


def test_readers_of_every_kind_find_the_zones(make, tmp_path):
    """GeoParquet's own metadata is there, and the outlines in it are those of the GeoJSON."""
    import shapely
    from shapely.geometry import shape

    out = make(write_csv(tmp_path / "trips.csv", some_trips(300))).out
    metadata = parquet.read_schema(out / "release" / "zones.parquet").metadata
    assert set(metadata) == {b"geo"}
    assert json.loads(metadata[b"geo"])["primary_column"] == "geometry"
    public = read_public(out)
    by_zone = {
        (f["properties"]["axis"], f["properties"]["zone"]): shape(f["geometry"]) for f in public.features
    }
    for zone in public.zones:
        assert shapely.from_wkb(zone["geometry"]).equals(by_zone[zone["axis"], zone["zone"]])
