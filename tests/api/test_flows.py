"""The verbs on flows: what is made, saved, opened, audited and measured."""

from __future__ import annotations

import json
import shutil
from datetime import timedelta
from pathlib import Path
from typing import Any

import geopandas
import matplotlib
import pandas as pd
import pyarrow as pa
import pytest
import shapely

import tripcloak as tc
from tripcloak import ImpossibleRequestError, InputError, OutputExistsError
from tripcloak.cli.run import run as tripcloak
from tripcloak.flows.methods.method import FlowMethod
from tripcloak.ground.folders import PUBLIC_FILES

matplotlib.use("Agg")

ASKED: dict[str, dict[str, Any]] = {
    "as it comes": {},
    "k and method": {"k": 5, "method": "odkanon", "levels": 2},
    "slots of time": {"k": 5, "method": "productcut", "time_slot": "6h", "fold": "week"},
    "slots apart": {"k": 5, "slot": "12h", "fold": "day"},
    "two units": {"k": 5, "unit": "travellers,population", "k_population": "auto"},
    "segments together": {"k": 5, "segment": "sex", "segment_joint": True, "method": "odkanon"},
    "boxes": {"k": 5, "method": "mondrian"},
}

FIVE_TRIPS = "at least 5 trips, which may be one person's"


def flags(asked: dict[str, Any]) -> list[str]:
    said = [(f"--{name.replace('_', '-')}", value) for name, value in asked.items()]
    return [part for flag, value in said for part in ([flag] if value is True else [flag, str(value)])]


def bytes_of(folder: Path, *names: str) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in names}


@pytest.mark.parametrize("name", ASKED)
def test_what_is_saved_is_what_the_command_writes(
    name: str, trips: pd.DataFrame, trips_file: Path, tmp_path: Path
) -> None:
    asked = ASKED[name]
    command = ["anonymise", str(trips_file), "--hierarchy", "h3:6", "--out", str(tmp_path / "command")]
    assert tripcloak([*command, *flags(asked), "--json"]) == 0
    release = tc.anonymise(trips, zones="h3:6", **asked)
    assert release.save(tmp_path / "python") == tmp_path / "python"
    names = sorted(path.name for path in (tmp_path / "command" / "release").iterdir())
    assert set(PUBLIC_FILES) <= set(names)
    assert names == sorted(path.name for path in (tmp_path / "python" / "release").iterdir())
    for part, files in (("release", names), ("private", ["groups.parquet", "hierarchy.parquet"])):
        assert bytes_of(tmp_path / "python" / part, *files) == bytes_of(tmp_path / "command" / part, *files)
    told, written = (
        json.loads((tmp_path / side / "private" / "run.json").read_text()) for side in ("python", "command")
    )
    assert told["source"]["paths"] == ["a data frame of 11 columns"]
    names_of_files = [run["cleaning"]["files"][0].pop("name") for run in (told, written)]
    assert names_of_files == ["the data frame", "trips.parquet"]
    for entry in ("input_digest", "tiling", "columns", "cleaning", "measures", "audit"):
        assert told[entry] == written[entry]


def test_a_release_of_a_frame_is_audited_against_a_file_and_the_other_way_round(
    trips: pd.DataFrame, trips_file: Path, tmp_path: Path
) -> None:
    tc.anonymise(trips, zones="h3:7", person="person_id", out=tmp_path / "frame")
    assert tripcloak(["audit", str(tmp_path / "frame"), "--against", str(trips_file), "--json"]) == 0
    tc.anonymise(trips_file, zones="h3:7", out=tmp_path / "file")
    assert tc.audit(tmp_path / "file", against=trips).safe
    assert tc.audit(tmp_path / "frame", against=trips_file).safe
    assert not tc.audit(tmp_path / "frame", against=trips.iloc[:-50]).safe


