"""The verbs on trajectories: the same ones, with the same results."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import geopandas
import matplotlib
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import tripcloak as tc
from tripcloak import InputError
from tripcloak.cli.run import run as tripcloak
from tripcloak.ground.errors import OutputExistsError

matplotlib.use("Agg")


def test_the_verbs_win_over_the_rooms_of_their_names() -> None:
    from tripcloak.trajectories.anonymise import TrajectoryRequest
    from tripcloak.trajectories.audit import audit_folder
    from tripcloak.trajectories.measures import measure_trajectories

    assert all(map(callable, (TrajectoryRequest, audit_folder, measure_trajectories)))
    for verb in ("anonymise", "audit", "compare", "describe", "measures", "open"):
        assert callable(getattr(tc.trajectories, verb))
        assert getattr(tc.trajectories, verb).__module__.startswith("tripcloak.api.")
    assert {"Grid", "anonymise"} <= set(dir(tc.trajectories))
    with pytest.raises(AttributeError):
        tc.trajectories.nothing  # type: ignore[attr-defined]  # noqa: B018


class Drawn:
    """A source of randomness that gives the same every time it is made."""

    def __init__(self) -> None:
        self._random = random.Random(7)

    def token_bytes(self, n: int) -> bytes:
        return self._random.randbytes(n)

    def token_hex(self, n: int) -> str:
        return self.token_bytes(n).hex()


@pytest.mark.parametrize("asked", [{"k": 2}, {"k": 2, "method": "w4m", "delta": 2000.0, "trash": 0.1}])
def test_what_is_saved_is_what_the_command_writes(
    asked: dict[str, Any], calls: pa.Table, calls_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pseudonyms are drawn anew every time, unless the system's randomness is the same."""
    flags = [part for name, value in asked.items() for part in (f"--{name}", str(value))]
    out = tmp_path / "command"
    monkeypatch.setattr("tripcloak.trajectories.release.published.secrets", Drawn())
    assert tripcloak(["trajectories", "anonymise", str(calls_file), *flags, "--out", str(out), "--json"]) == 0
    monkeypatch.setattr("tripcloak.trajectories.release.published.secrets", Drawn())
    tc.trajectories.anonymise(calls.to_pandas(), **asked).save(tmp_path / "python")
    for part in ("release", "private"):
        one, other = (tmp_path / side / part for side in ("command", "python"))
        # What was asked for by a command, Python does not say.
        names = sorted(path.name for path in one.iterdir() if path.name != "run.toml")
        assert names == sorted(path.name for path in other.iterdir())
        for name in set(names) - {"run.json"}:
            assert (one / name).read_bytes() == (other / name).read_bytes(), name
    told = json.loads((tmp_path / "python" / "private" / "run.json").read_text())
    assert told["source"]["paths"] == ["a data frame of 5 columns"]


def test_pseudonyms_are_drawn_once_a_release(calls: pa.Table, tmp_path: Path) -> None:
    release = tc.trajectories.anonymise(calls, k=2)
    names = set(release.samples.trajectory)
    release.save(tmp_path / "one")
    release.save(tmp_path / "two")
    assert names == set(tc.open(tmp_path / "one").to_arrow()["trajectory"].to_pylist())
    assert names == set(tc.open(tmp_path / "two").to_arrow()["trajectory"].to_pylist())
    assert names.isdisjoint(tc.trajectories.anonymise(calls, k=2).samples.trajectory)
    assert set(release.private.mapping.trajectory) == names


def test_a_release_is_audited_measured_and_opened(calls: pa.Table, calls_file: Path, tmp_path: Path) -> None:
    release = tc.trajectories.anonymise(pl.DataFrame(calls), k=3, out=tmp_path / "out")
    assert release.audit().safe
    assert not release.audit(k=30).safe
    opened = tc.trajectories.open(tmp_path / "out")
    assert isinstance(opened, tc.ReleasedTrajectories)
    assert opened.to_arrow().equals(release.to_arrow())
    assert opened.map().html == release.map().html
    assert opened.private.mapping.equals(release.private.mapping)
    assert opened.measures(against=calls_file).to_dict() == release.measures().to_dict()
    for audit in (tc.audit, tc.trajectories.audit):
        assert audit(tmp_path / "out", against=calls, k=3).safe
    assert tripcloak(["trajectories", "audit", str(tmp_path / "out"), "--against", str(calls_file)]) == 0
    with pytest.raises(InputError, match=r"t is for releases of flows"):
        tc.audit(tmp_path / "out", against=calls, t=0.5)
    with pytest.raises(InputError, match=r"volume is for releases of flows"):
        tc.measures(tmp_path / "out", against=calls, volume="trips")


def test_samples_come_with_their_boxes(tracks: tc.ReleasedTrajectories) -> None:
    samples, boxes = tracks.samples, tracks.boxes
    assert isinstance(samples, pd.DataFrame)
    assert isinstance(boxes, geopandas.GeoDataFrame)
    assert len(samples) == len(boxes) == tracks.facts["released"]["samples"]
    assert boxes.geometry.bounds.minx.tolist() == samples.lon_min.tolist()
    assert tracks.plot().collections


def test_a_method_is_a_name_a_class_or_an_object(calls: pa.Table) -> None:
    by_object = tc.trajectories.anonymise(calls, method=tc.KScale(k=2, constraint="full"))
    by_class = tc.trajectories.anonymise(calls, method=tc.KScale, k=2, constraint="full")
    assert by_object.facts == by_class.facts
    assert by_object.facts["promise"]["k"] == 2
    assert tc.trajectories.anonymise(calls, method=tc.KScale(k=2), k=3).facts["promise"]["k"] == 3
    with pytest.raises(InputError, match=r"k-scale has no option delta"):
        tc.trajectories.anonymise(calls, delta=1.0)
    with pytest.raises(InputError, match=r"method takes the name of a method or its object; got a int"):
        tc.trajectories.anonymise(calls, method=7)  # type: ignore[arg-type]


def test_methods_side_by_side(calls: pa.Table, tmp_path: Path) -> None:
    asked: Any = {"methods": ["k-scale", "w4m"], "delta": 2000.0, "trash": 0.1}
    found = tc.trajectories.compare(calls, **asked, out=tmp_path / "out")
    assert found.table.method.tolist() == ["k-scale", "w4m"]
    assert found.best == "k-scale"
    assert (tmp_path / "out" / "compare.html").is_file()
    with pytest.raises(OutputExistsError, match=r"force=True"):
        found.save(tmp_path / "out")
    with pytest.raises(
        InputError, match=r"none of k-scale has an option delta: delta is an option of w4m, nwa"
    ):
        tc.trajectories.compare(calls, methods="k-scale", delta=1.0)


def test_what_is_in_it(calls: pa.Table) -> None:
    found = tc.trajectories.describe(calls, since="2024-09-02", until="2024-09-03")
    assert found.numbers["people"] <= 40
    assert found.table.measure.tolist() == ["samples_per_user", "gap_minutes", "radius_of_gyration_km"]
    with pytest.raises(InputError, match=r"until must be later than since"):
        tc.trajectories.describe(calls, since="2024-09-03", until="2024-09-02")
    with pytest.raises(InputError, match=r"check person=\.\.\."):
        tc.trajectories.describe(calls.to_pandas().assign(user_id="one"))
