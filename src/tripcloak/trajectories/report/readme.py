"""The README that travels with a release of trajectories, in plain words."""

from __future__ import annotations

from collections.abc import Mapping
from textwrap import fill
from typing import Any

from tripcloak.ground.folders import BACKGROUND
from tripcloak.ground.signatures import FOR_READERS
from tripcloak.pages.citing import how_to_cite, title_of
from tripcloak.pages.markdown import shown
from tripcloak.promises import TrajectoryPromise
from tripcloak.promises.counted import ones_of
from tripcloak.trajectories.release.guess import BESIDE, OwnerGuess


def render_trajectory_readme(facts: Mapping[str, Any]) -> str:
    """Return the text of ``release/README.md`` for a manifest."""
    grid, released = facts["grid"], facts["released"]
    promise = TrajectoryPromise.from_manifest(facts["promise"])
    short, covers, limits = promise.in_full()
    return f"""# {shown(title_of(facts))}

Made with tripcloak {facts["version"]}, method `{facts["method"]}`{_among(promise)}.

{short}
- Counted are {facts["counted"]["trajectories"]}
- Released trajectories: {released["trajectories"]:,}
- Released samples: {released["samples"]:,}
- Finest step: {grid["seconds"]:,} seconds and {grid["metres"]:,} metres; all edges lie on this grid
{_guess(facts)}
## Files
- {_tables(facts)}: one row per released sample, by trajectory and time:
  - `trajectory`: a pseudonym drawn at random for this release; it has no relation to any id, nor to the
    order of the input, nor to another release
  - `t_start`, `t_end`: when, {_clock(facts)}; the end is exclusive
  - `x_min`, `x_max`, `y_min`, `y_max`: where, in metres of the projection
    `{grid["projection"]}`
  - `lon_min`, `lat_min`, `lon_max`, `lat_max`: the same in degrees (WGS 84), rounded outwards, so that
    this box encloses the one in metres; `lon_max` is above 180 where it lies across that meridian
{_exchange(facts)}- `map.html`: the same to look at, with a time slider; works without a network
{_behind(facts)}\
- `manifest.json`: method, parameters, grid, totals and a SHA-256 of every file
{FOR_READERS}

## How to read a sample
{_sample(promise)}
Samples of one trajectory do not overlap in time. Between two samples nothing is said.

## What this does and does not promise
{covers}{_likeness(facts, promise)}{"".join(limits)}
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
WHERE t_start <= {_moment(facts)} AND t_end > {_moment(facts)};
```

QGIS: {_qgis(facts)}

{how_to_cite(facts)}"""


def _behind(facts: Mapping[str, Any]) -> str:
    """Return what else is on the map, and where it is from; nothing where nothing is."""
    told = facts.get("names")
    towns = "" if told is None else f"  (towns: {told['attribution']}, {told['source']})\n"
    return towns + (f"- `{BACKGROUND}`: {facts['background']}\n" if "background" in facts else "")


def _among(promise: TrajectoryPromise) -> str:
    return f", k = {promise.k:,}" if promise.k else ""


def _clock(facts: Mapping[str, Any]) -> str:
    if facts["grid"]["clock"] == "UTC":
        return "in UTC"
    return "by the clock of the input, whose zone is unknown"


def _moment(facts: Mapping[str, Any]) -> str:
    """Return a moment in SQL, of the type that published times have."""
    if facts["grid"]["clock"] == "UTC":
        return "TIMESTAMPTZ '2024-05-01 08:00:00Z'"
    return "TIMESTAMP '2024-05-01 08:00:00'"


def _guess(facts: Mapping[str, Any]) -> str:
    """Return how often somebody names the right one who knows everything; nothing where none need fit."""
    told = []
    if "guess" in facts:
        of = "pieces" if "links" in facts else "people"
        told.append(OwnerGuess.from_manifest(facts["guess"]).sentence(of))
    told += [kind.from_manifest(facts[name]).sentence() for name, kind in BESIDE.items() if name in facts]
    return "".join(
        fill(f"{words[0].upper()}{words[1:]}", 100, initial_indent="- ", subsequent_indent="  ") + "\n"
        for words in told
    )


def _likeness(facts: Mapping[str, Any], promise: TrajectoryPromise) -> str:
    """Return whether those that fit can be told apart by whoever knows a lot; nothing where none need fit."""
    if not promise.contains:
        return ""
    k, one = f"{promise.k:,}", ones_of(promise.id_is).one
    constraint = facts.get("parameters", {}).get("constraint")
    if facts["method"] == "glove" or constraint == "full":
        others = f"{(promise.k or 0) - 1:,}"
        return (
            f"- The released trajectory of one {one} is identical to at least {others} others,\n"
            "  so that no guess among them is better than another.\n"
        )
    under = f" (constraint `{constraint}`)" if constraint else ""
    return (
        f"- At least {k} fit, but they are **not equally likely**{under}. Somebody who knows a\n"
        f"  lot about one {one} can guess the right one much more often than one time in {k}: above it says\n"
        "  how often simple guesses were right. Under the constraint `full` they would be identical.\n"
    )


def _sample(promise: TrajectoryPromise) -> str:
    if promise.made_up:
        return (
            "A released sample says: a trajectory that was made up passes this cell in this slot of time.\n"
            "It is nobody's sample; what many of them have in common is about as it was of people."
        )
    if promise.adds:
        return (
            "A released sample says: from `t_start` until `t_end`, at some place in the box, the "
            f"{ones_of(promise.id_is).one} was\nrecorded, or a dummy was put there. Most samples are those "
            "of dummies, and nothing says which."
        )
    if promise.moves_samples:
        return (
            "A released sample says: about then, about there. It is one step long and one step wide, and\n"
            "was moved to where others are."
        )
    return (
        "A released sample says: at some moment from `t_start` until `t_end`, and at some place in the box,\n"
        f"the {ones_of(promise.id_is).one} was recorded at least once. It does not say that the box held it "
        "all the time."
    )


def _tables(facts: Mapping[str, Any]) -> str:
    """Return the names of the files that hold the samples as tables."""
    return "`samples.parquet`" + ("" if "samples.csv" in facts.get("left_out", ()) else ", `samples.csv`")


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
    add = "drag `samples.parquet` into the window"
    if "samples.csv" not in facts.get("left_out", ()):
        add = "add `samples.csv` as a delimited text layer without geometry"
    return (
        f"{add}, then make polygons with\n"
        '"Geometry by expression": `make_rectangle_3points(make_point(lon_min, lat_min), '
        "make_point(lon_max, lat_min),\nmake_point(lon_max, lat_max))`."
    )
