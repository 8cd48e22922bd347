"""Times that say no zone are published without one; those that do, in UTC; and an audit tells them apart."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import tripcloak as tc
from tripcloak.cli.run import run
from tripcloak.ground.folders import json_text


def fixes_in(folder: Path, ending: str, name: str = "time") -> Path:
    """Write fixes of some people whose times end like this, and return the path."""
    path = folder / "fixes.csv"
    people = [(person, hour) for person in range(6) for hour in range(3)]
    lines = [f"u{who},2024-05-01 0{hour}:00:00{ending},48.85,2.3{who % 3}" for who, hour in people]
    path.write_text("\n".join([f"user_id,{name},lat,lon", *lines]) + "\n")
    return path


def released(folder: Path, *options: str) -> Path:
    """Make a release of the fixes and return its public part."""
    out = folder / "out"
    order = ["trajectories", "anonymise", str(folder / "fixes.csv"), "--k", "2", "--out", str(out)]
    assert run([*order, *options]) == 0
    return out / "release"


@pytest.mark.parametrize(
    ("ending", "options", "clock", "first"),
    [
        ("", (), "unknown", "2024-05-01T00:00:00"),
        ("Z", (), "UTC", "2024-05-01T00:00:00Z"),
        ("+02:00", (), "UTC", "2024-04-30T22:00:00Z"),
        ("", ("--timezone", "Europe/Paris"), "UTC", "2024-04-30T22:00:00Z"),
        ("", ("--timezone", "UTC"), "UTC", "2024-05-01T00:00:00Z"),
    ],
)
def test_a_zone_is_published_only_where_it_is_known(
    tmp_path: Path,
    ending: str,
    options: tuple[str, ...],
    clock: str,
    first: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    fixes = fixes_in(tmp_path, ending)
    public = released(tmp_path, *options)
    told = capsys.readouterr().out
    facts = json.loads((public / "manifest.json").read_text())
    assert facts["grid"]["clock"] == clock
    zone = pq.read_schema(public / "samples.parquet").field("t_start").type.tz
    assert zone == ("UTC" if clock == "UTC" else None)
    assert ("Z," in (public / "samples.csv").read_text()) == (clock == "UTC")
    for name in ("trajectories.geojson", "trajectories.mfjson"):
        assert f'"{first}"' in (public / name).read_text()
    assert ("in UTC" in (public / "README.md").read_text()) == (clock == "UTC")
    assert ("times have no zone" in " ".join(told.split())) == (clock == "unknown")
    assert run(["trajectories", "audit", str(tmp_path / "out"), "--against", str(fixes)]) == 0


def test_a_zone_that_nobody_knew_is_found_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fixes = fixes_in(tmp_path, "")
    public = released(tmp_path)
    facts = json.loads((public / "manifest.json").read_text())
    facts["grid"]["clock"] = "UTC"
    (public / "manifest.json").write_text(json_text(facts))
    capsys.readouterr()
    assert run(["trajectories", "audit", str(tmp_path / "out"), "--against", str(fixes), "--json"]) == 1
    broken = {one["rule"] for one in json.loads(capsys.readouterr().out)["findings"] if not one["ok"]}
    assert "grid-of-the-input" in broken


def test_the_name_of_a_column_may_say_the_zone(tmp_path: Path) -> None:
    for name, notes in (("utc_time", 0), ("time", 1)):
        told = tc.trajectories.describe(str(fixes_in(tmp_path, "", name)), time=name).to_dict()["notes"]
        assert sum("times have no zone" in note for note in told) == notes


@pytest.mark.parametrize(("preset", "notes"), [("geolife", 0), ("tdrive", 1)])
def test_a_public_format_may_be_known_to_be_in_utc(tmp_path: Path, preset: str, notes: int) -> None:
    told = tc.trajectories.describe(str(fixes_in(tmp_path, "")), preset=preset).to_dict()["notes"]
    assert sum("times have no zone" in note for note in told) == notes
