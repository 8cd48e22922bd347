"""Made fixes of vehicles that drive, stop and drive on, at any pace."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

Fix = tuple[str, int, float, float]
"""Whose, when in seconds since 1970, latitude, longitude."""

NOON = 1_714_564_800


def drives(who: str, seconds: int, *, begin: int = NOON, fixes: int = 4, north: float = 39.9) -> list[Fix]:
    """Return the fixes of one drive, so many seconds apart and about half a kilometre each."""
    return [(who, begin + at * seconds, north + at * 0.005, 116.4) for at in range(fixes)]


def fleet(paces: Sequence[int], *, drives_each: int = 2, pause: int = 7200) -> list[Fix]:
    """Return the fixes of some vehicles, each at its own pace, which stand for a while between drives."""
    return [
        fix
        for number, seconds in enumerate(paces)
        for drive in range(drives_each)
        for fix in drives(f"v{number}", seconds, begin=NOON + drive * (pause + 4 * seconds) + number)
    ]


def fixes_csv(fixes: Iterable[Sequence[object]], header: str = "taxi_id,time,lat,lon") -> str:
    """Return fixes as text."""
    return "\n".join([header, *(",".join(map(str, fix)) for fix in fixes), ""])
