"""What readers are told of tables beside the flows: totals and other heights."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def tables_fact(facts: Mapping[str, Any]) -> str:
    """Return in a few words which tables there are.

    >>> tables_fact({"tables": {"levels": [8, 6], "margins": True}})
    'the same trips at the levels 8 and 6, and totals (tables.csv)'
    """
    told = facts["tables"]
    levels = " and ".join(str(level) for level in told["levels"])
    heights = f"the same trips at the level{'s' if len(told['levels']) > 1 else ''} {levels}"
    parts = ([heights] if levels else []) + (["totals"] if told["margins"] else [])
    return f"{', and '.join(parts)} (tables.csv)"


def tables_files(facts: Mapping[str, Any]) -> str:
    """Return the lines on the files of the tables; nothing where there are none."""
    if "tables" not in facts:
        return ""
    lines = "- `tables.parquet`, `tables.csv`: totals and other heights, see below\n"
    if facts["tables"]["levels"]:
        lines += """\
- `levels.parquet` (GeoParquet), `levels.geojson`: the zones of every level, and of the flows as level `own`:
  axis, level, id, `parent` (the zone of the next level that holds it), height, tiles, area, point, outline
"""
    return lines


def tables_words(facts: Mapping[str, Any]) -> str:
    """Return the section on the tables; nothing where there are none."""
    if "tables" not in facts:
        return ""
    rows = "\n".join(
        f"| {table['origin_level']} | {table['destination_level']} | {table['cells']:,} | {table['trips']:,} "
        f"| {table['not_counted']['words']} |"
        for table in facts["tables"]["counted"]
    )
    return f"""## Totals and other heights
`tables.parquet` and `tables.csv` count the same trips in coarser zones. `origin_level` and
`destination_level` say how coarse: `own` are the zones of the flows, a number is a level of the hierarchy,
and `all` is everywhere together{_times(facts)}. A zone that is coarser than a level already stays itself.

| origin_level | destination_level | cells | trips | not counted |
|---|---|---|---|---|
{rows}

```python
import pandas as pd

tables = pd.read_parquet("tables.parquet")
one = tables.query("origin_level == '{_example(facts)[0]}' and destination_level == '{_example(facts)[1]}'")
print(one.trips.sum())
```

**Every number is a sum over the same sets of trips, each of which is safe by itself.** So the difference of
any of these numbers, and of any released flows, is safe too, or nothing. A cell is never less than the finer
cells inside it; it is more where trips that were withheld there are enough to be counted here. Trips that are
enough nowhere are in no number. Travellers are not told: one person may be in several cells, and differences
of such numbers would tell of few.

"""


def _times(facts: Mapping[str, Any]) -> str:
    return ", at all times" if "times" in facts["zones"] else ""


def _example(facts: Mapping[str, Any]) -> tuple[str, str]:
    first = facts["tables"]["counted"][0]
    return first["origin_level"], first["destination_level"]