def test_an_audit_counts_afresh_and_leaves_nothing_behind(
    trips: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    frame = trips.copy()
    release = tc.anonymise(frame, zones="h3:7")
    assert release.audit().safe
    assert release.audit(k=11, memory="1GB").broken == ("every-group-safe",) or release.audit(k=11).safe
    assert not list(tmp_path.iterdir())
    # The frame is looked at again, not what was read of it.
    frame.loc[:, "person_id"] = "one and the same"
    found = release.audit()
    assert not found.safe
    assert "every-group-safe" in found.broken
    assert "NOT SAFE" in repr(release)
    assert not list(tmp_path.iterdir())


def test_an_order_of_more_than_was_promised_says_nothing_about_the_promise(trips: pd.DataFrame) -> None:
    release = tc.anonymise(trips, zones="h3:7")
    assert not release.audit(k=200).safe
    assert "safe to publish" in repr(release)
    assert "may be published" in release._repr_html_()
    assert not release.audit(against=trips.iloc[:-50]).safe
    assert "may be published" not in release._repr_html_()
    assert "Do not publish it" in release._repr_html_()


def test_a_saved_release_is_audited_where_it_lies(trips: pd.DataFrame, tmp_path: Path) -> None:
    release = tc.anonymise(trips, zones="h3:7")
    release.save(tmp_path / "out")
    assert release.audit().safe
    path = tmp_path / "out" / "release" / "flows.csv"
    path.write_text(path.read_text() + "x")
    assert "digests-match" in release.audit().broken


def test_nothing_is_replaced_unless_asked(trips: pd.DataFrame, tmp_path: Path) -> None:
    release = tc.anonymise(trips, zones="h3:6", out=tmp_path / "out")
    for again in (
        lambda: release.save(tmp_path / "out"),
        lambda: tc.anonymise(trips, zones="h3:6", out=tmp_path / "out"),
    ):
        with pytest.raises(OutputExistsError, match="force=True"):
            again()
    release.save(tmp_path / "out", force=True)
    assert tc.anonymise(trips, zones="h3:6", out=tmp_path / "out", force=True).audit().safe


def test_an_unsafe_release_is_never_returned(trips: pd.DataFrame, monkeypatch: pytest.MonkeyPatch) -> None:
    from tripcloak.ground.rulebook import Finding, Verdict

    failed = Verdict.of([Finding("every-group-safe", False, "no")])
    monkeypatch.setattr("tripcloak.flows.anonymise.audit_matrix", lambda *_, **__: failed)
    with pytest.raises(tc.TripcloakError, match="failed its own audit"):
        tc.anonymise(trips, zones="h3:7")


def test_what_is_opened_is_what_was_saved(trips: pd.DataFrame, tmp_path: Path) -> None:
    made = tc.anonymise(trips, zones="h3:7", out=tmp_path / "out")
    opened = tc.open(tmp_path / "out")
    assert isinstance(opened, tc.ReleasedFlows)
    for table in ("flows", "zones"):
        assert opened.to_arrow(table).equals(made.to_arrow(table))
    assert opened.private.to_arrow("groups").equals(made.private.to_arrow("groups"))
    assert {name: value for name, value in opened.facts.items() if name != "files"} == made.facts
    assert opened.map().html == made.map().html
    assert opened.private.made is None
    assert opened.private.run["audit"]["safe"]
    assert opened.measures(against=trips).to_dict() == made.measures().to_dict()
    for ask in (opened.audit, opened.measures):
        with pytest.raises(InputError, match=r"against=\.\.\."):
            ask()
    with pytest.raises(InputError, match="copy that one"):
        opened.save(tmp_path / "again")


def test_a_folder_that_is_no_release(tmp_path: Path) -> None:
    for place in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(InputError, match="holds no release"):
            tc.open(place)
        with pytest.raises(InputError, match="holds no release"):
            tc.audit(place, against="trips.csv")


def test_totals_and_levels_are_frames_in_memory_and_in_a_folder(trips: pd.DataFrame, tmp_path: Path) -> None:
    out = tmp_path / "out"
    asked = {"k": 5, "zones": "h3:7", "method": "odkanon", "with_margins": True}
    made = tc.anonymise(trips, **asked, with_levels=[6, 5], out=out)
    for release in (made, tc.open(out)):
        cells, levels = release.tables, release.levels
        assert isinstance(levels, geopandas.GeoDataFrame)
        assert set(levels.level) == {"own", "6", "5"}
        everything = cells[(cells.origin_level == "all") & (cells.destination_level == "all")]
        assert everything.trips.tolist() == [cells[cells.origin_level == "all"].trips.max()]
        assert len(cells) == len(release.to_arrow("tables"))
    assert made.tables.equals(tc.open(out).tables)
    margins = tc.anonymise(trips, **asked)
    assert margins.levels is None
    assert set(margins.tables.origin_level) == {"own", "all"}


def test_tables_come_in_the_kind_that_is_wanted(release: tc.ReleasedFlows) -> None:
    flows, zones = release.flows, release.zones
    assert isinstance(flows, pd.DataFrame)
    assert isinstance(zones, geopandas.GeoDataFrame)
    assert zones.crs == "EPSG:4326"
    assert zones.geometry.is_valid.all()
    assert release.to_polars().to_arrow().num_rows == len(flows) == release.facts["groups"]
    assert isinstance(release.to_arrow("zones"), pa.Table)
    assert release.segments is None
    assert release.tables is None
    assert release.levels is None
    with pytest.raises(InputError, match="no table 'segments'; it has flows, zones"):
        release.to_arrow("segments")
    flows.loc[:, "trips"] = 0
    assert release.flows.trips.min() >= 10


def test_measures_are_those_of_the_command(
    trips: pd.DataFrame, release: tc.ReleasedFlows, tmp_path: Path
) -> None:
    measures = release.measures()
    assert measures["S"] <= 0.1
    assert set(measures.table.measure) <= set(measures)
    by_population = release.measures(volume="population")
    assert by_population["G"] != measures["G"]
    tc.anonymise(trips, zones="h3:7", out=tmp_path / "out")
    assert tc.measures(tmp_path / "out", against=trips, volume="population")["G"] == by_population["G"]
    with pytest.raises(InputError, match=r"volume must be trips or population"):
        release.measures(volume="people")


def test_a_method_is_a_name_a_class_or_an_object(trips: pd.DataFrame) -> None:
    by_name = tc.anonymise(trips, zones="h3:7", method="odkanon", k=5, suppress=0.05, levels=2)
    promise = tc.KAnonymity(k=5, unit="travellers")
    method = tc.ODkAnon(promise=promise, suppression_limit=0.05, levels=2)
    by_class = tc.anonymise(trips, zones="h3:7", method=tc.ODkAnon, k=5, suppress=0.05, levels=2)
    by_object = tc.anonymise(trips, zones="h3:7", method=method)
    assert by_name.facts == by_class.facts == by_object.facts


def test_what_is_given_beside_an_object_counts(trips: pd.DataFrame) -> None:
    method = tc.ODkAnon(promise=tc.KAnonymity(k=5, unit="trips"), suppression_limit=0.05)
    assert tc.anonymise(trips, zones="h3:7", method=method).facts["promise"]["sentence"] == FIVE_TRIPS
    given = tc.anonymise(trips, zones="h3:7", method=method, k=10)
    assert given.facts["promise"]["sentence"] == "at least 10 people"
    assert given.facts["parameters"]["suppression_limit"] == 0.05
    looser = tc.anonymise(trips, zones="h3:7", method=method, suppress=0.2, levels=2)
    assert looser.facts["promise"]["sentence"] == FIVE_TRIPS
    assert looser.facts["parameters"] == {**looser.facts["parameters"], "suppression_limit": 0.2, "levels": 2}
    with pytest.raises(InputError, match="name of a method or its object; got a dict"):
        tc.anonymise(trips, method={})  # type: ignore[typeddict-item]
    assert isinstance(method, FlowMethod)


def test_values_may_be_those_of_python(trips: pd.DataFrame) -> None:
    box = (48.0, 17.0, 49.5, 19.5)
    textual = tc.anonymise(
        trips,
        k=5,
        hierarchy="h3:6",
        box="48.0,17.0,49.5,19.5",
        time_slot="6h",
        fold="day",
        method="productcut",
    )
    native = tc.anonymise(
        trips,
        k=5,
        zones="h3:6",
        box=box,
        time_slot=timedelta(hours=6),
        fold="day",
        method="productcut",
        unit=["travellers"],
    )
    assert textual.to_arrow().equals(native.to_arrow())


def test_zones_may_be_a_table(trips: pd.DataFrame, tmp_path: Path) -> None:
    west, south = 18.0, 48.5
    squares = [
        shapely.box(west + 0.1 * x, south + 0.1 * y, west + 0.1 * (x + 1), south + 0.1 * (y + 1))
        for x in range(6)
        for y in range(6)
    ]
    named = {"zone": [f"z{n}" for n in range(36)], "county": [f"c{n // 12}" for n in range(36)]}
    zones = geopandas.GeoDataFrame(named, geometry=squares, crs=4326)
    zones.to_parquet(tmp_path / "zones.parquet")
    asked = {"k": 5, "hierarchy": "table:county"}
    from_file = tc.anonymise(trips, zones=tmp_path / "zones.parquet", **asked)
    from_table = tc.anonymise(trips, zones=zones.to_crs(3857), **asked, out=tmp_path / "out")
    assert from_table.to_arrow().equals(from_file.to_arrow())
    # The release keeps its zones, so that it can be audited from anywhere.
    assert from_table.audit().safe
    assert tc.audit(tmp_path / "out", against=trips).safe
    # Zones need no word on how they are joined.
    assert tc.anonymise(trips, zones=zones, k=5).facts["hierarchy"]["spec"] == "dendrogram"
    with pytest.raises(InputError, match=r"names no hierarchy such as h3:9.*hierarchy='dendrogram'"):
        tc.anonymise(trips, zones="h33:9")
    with pytest.raises(InputError, match=r"a data frame .*got a int"):
        tc.anonymise(trips, zones=7)  # type: ignore[call-overload]
    with pytest.raises(InputError, match=r"h3:9 makes its own zones"):
        tc.anonymise(trips, zones=zones, hierarchy="h3:9")
    with pytest.raises(InputError, match=r"zone_id names a column of a zones file"):
        tc.anonymise(trips, zone_id="county")


def test_one_release_a_segment(trips: pd.DataFrame, trips_file: Path, tmp_path: Path) -> None:
    found = tc.anonymise(trips, k=5, zones="h3:6", segment="sex", draws=1)
    assert isinstance(found, tc.ReleasedSegments)
    assert set(found) == {"sex=F", "sex=M"}
    assert found["sex=F"].facts["segment"] == {"sex": "F"}
    assert found["sex=F"].audit().safe
    assert list(found.fairness.segment) == list(found)
    command = ["anonymise", str(trips_file), "--k", "5", "--hierarchy", "h3:6", "--segment", "sex"]
    assert tripcloak([*command, "--draws", "1", "--out", str(tmp_path / "command"), "--json"]) == 0
    found.save(tmp_path / "python")
    for name in ("sex=F", "sex=M"):
        sides = (tmp_path / side / name / "release" for side in ("python", "command"))
        one, other = (bytes_of(side, *PUBLIC_FILES) for side in sides)
        assert one == other
    assert bytes_of(tmp_path / "python", "fairness.csv") == bytes_of(tmp_path / "command", "fairness.csv")
    assert "sex=F" in found._repr_html_()
    assert repr(found) == "<ReleasedSegments: 2 releases: sex=F; sex=M>"


def test_methods_side_by_side(trips: pd.DataFrame, tmp_path: Path) -> None:
    found = tc.compare(trips, k=[5, 10], methods=["oigh", "laplace"], zones="h3:6", out=tmp_path / "compared")
    assert found.table[found.table.method == "oigh"].audit.tolist() == ["safe"] * 2
    assert found.best == "oigh"
    assert len(found.choices) == 2
    assert (tmp_path / "compared" / "compare.html").is_file()
    reason = found.table[found.table.method == "laplace"].reason.iloc[0]
    assert "laplace needs epsilon=..." in reason
    card = found._repr_html_()
    assert "<summary>1 did not run</summary>" in card
    assert card.count("laplace") == 2
    assert 'title="share of the volume that is withheld"' in card
    assert tc.compare(trips, k="5", methods="oigh", zones="h3:6", suppress=0.1).table.k.tolist() == [5]


def test_what_cannot_be_had_is_said(trips: pd.DataFrame) -> None:
    with pytest.raises(ImpossibleRequestError, match=r"`tripcloak\.describe` shows what is realistic"):
        tc.anonymise(trips, k=10_000)
    with pytest.raises(InputError, match=r"twincut has no option levels"):
        tc.anonymise(trips, levels=3)
    with pytest.raises(TypeError, match=r"no keyword 'persn'; did you mean person\?"):
        tc.anonymise(trips, persn="x")  # type: ignore[call-overload]
    with pytest.raises(InputError, match=r"slot keeps slots apart and time_slot"):
        tc.anonymise(trips, slot="1h", time_slot="1h")


def test_zones_are_drawn_by_volume(release: tc.ReleasedFlows) -> None:
    drawn = release.plot()
    origins = release.zones[release.zones.axis == "origin"]
    assert len(drawn.collections[0].get_paths()) == len(origins)
    assert set(drawn.collections[0].get_array()) == set(origins.trips)
    release.plot("destination", ax=drawn, cmap="viridis")
    with pytest.raises(InputError, match="no outlines of time zones"):
        release.plot("time")


def test_a_map_is_one_page(release: tc.ReleasedFlows, tmp_path: Path) -> None:
    page = release.map()
    assert page.save(tmp_path / "map.html").read_text(encoding="utf-8") == page.html
    with pytest.raises(OutputExistsError):
        page.save(tmp_path / "map.html")
    assert 'sandbox="allow-scripts"' in page._repr_html_()
    assert "<!doctype" not in page._repr_html_()


def test_the_public_part_alone_is_shown_and_says_what_it_lacks(trips: pd.DataFrame, tmp_path: Path) -> None:
    made = tc.anonymise(trips, zones="h3:7", k=5, out=tmp_path / "out")
    shutil.copytree(tmp_path / "out" / "release", tmp_path / "downloaded")
    alone = tc.open(tmp_path / "downloaded")
    assert isinstance(alone, tc.ReleasedFlows)
    assert alone.flows.equals(made.flows)
    for asked in (
        lambda: alone.audit(against=trips),
        lambda: alone.private.groups,
        lambda: alone.private.run,
    ):
        with pytest.raises(InputError, match="holds the public part of a release alone"):
            asked()
    with pytest.raises(InputError, match="copy that one"):
        alone.save(tmp_path / "again")
    assert tc.open(tmp_path / "out" / "release").audit(against=trips).safe
