"""tripcloak presets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tripcloak.records.presets import PRESETS


def test_presets_are_listed_with_what_each_becomes(tripcloak: Callable[..., Any]) -> None:
    told = tripcloak("presets")
    assert told.code == 0
    words = "".join(told.out.split())
    assert [name for name in PRESETS if name not in words] == []


def test_presets_are_listed_for_programs(tripcloak: Callable[..., Any]) -> None:
    found = {one["preset"]: one for one in tripcloak("presets", "--json").json["presets"]}
    assert list(found) == list(PRESETS)
    assert found["nyc-tlc"]["forms"] == ["trips", "zones"]
    assert found["nyc-tlc"]["zone_ids"] == ["LocationID"]
    assert found["foursquare"]["layouts"][-1]["files"] == "*POIs*.txt*"
    assert all(one["files"] and one["forms"] and one["id_is"] for one in found.values())
