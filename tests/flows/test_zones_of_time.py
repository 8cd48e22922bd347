"""Slots of time whose clock nobody named claim no zone."""

from __future__ import annotations

from pathlib import Path

import pytest

import tripcloak as tc


@pytest.mark.parametrize("zone", [None, "Europe/Paris"])
def test_slots_of_flows_claim_no_zone_either(tmp_path: Path, zone: str | None) -> None:
    rows = "".join(f"u{n},48.85,2.35,48.86,2.36,2024-05-01 08:{n:02}:00\n" for n in range(20))
    path = tmp_path / "trips.csv"
    path.write_text("user_id,o_lat,o_lon,d_lat,d_lon,started_at\n" + rows)
    release = tc.anonymise(str(path), k=5, hierarchy="h3:7", time_slot="1h", timezone=zone, method="oigh")
    assert release.facts["hierarchy"].get("timezone") == zone
    assert release.audit().safe
    release.save(tmp_path / "out")
    readme = (tmp_path / "out" / "release" / "README.md").read_text()
    assert f"by the clock of {zone or 'the input, whose zone is unknown'}" in readme
    assert tc.audit(tmp_path / "out", against=str(path)).safe
