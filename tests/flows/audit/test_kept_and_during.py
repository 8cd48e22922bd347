"""Rules on zones taken over and on periods, each at its edge, on stand-ins and small files."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from tripcloak.flows.audit.rules import during
from tripcloak.flows.audit.rules.during import _days, period_as_read
from tripcloak.flows.audit.rules.kept import METHOD, _Earlier, _of_plan, _read, zones_kept
from tripcloak.ground.errors import InputError
from tripcloak.ground.folders import file_digest
from tripcloak.ground.rulebook import BrokenPart, NotPromised, Remark
from worlds.made_evidence import made

SPEC = {"spec": "h3:8"}
FLOWS = {"origin": ["a", "b"], "destination": ["c", "d"]}


def earlier(place: Path, *, homogeneous: object = True, flows: dict[str, Any] = FLOWS, **more: Any) -> Path:
    """Return the folder of an earlier release."""
    public = place / "release"
    public.mkdir(parents=True)
    parquet.write_table(pa.table(flows), public / "flows.parquet")
    files = {"flows.parquet": file_digest(public / "flows.parquet")}
    facts = {"hierarchy": SPEC, "homogeneous": homogeneous, "files": files, **more}
    (public / "manifest.json").write_text(json.dumps(facts))
    return place


def judged(folder: Path | None, *rows: tuple[str, ...], shared: bool = True, **facts: Any) -> Any:
    """Return what the rule says of a release between these zones."""
    promise = SimpleNamespace(homogeneous=shared, axes=("origin", "destination", "time")[: len(rows[0])])
    told = file_digest(folder / "release" / "manifest.json") if folder else "a" * 64
    case: Any = SimpleNamespace(
        facts={"method": METHOD, "parameters": {"zones_from": told}, "hierarchy": SPEC, **facts},
        request=SimpleNamespace(earlier=folder),
        promise=promise,
        rows=lambda sql: iter(rows) if sql == f"select {', '.join(promise.axes)} from audit_flows" else None,
    )
    return zones_kept(case)


def test_zones_that_a_method_found_are_nobody_elses(tmp_path: Path) -> None:
    own = {"method": "twincut", "parameters": {}}
    assert isinstance(judged(None, ("a", "c"), **own), NotPromised)
    assert isinstance(judged(None, ("a", "c"), **own | {"parameters": None}), NotPromised)
    assert "does not say that its zones" in judged(earlier(tmp_path), ("a", "c"), **own)
    lent = own | {"parameters": {"zones_from": "a" * 64}}
    assert "that a method found them" in judged(None, ("a", "c"), **lent)


@pytest.mark.parametrize("told", [None, 7, "a" * 63, "a" * 65, "A" * 64, "g" * 64])
def test_where_zones_are_from_is_a_digest(told: object) -> None:
    with pytest.raises(BrokenPart, match="SHA-256"):
        judged(None, ("a", "c"), parameters={"zones_from": told})


def test_without_the_earlier_release_only_its_digest_is_told() -> None:
    said = judged(None, ("a", "c"))
    assert isinstance(said, Remark)
    assert not isinstance(said, NotPromised)
    assert "SHA-256 aaaaaaaaaaaa...;" in said.words


def test_of_a_cut_every_pair_of_its_zones_will_do_and_no_other_zone(tmp_path: Path) -> None:
    folder = earlier(tmp_path)
    assert judged(folder, ("a", "d"), ("b", "c")) is None
    assert "fewer than 10 released flows are between" in judged(folder, ("a", "c"), ("a", "a"))
    assert judged(folder, ("c", "c")) is not None
    assert "10 released flows" in judged(folder, *[("a", "x")] * 10)


def test_of_other_zones_the_very_pairs_are_needed(tmp_path: Path) -> None:
    folder = earlier(tmp_path, homogeneous=False)
    assert judged(folder, ("a", "c"), ("b", "d"), shared=False) is None
    assert judged(folder, ("a", "c"), ("a", "d"), shared=False) is not None


def test_an_earlier_release_is_the_one_that_is_named_and_of_the_same_kind(tmp_path: Path) -> None:
    folder = earlier(tmp_path)
    assert "from another release" in judged(folder, ("a", "c"), parameters={"zones_from": "b" * 64})
    assert "zones of another kind" in judged(folder, ("a", "c"), hierarchy={"spec": "h3:7"})
    assert "zones of another kind" in judged(folder, ("a", "c"), shared=False)
    odd = earlier(tmp_path / "odd", homogeneous="yes")
    assert judged(odd, ("a", "c"), shared=False) is None


def test_times_are_zones_as_well(tmp_path: Path) -> None:
    folder = earlier(tmp_path, homogeneous=False, flows={**FLOWS, "time": ["m", "n"]})
    assert judged(folder, ("a", "c", "m"), shared=False) is None
    assert judged(folder, ("a", "c", "n"), shared=False) is not None


def test_an_earlier_release_that_was_changed_or_cannot_be_read_shows_nothing(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="neither a release nor a series"):
        _read(tmp_path)
    folder = earlier(tmp_path)
    assert _read(folder).pairs == _read(folder / "release").pairs == {("a", "c"), ("b", "d")}
    parquet.write_table(pa.table({**FLOWS, "more": [1, 2]}), folder / "release" / "flows.parquet")
    with pytest.raises(BrokenPart, match="was changed"):
        _read(folder)
    for text in ("no JSON", "[]", '{"files": {}}', "{}"):
        (folder / "release" / "manifest.json").write_text(text)
        with pytest.raises(BrokenPart, match="cannot be read"):
            _read(folder)


def test_the_plan_of_a_series_states_zones_or_pairs_of_them(tmp_path: Path) -> None:
    zones = {"origin": ["a", "b", "e"], "destination": ["c", "d"]}
    cut = _of_plan("x", {"zones": zones, "hierarchy": SPEC})
    assert (cut.digest, cut.hierarchy, cut.shared) == ("x", SPEC, True)
    assert [set(side) for side in zip(*cut.pairs, strict=True)] == [{"a", "b", "e"}, {"c", "d"}]
    told = {"zones": {**zones, "time": ["m"]}, "hierarchy": SPEC, "pairs": [[2, 0, 0], [0, 1, 0]]}
    assert _of_plan("x", told) == _Earlier("x", SPEC, False, {("e", "c", "m"), ("a", "d", "m")})
    (tmp_path / "zones.json").write_text(json.dumps(told))
    assert _read(tmp_path) == _of_plan(file_digest(tmp_path / "zones.json"), told)


@pytest.mark.parametrize(
    ("told", "first", "last"),
    [
        ("2024-02", date(2024, 2, 1), date(2024, 2, 29)),
        ("2023-12", date(2023, 12, 1), date(2023, 12, 31)),
        ("2024-W01", date(2024, 1, 1), date(2024, 1, 7)),
        ("2020-W53", date(2020, 12, 28), date(2021, 1, 3)),
        ("2024-05-31", date(2024, 5, 31), date(2024, 5, 31)),
    ],
)
def test_periods_are_months_weeks_and_days(told: str, first: date, last: date) -> None:
    assert _days(told) == (first, last)


@pytest.mark.parametrize(
    "told", [None, 2024, "2024", "2024-13", "2024-00", "2024-W54", "2024-W00", "2024-02-30", "2024-05-1", ""]
)
def test_other_periods_cannot_be_read(told: object) -> None:
    with pytest.raises(BrokenPart, match="a month, a week or a day"):
        _days(told)


def counted_from(*times: datetime | None, told: object = "2024-05", recorded: object = "2024-05") -> Any:
    """Return what the rule says of records that began at these times."""
    case: Any = made()
    case.table("canonical", "start_time timestamptz, reason int", [(time, 0) for time in times])
    case.facts, case.folder = ({} if told is None else {"during": told}), Path("nowhere")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(during, "read_run", lambda folder: {"source": {"during": recorded}})
        return period_as_read(case)


def test_records_begin_in_the_period_give_or_take_a_clock() -> None:
    early, late = datetime(2024, 4, 30, tzinfo=UTC), datetime(2024, 6, 1, 23, 59, 59, tzinfo=UTC)
    assert counted_from(early, late) is None
    for time in (datetime(2024, 4, 29, 23, 59, 59, tzinfo=UTC), datetime(2024, 6, 2, tzinfo=UTC), None):
        assert "of another period" in counted_from(early, time)


def test_the_period_is_the_one_that_was_read() -> None:
    now = datetime(2024, 5, 5, tzinfo=UTC)
    assert "another period than the record" in counted_from(now, recorded="2024-06")
    assert "another period than the record" in counted_from(now, told=None)
    assert isinstance(counted_from(now, told=None, recorded=None), NotPromised)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(during, "column_names", lambda con, table: {"reason"})
        assert "do not tell when they began" in counted_from(now)
