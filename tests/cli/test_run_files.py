"""Runs as files: asked for by init, by a rule, written down with a release, and run again."""

from __future__ import annotations

import io
import subprocess
import tomllib
from pathlib import Path

import duckdb
import pytest
from pyarrow import parquet

from tripcloak.cli.app import COMMANDS, parameters_of
from tripcloak.cli.rules import RULES
from tripcloak.cli.run import run
from worlds.released_flows import raw_trips


@pytest.fixture
def trips(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    parquet.write_table(raw_trips(), tmp_path / "trips.parquet")
    return tmp_path


def answer(monkeypatch: pytest.MonkeyPatch, *answers: str) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{one}\n" for one in answers)))


def same(one: Path, other: Path) -> bool:
    files = sorted(path.relative_to(one) for path in one.rglob("*") if path.is_file())
    return bool(files) and all((one / path).read_bytes() == (other / path).read_bytes() for path in files)


def test_what_was_asked_for_makes_the_same_release_from_anywhere(
    trips: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = ["anonymise", "trips.parquet", "--rule", "mds-10", "--hierarchy", "h3:7", "--out", "out"]
    assert run([*asked, "--k", "12"]) == 0
    told = tomllib.loads((trips / "out/private/run.toml").read_text())
    assert told == {
        "inputs": [str(trips / "trips.parquet")],
        "hierarchy": "h3:7",
        "k": 12,
        "unit": "trips",
    }
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    assert (
        run(["anonymise", "--config", str(trips / "out/private/run.toml"), "--out", str(trips / "again")])
        == 0
    )
    assert same(trips / "out/release", trips / "again/release")


def test_files_patterns_and_databases_are_told_from_anywhere(trips: Path) -> None:
    with duckdb.connect(str(trips / "city.duckdb")) as con:
        con.execute("CREATE TABLE trips AS FROM 'trips.parquet'").fetchall()
    (trips / "here.geojson").write_text(
        '{"type": "Polygon", "coordinates": [[[-180, -90], [180, -90], [180, 90], [-180, 90], [-180, -90]]]}'
    )
    for given in ("*.parquet", "city.duckdb#trips"):
        asked = ["anonymise", given, "--polygon", "here.geojson", "--hierarchy", "h3:6"]
        assert run([*asked, "--out", "out", "--force"]) == 0
        told = tomllib.loads((trips / "out/private/run.toml").read_text())
        assert told["inputs"] == [str(trips / given)]
        assert told["polygon"] == str(trips / "here.geojson")


def test_init_writes_what_anonymise_takes(trips: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answer(monkeypatch, "trips.parquet", "n", "cnil-10", "h3:7", "20%", "out")
    assert run(["init"]) == 0
    told = tomllib.loads((trips / "run.toml").read_text())
    assert told == {
        "inputs": ["trips.parquet"],
        "rule": "cnil-10",
        "hierarchy": "h3:7",
        "suppress": "20%",
        "out": "out",
    }
    assert run(["anonymise", "--config", "run.toml"]) == 0
    assert tomllib.loads((trips / "out/private/run.toml").read_text())["k"] == 10


def test_init_takes_a_pattern_from_the_root(trips: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answer(monkeypatch, f"{trips}/*.parquet", "n", "cnil-10", "h3:7", "20%", "out")
    assert run(["init"]) == 0
    assert tomllib.loads((trips / "run.toml").read_text())["inputs"] == [f"{trips}/*.parquet"]


def test_init_refuses_what_would_not_run(trips: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answer(monkeypatch, "none.parquet")
    assert run(["init"]) == 2
    answer(monkeypatch, "trips.parquet", "n", "1")
    assert run(["init"]) == 2
    assert not (trips / "run.toml").exists()
    (trips / "run.toml").write_text("")
    assert run(["init"]) == 2


@pytest.mark.parametrize("name", RULES)
def test_rules_are_options_that_there_are(name: str) -> None:
    known = {one.name for one in parameters_of("anonymise")}
    assert set(RULES[name].options) <= known
    assert RULES[name].source
    assert RULES[name].address.startswith(("https://", "http://"))


def test_an_unknown_rule_is_told(trips: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["anonymise", "trips.parquet", "--rule", "mine", "--out", "out"]) == 2
    assert "--rule must be one of cnil-10" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("ex", {"export", "exposure"}),
        ("ledger ch", {"check"}),
        ("anonymise --zone-", {"--zone-id", "--zone-prefix"}),
    ],
)
def test_a_shell_completes(
    typed: str, offered: set[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["completion", "bash"]) == 0
    (tmp_path / "script").write_text(capsys.readouterr().out)
    words = ["tripcloak", *typed.split()]
    ask = (
        f"source {tmp_path}/script; COMP_WORDS=({' '.join(words)}); COMP_CWORD={len(words) - 1}; _tripcloak; "
    )
    done = subprocess.run(
        ["bash", "-c", ask + 'echo "${COMPREPLY[@]}"'], capture_output=True, text=True, check=True
    )
    assert set(done.stdout.split()) == offered


def test_other_shells_get_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["completion", "fish"]) == 0
    told = capsys.readouterr().out
    assert all(name.split()[-1] in told for name in COMMANDS)
    assert run(["completion", "tcsh"]) == 2
