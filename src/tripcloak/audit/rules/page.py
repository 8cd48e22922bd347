"""The rule about the map: it shows the released table and nothing else."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import Any

from tripcloak.audit.evidence import Evidence
from tripcloak.audit.promise import SPACE
from tripcloak.audit.rulebook import BrokenPart
from tripcloak.audit.rules.book import BOOK

_DATA = re.compile(r'<script type="application/json" id="release">(.*?)</script>', re.DOTALL)
_CELL = re.compile(r"(?<![0-9a-f])8[0-9a-f]{14}(?![0-9a-f])")
ZONE_FACTS = {"zone", "height", "tiles", "area_km2", "outline"}


@BOOK.rule("map-shows-released-only", "flows")
def map_shows_released_only(case: Evidence) -> str | None:
    """The map embeds exactly the released flows, summed over time, and their zones."""
    page = _page(case)
    found = _DATA.findall(page)
    if len(found) != 1:
        return "release/map.html does not embed one table of data"
    try:
        data = json.loads(found[0])
        return _wrong_flows(case, data) or _wrong_zones(case, data) or _strangers(case, _DATA.sub("", page))
    except (ValueError, KeyError, TypeError, IndexError, AttributeError):
        return "release/map.html embeds data of an unknown form"


def _page(case: Evidence) -> str:
    try:
        return case.public("map.html").read_text(encoding="utf-8")
    except (OSError, ValueError):
        raise BrokenPart("release/map.html cannot be read") from None


def _wrong_flows(case: Evidence, data: dict[str, Any]) -> str | None:
    columns = [name for name in case.promise.columns if name in case.columns("audit_flows")]
    if case.promise.slot is not None:
        # Sums over time of different people would count one of them several times.
        columns = [name for name in columns if name != "travellers"]
    table = data["flows"]
    if set(data) != {"volume", "flows", *SPACE} or set(table) != {*SPACE, *columns}:
        return "release/map.html embeds other columns than were released"
    ends = [[data[axis]["zone"][code] for code in table[axis]] for axis in SPACE]
    shown = Counter(zip(*ends, *(table[name] for name in columns), strict=True))
    query = f"select {', '.join([*SPACE, *columns])} from audit_flows"
    if case.promise.slot is not None:
        sums = ", ".join(f"sum({name})" for name in columns)
        query = f"select {', '.join(SPACE)}, {sums} from audit_flows group by {', '.join(SPACE)}"
    released = Counter(case.rows(query))
    return "release/map.html shows other flows than were released" if shown != released else None


def _wrong_zones(case: Evidence, data: dict[str, Any]) -> str | None:
    volumes = [name for name in case.promise.columns if name != "travellers"]
    for axis in SPACE:
        table = data[axis]
        shown_volumes = [name for name in volumes if name in table]
        if set(table) - ZONE_FACTS - set(volumes) or not shown_volumes:
            return "release/map.html embeds other columns than were released"
        sums = ", ".join(f"sum({name})" for name in shown_volumes)
        released = Counter(case.rows(f"select {axis}, {sums} from audit_flows group by {axis}"))
        numbers = [table[name] for name in shown_volumes]
        lengths = {len(column) for column in table.values()}
        if len(lengths) != 1 or Counter(zip(table["zone"], *numbers, strict=True)) != released:
            return f"release/map.html shows other {axis} zones than were released"
    return None


def _strangers(case: Evidence, rest: str) -> str | None:
    """Return what is wrong with the page around its data: it may name no cell that was not released."""
    if case.promise.resolution is None:
        return None
    named = set(_CELL.findall(rest))
    released = {zone for row in case.rows("select origin, destination from audit_flows") for zone in row}
    return "release/map.html names a cell that was not released" if named - released else None
