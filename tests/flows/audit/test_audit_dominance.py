"""What one traveller has of a flow, counted afresh from the raw input: promised, told, and forged."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tripcloak.flows.anonymise import AnonymisationRequest, anonymise
from tripcloak.flows.checking import audit_against
from tripcloak.flows.methods.suppression import Suppression
from tripcloak.flows.reading.matrix import Zoning
from tripcloak.flows.release.largest import FEW, MANY, SOME
from tripcloak.ground.errors import ImpossibleRequestError
from tripcloak.promises import Dominance, KAnonymity, PPercent, all_of
from tripcloak.records.source import TripSource
from worlds.trips import write_csv

FIVE = KAnonymity(k=5, unit="travellers")


def rows(busiest: int, *, weight: float = 1.0, flows: int = 1, busy: int = 1) -> list[dict[str, str]]:
    """Return flows far apart of eleven people, ten of whom make one trip each; one is busy in some flows."""
    made = []
    for flow in range(flows):
        ends = {
            "start_lat": f"{10 + flow}.5",
            "start_lon": "2.0",
            "end_lat": f"{10 + flow}.5",
            "end_lon": "3.0",
        }
        for person in range(11):
            trips = busiest if person == 0 and flow < busy else 1
            own = weight if person == 0 else 1.0
            row = {**ends, "person_id": f"p{flow} {person}", "weight": str(own)}
            made += [
                {**row, "start_time": f"2026-03-01T{n // 60:02d}:{n % 60:02d}:00Z"} for n in range(trips)
            ]
    return made


def made(folder: Path, raw: list[dict[str, str]], *also: Any, **changes: Any) -> tuple[Path, Path]:
    folder.mkdir(exist_ok=True)
    file = write_csv(folder / "trips.csv", raw)
    promise = all_of((FIVE, *also))
    request = AnonymisationRequest(
        source=TripSource(paths=(str(file),)),
        method=Suppression(promise=promise, suppression_limit=0),
        zoning=Zoning(spec="h3:7"),
        out=folder / "out",
        **changes,
    )
    anonymise(request)
    return file, request.out


def restate(out: Path, **entries: Any) -> None:
    """Change entries of the promise's last part, and its words with them."""
    path = out / "release" / "manifest.json"
    facts = json.loads(path.read_text())
    facts["promise"]["promises"][-1] |= entries
    from tripcloak.promises import Promise

    facts["promise"] = Promise.from_manifest(facts["promise"]).stated()
    path.write_text(json.dumps(facts))


EDGES = [
    (Dominance(share=0.5), 10, {"share": 0.49}),
    (PPercent(p=90), 10, {"p": 90.5}),
]


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("rule", "busiest", "tighter"), EDGES, ids=str)
def test_the_very_edge_passes_and_a_hair_less_does_not(
    tmp_path: Path, rule: Any, busiest: int, tighter: dict[str, float]
) -> None:
    file, out = made(tmp_path, rows(busiest), rule)
    report = audit_against(out, (str(file),))
    assert report.safe, report.broken
    restate(out, **tighter)
    assert "no-traveller-dominates" in audit_against(out, (str(file),)).broken
    with pytest.raises(ImpossibleRequestError):
        made(tmp_path / "more", rows(busiest + 1), rule)


def test_on_population_too(tmp_path: Path) -> None:
    rule = Dominance(share=0.5, of=("trips", "population"))
    file, out = made(tmp_path, rows(1, weight=10.0), rule)
    assert audit_against(out, (str(file),)).safe
    restate(out, share=0.49)
    assert "no-traveller-dominates" in audit_against(out, (str(file),)).broken
    with pytest.raises(ImpossibleRequestError):
        made(tmp_path / "more", rows(1, weight=10.5), rule)


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Path]]:
    """A release of twenty flows, in two of which one traveller makes half of the trips."""
    folder = tmp_path_factory.mktemp("told")
    yield made(folder, rows(10, flows=20, busy=2))
    shutil.rmtree(folder)


def test_everybody_learns_a_band_and_the_owner_the_figures(told: tuple[Path, Path]) -> None:
    file, out = told
    facts = json.loads((out / "release" / "manifest.json").read_text())
    assert facts["largest_parts"] == SOME
    assert f"- The busiest: {SOME}" in (out / "release" / "README.md").read_text()
    run = json.loads((out / "private" / "run.json").read_text())
    assert run["largest_parts"] == {"largest": 0.5, "half_or_more": 2, "flows": 20}
    assert audit_against(out, (str(file),)).safe


@pytest.mark.parametrize("words", [FEW, MANY, "in two flows one id makes half or more of the trips"])
def test_another_band_is_caught(told: tuple[Path, Path], tmp_path: Path, words: str) -> None:
    file, out = told
    shutil.copytree(out, tmp_path / "out")
    path = tmp_path / "out" / "release" / "manifest.json"
    path.write_text(path.read_text().replace(SOME, words))
    assert "largest-parts-told" in audit_against(tmp_path / "out", (str(file),)).broken


def test_one_flow_less_is_another_band(tmp_path: Path) -> None:
    file, out = made(tmp_path, rows(10, flows=20, busy=1))
    assert json.loads((out / "release" / "manifest.json").read_text())["largest_parts"] == FEW
    assert audit_against(out, (str(file),)).safe


def test_promised_it_needs_no_band(tmp_path: Path) -> None:
    _, out = made(tmp_path, rows(10), Dominance(share=0.5))
    facts = json.loads((out / "release" / "manifest.json").read_text())
    assert "largest_parts" not in facts
    assert facts["promise"]["promises"][1] == {"kind": "dominance", "of": ["trips"], "share": 0.5}
    readme = " ".join((out / "release" / "README.md").read_text().split())
    assert "no single id has more than 50 % of the trips of a flow" in readme


@pytest.mark.parametrize(
    ("promised", "kind", "met", "unmet"),
    [(Dominance(share=0.5), "dominance", 0.5, 0.499), (PPercent(p=90), "p-percent", 90, 90.1)],
    ids=["dominance", "p-percent"],
)
def test_an_order_for_more_than_is_promised_is_not_met(
    tmp_path: Path, promised: Any, kind: str, met: float, unmet: float
) -> None:
    raw = rows(10)
    file, out = made(tmp_path / "in", raw, promised)
    for number, broken in ((met, ()), (unmet, ("no-traveller-dominates",))):
        assert audit_against(out, (str(file),), parts={kind: number}).broken == broken
    other = "p-percent" if kind == "dominance" else "dominance"
    assert audit_against(out, (str(file),), parts={other: 0.9}).broken == ("no-traveller-dominates",)
