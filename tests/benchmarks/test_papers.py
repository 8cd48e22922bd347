"""The scripts that rebuild the papers' tables: their published figures, their rows, their picture."""

from __future__ import annotations

import doctest
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from benchmarks.papers import datasets, tables
from benchmarks.papers.__main__ import main, report
from benchmarks.papers.datasets import MADE, SMALL, CityTrips, GivenTrips, from_dict, to_dict
from benchmarks.papers.figure import DATA as COUNTRIES
from benchmarks.papers.figure import RIVALS, figure, published_ratio, ratios
from benchmarks.papers.published import ATG_DETAILED, ATG_LARGE, ATG_SMALL, SIZES, THESIS, Table
from benchmarks.papers.remarks import ATG_MEASURES, ATG_METHODS, THESIS_METHODS
from benchmarks.papers.runs import ATG_RUNS, Run, thesis_runs
from benchmarks.papers.solving import Result, solved, solved_apart
from benchmarks.stations import Stations
from tripcloak import City, write_city

TINY = Stations(tiles=30, trips=800, towns=2)


def made_up_results() -> dict[str, dict[str, Result]]:
    """Return results with a figure of its own everywhere, one failure, and one method left out."""
    results: dict[str, dict[str, Result]] = {}
    for name in MADE:
        runs = ATG_RUNS if name in COUNTRIES else thesis_runs(name)
        for place, run in enumerate(runs):
            figures = dict.fromkeys(("flows", "trips", "origins", "destinations"), 7)
            figures |= dict.fromkeys(("G", "G_observed", "E", "D", "S", "C_DM", "C_AVG"), 1.25 + place)
            figures |= {"GDM_mean": None, "cpu_s": 0.5, "groups": 3, "safe_flows": 0.1, "safe_volume": 0.2}
            results.setdefault(name, {})[run.title] = {"matrices": [figures, figures]}
    results["nyc"]["glove"] = {"failed": "stopped after 600 s"}
    del results["turin"]["Mondrian"]
    return results


def test_every_published_figure_stands_in_the_tables() -> None:
    text = report(made_up_results())
    for table in (*THESIS.values(), ATG_SMALL, ATG_LARGE):
        assert table.source.lower() in text.lower()
        for figures in table.figures.values():
            row = [tables.shown(measure, value) for measure, value in figures.items()]
            assert any(all(f" {cell} " in line for cell in row) for line in text.splitlines())


def test_every_published_row_has_a_row_of_ours_and_a_word_on_it() -> None:
    for name, table in THESIS.items():
        assert set(table.figures) == {run.published for run in thesis_runs(name)} - {None}
        assert set(table.figures) <= set(THESIS_METHODS)
    for table in (ATG_SMALL, ATG_LARGE, *ATG_DETAILED.values()):
        assert set(table.figures) <= {run.published for run in ATG_RUNS}
        assert set(table.figures) <= set(ATG_METHODS)


def test_a_failure_and_a_missing_run_are_rows_that_say_so() -> None:
    text = report(made_up_results())
    assert any("nyc, glove " in line and "stopped after 600 s" in line for line in text.splitlines())
    assert any(line.startswith("| glove, here") and "without nyc" in line for line in text.splitlines())
    assert any(line.startswith("| Mondrian, here") and "not run" in line for line in text.splitlines())


def test_figures_are_shown_as_the_docstring_says() -> None:
    assert doctest.testmod(tables).failed == 0


def parts(table: Table, method: str, measure: str) -> list[float]:
    return [ATG_DETAILED[name].figures[method][measure] for name in table.data]


@pytest.mark.parametrize(
    ("table", "disagree"), [(ATG_SMALL, {"glove-sk"}), (ATG_LARGE, set())], ids=["table 3", "table 4"]
)
def test_what_was_copied_adds_up_where_the_paper_does(table: Table, disagree: set[str]) -> None:
    """Times of tables 3 and 4 are sums of table 6's whole seconds: a misread figure would stand out."""
    for method in set(table.figures) - {"suppression", "laplace", *disagree}:
        pieces = parts(table, method, "cpu_s")
        told = table.figures[method]["cpu_s"]
        assert sum(pieces) == pytest.approx(told, abs=len(pieces) + 0.02 * told)


def test_what_the_remarks_say_of_the_papers_is_so() -> None:
    assert ATG_SMALL.figures["glove-sk"]["cpu_s"] == 358
    assert sum(parts(ATG_SMALL, "glove-sk", "cpu_s")) == 148
    for method in ("atg-dual", "oigh", "mondrian"):
        assert ATG_LARGE.figures[method]["G"] > max(parts(ATG_LARGE, method, "G"))
    above = [(n, m) for n, t in ATG_DETAILED.items() for m, row in t.figures.items() if row["E"] > 2]
    assert above == [("civ", "atg-soft")]
    assert [t.figures["laplace"]["D"] for t in (ATG_SMALL, ATG_LARGE)] == [6.78, 3.33]
    assert all(
        row["D"] <= 2 for t in (ATG_SMALL, ATG_LARGE) for m, row in t.figures.items() if m != "laplace"
    )
    for table in (ATG_SMALL, ATG_LARGE):
        printed = table.figures["suppression"]
        assert abs(printed["E"] - printed["S"]) > 0.05
        assert abs(printed["D"] - 2 * printed["S"]) > 0.1
        assert f"{printed['S']:.2%}".replace("%", " %") in " ".join(ATG_MEASURES)


