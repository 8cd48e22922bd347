"""Rounded releases pass, say what they are in every file, and every lie about them is caught."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pyarrow import parquet

from forgeries.consistent import change_flows, facts_of, rewrite
from tripcloak.flows.anonymise import AnonymisationOutcome, AnonymisationRequest, anonymise
from tripcloak.flows.checking import audit_against, check_flows, measure_against
from tripcloak.flows.keywords import flow_method, keywords
from tripcloak.flows.methods import ODkAnon
from tripcloak.flows.protection import round_to
from tripcloak.flows.reading.matrix import Zoning
from tripcloak.flows.release.bricks import TablesWanted
from tripcloak.flows.release.rounding import RoundTo
from tripcloak.ground.errors import InputError
from tripcloak.ground.options import values_of
from tripcloak.promises import KAnonymity
from tripcloak.receiving.check import check_release
from tripcloak.records.source import TripSource
from worlds.released_flows import Folder
from worlds.trips import some_trips, write_csv

SECRET = "a secret of these tests"


@pytest.fixture(scope="module")
def trips(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_csv(tmp_path_factory.mktemp("raw") / "trips.csv", some_trips(900, people=120))


@pytest.fixture(scope="module")
def made(trips: Path, tmp_path_factory: pytest.TempPathFactory) -> AnonymisationOutcome:
    return anonymise(
        AnonymisationRequest(
            source=TripSource(paths=(str(trips),)),
            method=ODkAnon(promise=KAnonymity(k=6, unit="travellers"), suppression_limit=0.2),
            zoning=Zoning(spec="h3:8"),
            round_to=RoundTo(3, SECRET),
            out=tmp_path_factory.mktemp("made") / "out",
        )
    )


def broken(folder: Path, trips: Path) -> tuple[str, ...]:
    return audit_against(folder, (str(trips),)).broken


def test_a_rounded_release_passes_and_says_so_everywhere(made: AnonymisationOutcome, trips: Path) -> None:
    assert broken(made.out, trips) == ()
    assert all(finding.ok for finding in check_flows(made.out / "release"))
    facts = facts_of(made.out)
    assert facts["promise"]["promises"][1] == {"kind": "rounding", "base": 3, "sums": True}
    assert facts["columns"] == ["trips"]
    assert facts["withheld"]["at_most"] is None
    words = (
        "every number of trips is a multiple of 3; the true one of a flow, of a zone and of all flows is less"
    )
    readme = " ".join((made.out / "release" / "README.md").read_text().split())
    assert words in readme
    assert any(words in line.lower() for line in check_release(made.out / "release").promised)
    zones = parquet.read_table(made.out / "release" / "zones.parquet")
    flows = parquet.read_table(made.out / "release" / "flows.parquet")
    assert not np.any(zones["trips"].to_numpy() % 3)
    assert facts["released"] == flows["trips"].to_numpy().sum()


def test_what_it_costs_stays_inside(made: AnonymisationOutcome, trips: Path) -> None:
    run = json.loads((made.out / "private" / "run.json").read_text())
    assert run["secret"] == SECRET
    costs = {name: value for name, value in run["measures"].items() if name.startswith("rounding_")}
    assert set(costs) == {"rounding_mean", "rounding_zone", "rounding_total"}
    assert 0 < costs["rounding_mean"] < 3
    assert made.to_dict()["measures"] == made.measures
    assert not any("--publish" in note or "multiples" in note for note in made.notes)
    again = measure_against(made.out, (str(trips),))
    assert {name: again[name] for name in costs} == costs
    public = b"".join(path.read_bytes() for path in sorted((made.out / "release").iterdir()))
    assert SECRET.encode() not in public
    assert b"rounding_mean" not in public


def add(*amounts: int) -> Callable[[list[dict[str, Any]]], None]:
    """Return a change of the first flows by these amounts."""

    def change(rows: list[dict[str, Any]]) -> None:
        for row, amount in zip(rows, amounts, strict=False):
            row["trips"] += amount

    return change


@pytest.mark.parametrize(
    ("change", "rule"),
    [(add(1), "numbers-rounded"), (add(3, -3), "flows-match-recount"), (add(6), "flows-match-recount")],
    ids=["no multiple", "two multiples moved", "too far"],
)
def test_other_numbers_in_every_file_are_caught(
    made: AnonymisationOutcome, trips: Path, tmp_path: Path, change: Any, rule: str
) -> None:
    folder = Path(shutil.copytree(made.out, tmp_path / "out"))
    change_flows(folder, change)
    assert rule in broken(folder, trips)


def test_sums_that_drift_away_are_caught_though_every_flow_is_close(
    made: AnonymisationOutcome, trips: Path, tmp_path: Path
) -> None:
    true = {
        (made.release.origins.ids[o], made.release.destinations.ids[d]): int(n)
        for o, d, n in zip(
            made.release.group_origin, made.release.group_destination, made.release.trips, strict=True
        )
    }

    def upwards(rows: list[dict[str, Any]]) -> None:
        for row in rows:
            row["trips"] = -(-true[row["origin"], row["destination"]] // 3) * 3

    folder = Path(shutil.copytree(made.out, tmp_path / "out"))
    change_flows(folder, upwards)
    found = broken(folder, trips)
    assert "sums-close" in found
    assert "flows-match-recount" not in found
    facts = facts_of(folder)
    facts["promise"]["promises"][1]["sums"] = False
    rewrite(folder, facts)
    assert "sums-close" not in broken(folder, trips), "nothing is promised of sums now"


@pytest.mark.parametrize(
    "entries",
    [{"base": 2}, {"base": 6}, {"base": 1}, {"base": 3.0}, {"sums": 1}, {"sums": None}, {"more": 1}],
    ids=str,
)
def test_another_promise_is_caught(
    made: AnonymisationOutcome, trips: Path, tmp_path: Path, entries: dict[str, Any]
) -> None:
    folder = Path(shutil.copytree(made.out, tmp_path / "out"))
    facts = facts_of(folder)
    facts["promise"]["promises"][1] |= entries
    path = folder / "release" / "manifest.json"
    try:
        rewrite(folder, facts)
    except Exception:
        path.write_text(json.dumps(facts))
    assert set(broken(folder, trips)) - {"manifest-as-made", "manifest-as-written", "digests-match"}


@pytest.mark.parametrize(
    "change",
    [
        lambda facts: facts["promise"].update(promises=facts["promise"]["promises"][:1]),
        lambda facts: facts.update(withheld={"at_least": 0, "at_most": 99, "words": "between 0 and 9 %"}),
        lambda facts: facts.pop("columns_words"),
        lambda facts: facts.update(columns_words="trips are exact"),
    ],
    ids=["exact", "withheld", "no words", "other words"],
)
def test_other_entries_are_caught(
    made: AnonymisationOutcome, trips: Path, tmp_path: Path, change: Callable[[dict[str, Any]], Any]
) -> None:
    folder = Path(shutil.copytree(made.out, tmp_path / "out"))
    facts = facts_of(folder)
    change(facts)
    (folder / "release" / "manifest.json").write_text(json.dumps(facts))
    assert set(broken(folder, trips)) - {"manifest-as-made", "digests-match"}


def test_travellers_beside_rounded_trips_are_caught(
    made: AnonymisationOutcome, trips: Path, tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(made.out, tmp_path / "out"))
    path = folder / "release" / "flows.parquet"
    table = parquet.read_table(path)
    parquet.write_table(table.append_column("travellers", table["trips"]), path, store_schema=False)
    assert "numbers-rounded" in broken(folder, trips)


def test_secrets_are_those_of_a_file_or_of_the_hidden_choices(tmp_path: Path) -> None:
    def asked(**given: Any) -> RoundTo | None:
        values = values_of(keywords("anonymise"), {"method": "productcut", **given})
        return round_to(values, flow_method(values))

    file = tmp_path / "secret"
    file.write_text(f"{SECRET}\n")
    assert asked() is None
    assert asked(round=5, secret=str(file)) == RoundTo(5, SECRET)
    assert asked(round=5, secret=str(file), hide_choices=True) == RoundTo(5, SECRET)
    assert asked(round=5) != asked(round=5)
    with pytest.raises(InputError, match="noisy"):
        asked(round=5, method="laplace", epsilon=1.0)
    with pytest.raises(InputError, match="goes with"):
        asked(secret=str(file))


@pytest.fixture(scope="module")
def with_tables(trips: Path, tmp_path_factory: pytest.TempPathFactory) -> AnonymisationOutcome:
    return anonymise(
        AnonymisationRequest(
            source=TripSource(paths=(str(trips),)),
            method=ODkAnon(promise=KAnonymity(k=6, unit="travellers"), suppression_limit=0.2),
            zoning=Zoning(spec="h3:9"),
            round_to=RoundTo(3, SECRET),
            tables=TablesWanted(levels=(9, 7), margins=True),
            out=tmp_path_factory.mktemp("tables") / "out",
        )
    )


def test_totals_and_levels_are_sums_of_rounded_flows(with_tables: AnonymisationOutcome, trips: Path) -> None:
    assert broken(with_tables.out, trips) == ()
    assert all(finding.ok for finding in check_flows(with_tables.out / "release"))
    flows = parquet.read_table(with_tables.out / "release" / "flows.parquet").to_pylist()
    rows = parquet.read_table(with_tables.out / "release" / "tables.parquet").to_pylist()
    total = sum(flow["trips"] for flow in flows)
    assert len({(row["origin_level"], row["destination_level"]) for row in rows}) > 5
    by_table: dict[tuple[str, str], int] = {}
    for row in rows:
        assert row["trips"] % 3 == 0
        table = row["origin_level"], row["destination_level"]
        by_table[table] = by_table.get(table, 0) + row["trips"]
    assert set(by_table.values()) == {total}
    for row in rows:
        if (row["origin_level"], row["destination_level"]) == ("own", "all"):
            assert row["trips"] == sum(one["trips"] for one in flows if one["origin"] == row["origin"])


@pytest.mark.parametrize(
    ("amounts", "rule"), [((3,), "tables-add-up"), ((3, -3), "tables-add-up"), ((1,), "tables-match-recount")]
)
def test_other_numbers_in_tables_are_caught(
    with_tables: AnonymisationOutcome, trips: Path, tmp_path: Path, amounts: tuple[int, ...], rule: str
) -> None:
    folder = Folder(Path(shutil.copytree(with_tables.out, tmp_path / "out")))
    folder.edit_rows("release/tables.parquet", add(*amounts))
    folder.refresh()
    assert rule in broken(folder.path, trips)
