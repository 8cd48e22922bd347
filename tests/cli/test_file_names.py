"""The whole road with files and folders whose names every library would take for something else."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

import tripcloak as tc
from tripcloak.hierarchy.zonefile.zones import ZoneFile
from worlds.file_names import ALL_AT_ONCE
from worlds.fixes import some_fixes
from worlds.folders import is_whole
from worlds.trips import Row, some_trips, write_csv, write_zones, zone_trips

QUICK = ("--k", 5, "--draws", 1)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in by relative paths; a home beside it, where nothing may turn up."""
    for name in ("work", "home"):
        (tmp_path / name).mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path / "work"


def checked(tripcloak: Any, *arguments: object) -> dict[str, Any]:
    told = tripcloak(*arguments, "--json")
    assert told.code == 0, told.err
    found: dict[str, Any] = told.json
    return found


def test_flows_by_their_names(tripcloak: Any, here: Path) -> None:
    inputs, out = f"./{ALL_AT_ONCE}.csv", f"./{ALL_AT_ONCE}"
    write_csv(Path(inputs), some_trips(300))
    how = ("anonymise", inputs, "--hierarchy", "h3:8", *QUICK)
    assert checked(tripcloak, *how, f"--out={out}")["audit"]["safe"]
    assert checked(tripcloak, *how, f"--out={out}", "--force")["audit"]["safe"]
    assert is_whole(Path(out))
    assert checked(tripcloak, "audit", out, "--against", inputs)["safe"]
    assert checked(tripcloak, "measures", out, "--against", inputs)
    public = tc.open(out)
    assert len(public.flows) == len(Path(out, "release", "flows.csv").read_text().splitlines()) - 1
    assert len(public.private.groups)
    assert sorted(os.listdir(here)) == sorted([Path(inputs).name, Path(out).name])
    assert os.listdir(here.parent / "home") == []


def test_zones_by_their_name(tripcloak: Any, here: Path) -> None:
    """The zones beside them, which a pattern would match, are other ones."""
    trips = write_csv(here / "trips.csv", zone_trips(400))
    zones = write_zones(here / "[z].csv")
    write_csv(here / "z.csv", [{"zone": "elsewhere", "lat": "1.0", "lon": "1.0", "county": "none"}])
    parquet = Path(f"{ALL_AT_ONCE}.parquet")
    ZoneFile.read(zones).write(parquet)
    for given in (zones, f"./{parquet}"):
        how = ("--hierarchy", "table:county", f"--zones={given}", *QUICK)
        assert checked(tripcloak, "anonymise", trips, *how, "--out=./[o]", "--force")["audit"]["safe"]
        assert checked(tripcloak, "audit", "./[o]", "--against", trips)["safe"]


def test_segments_by_their_name(tripcloak: Any, here: Path) -> None:
    rows: list[Row] = some_trips(400)
    sex = {one: "FM"[at % 2] for at, one in enumerate(sorted({row["person_id"] for row in rows}))}
    write_csv(Path(f"{ALL_AT_ONCE}.csv"), [{**row, "sex": sex[row["person_id"]]} for row in rows])
    inputs = f"./{ALL_AT_ONCE}.csv"
    how = ("--segment", "sex", "--hierarchy", "h3:7", *QUICK)
    made = checked(tripcloak, "anonymise", inputs, *how, f"--out=./{ALL_AT_ONCE}")
    for outcome in made["segments"].values():
        assert outcome["audit"]["safe"]
    assert checked(tripcloak, "audit", outcome["out"], "--against", inputs)["safe"]
    assert os.listdir(here.parent / "home") == []


def test_trajectories_by_their_names(tripcloak: Any, here: Path) -> None:
    inputs, out = f"./{ALL_AT_ONCE}.csv", f"./{ALL_AT_ONCE}"
    write_csv(Path(inputs), some_fixes())
    how = ("trajectories", "anonymise", inputs, "--k", 2, "--method", "glove")
    assert checked(tripcloak, *how, f"--out={out}")["audit"]["safe"]
    assert checked(tripcloak, *how, f"--out={out}", "--force")["audit"]["safe"]
    assert checked(tripcloak, "trajectories", "audit", out, "--against", inputs)["safe"]
    assert checked(tripcloak, "trajectories", "measures", out, "--against", inputs)
    assert len(tc.open(out).samples)
    assert sorted(os.listdir(here)) == sorted([Path(inputs).name, Path(out).name])
    assert os.listdir(here.parent / "home") == []


def test_the_same_by_python(here: Path) -> None:
    """What a pattern would match are other people's records."""
    write_csv(here / "a1b.csv", some_trips(300, seed=2))
    write_csv(here / "a*b.csv", some_trips(200))
    alone = tc.anonymise(Path("a*b.csv"), k=5, zones="h3:7")
    write_csv(here / "plain.csv", some_trips(200))
    assert alone.flows.equals(tc.anonymise("plain.csv", k=5, zones="h3:7").flows)
    alone.save(Path(ALL_AT_ONCE))
    assert tc.audit(Path(ALL_AT_ONCE), against="a*b.csv").safe