def test_suppression_alone_has_e_equal_s_and_d_twice_that() -> None:
    found = solved(TINY, "suppression", {"suppression_limit": 0.999}, 1)["matrices"][0]
    assert 0.05 < found["S"] < 0.95
    assert found["E"] == pytest.approx(found["S"])
    assert found["D"] == pytest.approx(2 * found["S"])


@pytest.mark.parametrize("name", ["nyc", "senegal_crop", "senegal"])
def test_made_up_stations_resemble_the_papers(name: str) -> None:
    matrix = next(MADE[name].matrices(1))
    told, trips = SIZES[name], matrix.flows.trips
    assert matrix.origins.n_tiles == told.origins
    assert matrix.total("trips") == told.trips
    assert matrix.n_flows == pytest.approx(told.flows, rel=0.2)
    assert trips[trips >= 10].sum() / trips.sum() == pytest.approx(told.safe_volume, abs=0.05)


def test_the_same_parameters_give_the_same_matrices() -> None:
    first, again = ([matrix.digest() for matrix in Stations(tiles=30, trips=800).matrices(3)] for _ in "ab")
    assert first == again
    assert len(set(first)) == 3


def test_a_split_country_is_the_whole_one_split() -> None:
    whole = next(TINY.matrices(1))
    split = next(Stations(tiles=30, trips=800, towns=2, parts=(0.7, 0.3)).matrices(1))
    assert split.origins.n_tiles == 2 * whole.origins.n_tiles
    together = np.zeros((30, 30), dtype=int)
    np.add.at(together, (split.flows.origin // 2, split.flows.destination // 2), split.flows.trips)
    assert (together[whole.flows.origin, whole.flows.destination] == whole.flows.trips).all()
    assert together.sum() == 800


def test_data_sets_survive_json() -> None:
    for data in (*MADE.values(), *SMALL.values(), GivenTrips(path="trips.csv", hourly=True)):
        assert from_dict(to_dict(data)) == data


def test_busy_hours_of_a_given_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "trips.parquet"
    write_city(City(trips=3_000, seed=2, days=2), path)
    monkeypatch.setattr(datasets, "ENOUGH_TRIPS", 60)
    hours = list(GivenTrips(path=str(path), tiles="h3:8", hourly=True).matrices(4))
    (whole,) = GivenTrips(path=str(path), tiles="h3:8").matrices(4)
    assert len(hours) == 4
    assert all(60 < hour.total("trips") < whole.total("trips") for hour in hours)
    assert all(hour.times is None for hour in hours)


def test_a_run_apart_gives_what_a_run_here_gives() -> None:
    apart = solved_apart(TINY, Run("ATG-Dual", "atg-dual"), 2, limit_s=120)
    here = solved(TINY, "atg-dual", {}, 2)
    assert [m["G"] for m in apart["matrices"]] == [m["G"] for m in here["matrices"]]
    assert apart["peak_mb"] > 10


def test_a_run_that_takes_too_long_is_stopped_and_says_so() -> None:
    slow = CityTrips(trips=20_000_000, people=2_000_000, radius_km=15, centre_km=5)
    assert solved_apart(slow, Run("TwinCut", "twincut"), 1, limit_s=0.5) == {"failed": "stopped after 0 s"}


def test_a_method_that_is_missing_or_refuses_is_a_row() -> None:
    assert "does not have" in solved(TINY, "magic", {}, 1)["failed"]
    assert "v_target" in solved(TINY, "atg-soft", {"v_target": 1.0, "suppression_limit": 0.0}, 1)["failed"]


def test_the_picture_shows_our_ratios_and_theirs() -> None:
    results = made_up_results()
    drawn = ElementTree.fromstring(figure(results))
    words = " ".join("".join(node.itertext()) for node in drawn.iter() if node.tag.endswith("text"))
    assert all(name in words for name in COUNTRIES)
    glove = next(run for run in ATG_RUNS if run.method == "glove")
    assert ratios(results, "nyc", glove, "G") == []
    assert ratios(results, "civ", glove, "G") == [pytest.approx(5.25 / 1.25)] * 2
    assert published_ratio("civ", "glove", "G") == pytest.approx(35.7 / 57.2)
    assert published_ratio("nyc", "atg-soft", "cpu_s") is None
    crosses = [node for node in drawn.iter() if node.get("stroke") == "#d9480f"]
    shown = [published_ratio(d, m, q) for d in COUNTRIES for m in RIVALS for q in ("G", "E", "cpu_s")]
    assert len(crosses) == 2 * (len([value for value in shown if value is not None]) + 1)


def test_the_whole_command_in_small(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trips = tmp_path / "trips.parquet"
    write_city(City(trips=2_000, people=500, radius_km=3), trips)
    out = tmp_path / "out"
    asked = [
        "--quick",
        "--out",
        str(out),
        "--only",
        "mine",
        "--data",
        f"mine={trips}",
        "--hierarchy",
        "mine=h3:8",
    ]
    assert main([*asked, "--limit", "0.01"]) == 0
    text = (out / "tables.md").read_text(encoding="utf-8")
    assert "### Data of your own: mine" in text
    assert text.count("stopped after 0 s") == len(thesis_runs("mine"))
    with pytest.raises(SystemExit, match="no data set elsewhere"):
        main(["--out", str(out), "--only", "elsewhere"])
    assert "tables.md" in capsys.readouterr().out
