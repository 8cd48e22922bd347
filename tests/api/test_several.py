"""tc.series and tc.difference: the same as the commands, with tables in and out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import tripcloak as tc
from tripcloak.cli.run import run
from tripcloak.ledger.store import init_ledger, open_ledger

HALF = "start_time < timestamp '2024-09-16'"
"""Two weeks are enough."""
ASKED: dict[str, Any] = {"zones": "h3:7", "k": 5, "periods": "week", "where": HALF}


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a ledger and a key."""
    place = tmp_path_factory.mktemp("several")
    init_ledger(place / "ledger", approvals_needed=1)
    assert run(["keygen", str(place / "publisher")]) == 0
    return place


@pytest.fixture(scope="module")
def weeks(kept: Path, trips_file: Path) -> tc.ReleasedSeries:
    """Return a series that is recorded and signed."""
    more = {"ledger": kept / "ledger", "sign": kept / "publisher.key"}
    return tc.series(trips_file, **ASKED, **more, out=kept / "weeks")


def test_a_series_is_its_releases(weeks: tc.ReleasedSeries, trips_file: Path) -> None:
    assert list(weeks) == sorted(weeks) == weeks.table.period.tolist()
    assert len(weeks) == len(weeks.table) == 2
    for name in weeks:
        assert weeks[name].flows.travellers.min() >= 5
        assert len(weeks[name].flows) == weeks.table.set_index("period").flows[name]
    assert set(weeks.to_dict()["periods"]) == set(weeks)
    assert repr(weeks).startswith("<ReleasedSeries: 2024-W")
    assert "One release a period" in weeks._repr_html_()
    assert "internal" in weeks._repr_html_().lower()
    with pytest.raises(KeyError):
        weeks["2023-W01"]


def test_a_ledger_knows_every_period(weeks: tc.ReleasedSeries, kept: Path, tmp_path: Path) -> None:
    ledger = open_ledger(kept / "ledger")
    assert [one.name for one in ledger.releases] == list(weeks)
    assert {one.state for one in ledger.releases} == {"released"}
    assert not any(one.may_be_published for one in ledger.releases)
    assert [ledger.changed_files(one) for one in ledger.releases] == [[]] * len(weeks)
    assert len(ledger.disclosures()) == len(weeks)
    assert ledger.faults() == []


def test_every_period_is_signed(weeks: tc.ReleasedSeries, kept: Path) -> None:
    for name in weeks:
        checked = tc.check(kept / "weeks" / name, key=kept / "publisher.pub")
        assert checked.untouched
        assert "signed" in checked.signature.lower()


def test_the_same_on_the_command_line(
    kept: Path, trips_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    init_ledger(tmp_path / "ledger")
    order = ["series", trips_file, "--periods", "week", "--hierarchy", "h3:7", "--k", "5", "--where", HALF]
    order += ["--ledger", tmp_path / "ledger", "--sign", kept / "publisher.key", "--out", tmp_path / "weeks"]
    assert run([str(word) for word in order]) == 0
    assert "Recorded in the ledger as release 1 (2024-W36)" in capsys.readouterr().out
    assert (tmp_path / "weeks/2024-W37/release/verdict.dsse.json").is_file()
    assert run([*map(str, order), "--force", "--json"]) == 0
    # What was published before stays known.
    told = json.loads(capsys.readouterr().out)["ledger"]
    assert [one["number"] for one in told] == [3, 4]


def test_a_series_that_cannot_be_written_is_abandoned(
    trips_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tripcloak.flows import series

    init_ledger(tmp_path / "ledger")

    def fails(*_: Any, **__: Any) -> None:
        raise tc.InputError("no room")

    monkeypatch.setattr(series, "series_page", fails)
    with pytest.raises(tc.InputError, match="no room"):
        tc.series(trips_file, **ASKED, ledger=tmp_path / "ledger", out=tmp_path / "weeks")
    assert {one.state for one in open_ledger(tmp_path / "ledger").releases} == {"abandoned"}
    assert open_ledger(tmp_path / "ledger").disclosures() == []


def test_a_series_needs_a_folder_and_periods(trips: Any, tmp_path: Path) -> None:
    with pytest.raises(tc.InputError, match="out="):
        tc.series(trips, **ASKED)
    with pytest.raises(tc.InputError, match="periods"):
        tc.series([trips, trips], zones="h3:7", out=tmp_path / "out")
    with pytest.raises(TypeError, match="did you mean periods"):
        tc.series(trips, period="month", out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_what_releases_tell_together(trips: Any, tmp_path: Path) -> None:
    for k in (5, 7):
        tc.anonymise(trips, zones="h3:8", k=k, out=tmp_path / str(k))
    found = tc.difference(tmp_path / "5", str(tmp_path / "7"), against=trips)
    assert not found.safe
    table = found.table
    assert len(table) == len(found.to_dict()["certificates"]) > 0
    assert (table.people < 5).all()
    assert set(table.releases) == {"5, 7"}
    assert " = " in table.how[0]
    assert "from these releases together" in repr(found)
    shown = found._repr_html_()
    assert "Do not publish these together" in shown
    assert table.how[0] not in shown
    public = tc.difference(tmp_path / "5", tmp_path / "7", public=True).words
    assert public == tc.difference(tmp_path / "5/release", tmp_path / "7/release").words != found.words
    nothing = tc.difference(tmp_path / "5", tmp_path / "5", against=trips, k=2)
    assert nothing.safe
    assert nothing.table.columns.tolist() == table.columns.tolist()
    assert len(nothing.table) == 0
    assert "Nothing follows" in nothing._repr_html_()


def test_kept_zones_stay_under_a_ledger(trips_file: Path, tmp_path: Path) -> None:
    """Zones of an earlier release that were asked for are not exchanged for those of another."""
    init_ledger(tmp_path / "ledger")
    for name, k in (("fine", 5), ("coarse", 40)):
        tc.anonymise(trips_file, zones="h3:7", k=k, suppress=0.3, out=tmp_path / name)
    asked: dict[str, Any] = {"k": 5, "suppress": 0.9, "ledger": tmp_path / "ledger"}
    tc.anonymise(trips_file, zones_from=tmp_path / "fine", **asked, out=tmp_path / "one")
    release = tc.anonymise(trips_file, zones_from=tmp_path / "coarse", **asked, out=tmp_path / "two")
    zones = [set(tc.open(tmp_path / name).flows.origin) for name in ("coarse", "two")]
    assert zones[1] <= zones[0]
    assert release.audit(zones_from=tmp_path / "coarse").safe
