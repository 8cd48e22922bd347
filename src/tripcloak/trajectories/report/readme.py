"""The README that travels with a release of trajectories, in plain words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def render_trajectory_readme(facts: Mapping[str, Any]) -> str:
    """Return the text of ``release/README.md`` for a manifest."""
    grid, released = facts["grid"], facts["released"]
    promise, limits = _of_colocation(facts) if _colocates(facts) else _of_containment(facts)
    return f"""# Released trajectories

Made with tripcloak {facts["tripcloak"]}, method `{facts["method"]}`, k = {facts["k"]:,}.

{promise}
- Released trajectories: {released["trajectories"]:,}
- Released samples: {released["samples"]:,}
- Finest step: {grid["seconds"]:,} seconds and {grid["metres"]:,} metres; all edges lie on this grid

## Files
- `samples.parquet`, `samples.csv`: one row per released sample, by trajectory and time:
  - `trajectory`: a pseudonym drawn at random for this release; it has no relation to any id, nor to the
    order of the input, nor to another release
  - `t_start`, `t_end`: when, in UTC; the end is exclusive
  - `x_min`, `x_max`, `y_min`, `y_max`: where, in metres of the projection
    `{grid["projection"]}`
  - `lon_min`, `lat_min`, `lon_max`, `lat_max`: the same in degrees (WGS 84), rounded outwards, so that
    this box encloses the one in metres; `lon_max` is above 180 where it lies across that meridian
{_exchange(facts)}- `map.html`: the same to look at, with a time slider; works without a network
- `manifest.json`: method, parameters, grid, totals and a SHA-256 of every file

## How to read a sample
{_sample(facts)}
Samples of one trajectory do not overlap in time. Between two samples nothing is said.

## What this does and does not promise
{limits}
## How to open it
Python:

```python
import pandas as pd

samples = pd.read_parquet("samples.parquet")
```

R:

```r
samples <- arrow::read_parquet("samples.parquet")
```

DuckDB, here who was where at a moment:

```sql
SELECT * FROM 'samples.parquet'
WHERE t_start <= TIMESTAMPTZ '2024-05-01 08:00:00Z' AND t_end > TIMESTAMPTZ '2024-05-01 08:00:00Z';
```

QGIS: {_qgis(facts)}
"""


def _colocates(facts: Mapping[str, Any]) -> bool:
    return bool(facts["promise"]["kind"] == "colocation")


def _of_containment(facts: Mapping[str, Any]) -> tuple[str, str]:
    """Return what boxes promise, in short, and what not."""
    k = f"{facts['promise']['k']:,}"
    promise = f"""\
**Whoever knows where and when somebody was, all of it or any part, finds at least {k} released
trajectories that fit.** Samples were joined and made coarser in time and space until that was true. All
samples that were kept when the data was read are in it, and none was invented.
"""
    limits = f"""\
- Against linking records: take any samples of one person, some or all, and look for released
  trajectories whose boxes hold them. At least {k} do. This holds for knowledge as fine as the finest step
  above, or coarser, and for all samples that were kept when the data was read: of records that were left
  out then, such as places that nobody could have reached in time, nothing is said.
{_likeness(facts, k)}
- It does not hide what all {k} have in common. If every trajectory that fits was at a hospital at one
  hour, then so was the person (homogeneity).
- {k} is the number of released trajectories that fit what is known of a person. It is not the number of
  people in a box: a released trajectory may be a merge of fewer, down to two (constraint `nu-k-pick`).
- The edges of a box come from the samples of those who were merged: somebody was at each side of it.
- It does not hide that somebody is in the data, nor how many people are.
- It is about this release alone: it does not cover comparing it with another release of the same people,
  nor readers who know the samples of others in it and can set those aside.
"""
    return promise, limits


def _likeness(facts: Mapping[str, Any], k: str) -> str:
    """Return whether those that fit can be told apart by whoever knows a lot."""
    constraint = facts.get("parameters", {}).get("constraint")
    if facts["method"] == "glove" or constraint == "full":
        others = f"{int(facts['promise']['k']) - 1:,}"
        return (
            f"- The released trajectory of a person is identical to at least {others} others,\n"
            "  so that no guess among them is better than another."
        )
    under = f" (constraint `{constraint}`)" if constraint else ""
    return (
        f"- At least {k} fit, but they are **not equally likely**{under}. Somebody who knows a\n"
        f"  lot about a person can guess the right one much more often than one time in {k}. Under the\n"
        "  constraint `full` they would be identical."
    )


def _of_colocation(facts: Mapping[str, Any]) -> tuple[str, str]:
    """Return what moved samples promise, in short, and what not."""
    k, delta = f"{facts['promise']['k']:,}", f"{facts['promise'].get('delta') or 0:,g}"
    promise = f"""\
**At every time, each released trajectory has at least {int(facts["promise"]["k"]) - 1:,} others within
{delta} metres of it** ((k, delta)-anonymity, k = {k}). Samples were moved in space and time until that was
true; some were left out, and some were made up in between.
"""
    limits = f"""\
- A reader who knows somebody's place only to within {delta} metres cannot tell {k} trajectories apart.
- It is a weaker promise than containment of samples. Somebody who knows a few exact samples may still find
  the nearest trajectory and be right: that {k} trajectories go together does not mean that each of
  them fits what that reader knows.
- A released sample is not where somebody was: it may be moved, or made up.
- It does not hide what the {k} have in common, nor that somebody is in the data.
- It is about this release alone: it does not cover comparing it with another release of the same people.
"""
    return promise, limits


def _sample(facts: Mapping[str, Any]) -> str:
    if _colocates(facts):
        return (
            "A released sample says: about then, about there. It is one step long and one step wide, and\n"
            "was moved to where others are."
        )
    return (
        "A released sample says: at some moment from `t_start` until `t_end`, and at some place in the box,\n"
        "the person was recorded at least once. It does not say that they were in the box all the time."
    )


_EXCHANGE = {
    "trajectories.geojson": "one polygon per released sample, in degrees",
    "trajectories.mfjson": """one moving feature per trajectory (OGC Moving Features JSON, OGC 19-045r3,
  Prism): polygons that hold from one time to the next (`Step`); a gap in time begins another prism""",
}


def _exchange(facts: Mapping[str, Any]) -> str:
    """Return the lines on exchange formats, and on those that were left out for their size."""
    left_out = facts.get("left_out", ())
    lines = [f"- `{name}`: {words}\n" for name, words in _EXCHANGE.items() if name not in left_out]
    if left_out:
        names = " and ".join(f"`{name}`" for name in left_out)
        lines.append(f"- Not here, for they would be very large: {names}\n")
    return "".join(lines)


def _qgis(facts: Mapping[str, Any]) -> str:
    """Return how to see boxes in QGIS, with and without GeoJSON."""
    if "trajectories.geojson" not in facts.get("left_out", ()):
        return (
            "drag `trajectories.geojson` into the window, then set Layer properties > Temporal to\n"
            '"Separate fields for start and end date/time" with `t_start` and `t_end`.'
        )
    return (
        "add `samples.csv` as a delimited text layer without geometry, then make polygons with\n"
        '"Geometry by expression": `make_rectangle_3points(make_point(lon_min, lat_min), '
        "make_point(lon_max, lat_min),\nmake_point(lon_max, lat_max))`."
    )
