"""Writes files.md: every public file of a release with its columns, every entry of a manifest: ``make docs``.

They are read from two small releases that are made for it, so that what the page says is what is written.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pyarrow import parquet

import tripcloak as tc
from tripcloak.synth.cdr import Cdr

PAGE = Path(__file__).parent / "files.md"
HEAD = """\
# Files and manifest

Made by `make docs` from two small releases: what stands here is what is written. `manifest.json` states the
SHA-256 of every public file; [the promise](promise.md) says which numbers may be told. Options add columns
(`--names`, `--time-slot`) and files (`--with-margins`, `--with-levels`).
"""
WORDS = {
    "flows.csv": "`flows.parquet` as text; what a spreadsheet would run begins with an apostrophe.",
    "zones.geojson": "The same as `zones.parquet`.",
    "map.html": "One page, offline, with everything in it.",
    "README.md": "What it is, what it promises and how to open it, in plain words.",
}
MEANINGS = {
    "area_km2": "area in square kilometres",
    "axis": "whether trips begin (`origin`) or end (`destination`) there",
    "bound.relaxation": "by which proof",
    "bound.within_percent": "the release is proven to be within this many percent of the least possible loss",
    "columns": "the numbers of a flow that are published",
    "columns_words": "in words, which of them are exact and which are rounded",
    "counted.travellers": "what was counted as travellers, in words",
    "counted.trajectories": "what a trajectory is of, in words",
    "destination": "the zone where trips end",
    "destination_lat": "latitude of the representative point of the zone where trips end",
    "destination_lon": "its longitude",
    "dropped_rows": "rows dropped in cleaning by reason, where enough people stand behind them",
    "files": "the SHA-256 of every other public file, by its name",
    "format": "the format of releases, which counts up when older versions cannot read it",
    "geometry of lines": "the line from point to point, as WKB (GeoParquet)",
    "geometry of zones": "the outline, as WKB (GeoParquet)",
    "grid.clock": "the zone of times: `UTC`, or `unknown` where the input told none",
    "grid.metres": "edges of places are multiples of this many metres",
    "grid.projection": "the projection that metres are of, as a PROJ string",
    "grid.seconds": "edges of times are multiples of this many seconds",
    "grid.start": "when steps of time begin, in seconds since 1970",
    "groups": "how many flows are released",
    "guess.blind": "of 100 people, how many a guess among all that fit names rightly",
    "guess.people": "how many people the guess was tried on",
    "guess.right": "of 100 people, how many a simple guess names rightly that knows all their samples",
    "height": "how coarse the zone is: 0 is the finest",
    "hierarchy.spec": "the tree of zones, as `--hierarchy` takes it",
    "homogeneous": "whether zones of one axis never overlap",
    "kind": "`flows` or `trajectories`",
    "largest_parts": "in words, how often one traveller makes half or more of a flow",
    "lat": "latitude of the representative point",
    "lat_max": "northern edge in degrees, rounded outwards",
    "lat_min": "southern edge in degrees, rounded outwards",
    "lon": "longitude of the representative point",
    "lon_max": "eastern edge in degrees, rounded outwards; above 180 across that meridian",
    "lon_min": "western edge in degrees, rounded outwards",
    "measures.C_AVG": "the average flow in multiples of k",
    "measures.G": "tiles in the two zones of a released trip, on average",
    "method": "the method that made it",
    "origin": "the zone where trips begin",
    "origin_lat": "latitude of the representative point of the zone where trips begin",
    "origin_lon": "its longitude",
    "parameters.certify": "how long to prove for; null is a fixed effort",
    "parameters.constraint": "how many trajectories a sample must be found in, and which",
    "parameters.loss": "what was minimised",
    "parameters.neighbours": "how many partners of each were looked at; null is the method's own choice",
    "parameters.suppression_limit": "the share of the volume that could be withheld",
    "parameters.time_limit": "when to stop the search; null is never",
    "parameters.withhold": "whether safe flows could be withheld too (`worst`) or not (`unsafe`)",
    "promise.id_is": "what an id stands for",
    "promise.k": "the smallest number that stands behind anything released",
    "promise.kind": "the kind of promise, see [kinds](kinds-of-promises.md)",
    "promise.sentence": "the promise in words",
    "promise.unit": "what k counts",
    "released": "the volume of all released flows",
    "released.samples": "how many samples are released",
    "released.trajectories": "how many trajectories are released",
    "seed": "of methods that draw, what they drew by; null of others",
    "smallest.travellers": "the smallest released number of travellers",
    "smallest.trips": "the smallest released number of trips",
    "steps.travellers": "travellers are rounded down in steps of this",
    "t_end": "when the sample ends, which is exclusive",
    "t_start": "when the sample begins",
    "tiles": "how many of the finest zones it covers",
    "trajectory": "a pseudonym drawn at random for this release",
    "travellers": "different people (or what ids stand for), rounded down as the manifest says",
    "trips": "number of trips",
    "typical_zone_km2": "half of the trips begin in a zone as small as this",
    "version": "the version of tripcloak that made it",
    "volume": "which number of a flow is summed: `trips` or `population`",
    "withheld.at_least": "a lower bound of the withheld volume",
    "withheld.at_most": "an upper bound of the withheld volume",
    "withheld.words": "the same in words",
    "x_max": "eastern edge in metres of the projection",
    "x_min": "western edge in metres of the projection",
    "y_max": "northern edge in metres of the projection",
    "y_min": "southern edge in metres of the projection",
    "zone": "its id",
    "zones.destinations": "how many zones trips end in",
    "zones.origins": "how many zones trips begin in",
}
"""What every column and entry means; one that is written and not in here is an error."""
KINDS = {dict: "object", list: "list", str: "text", bool: "true or false", type(None): "null"}


def rendered() -> str:
    """Return the page."""
    parts = [HEAD]
    with tempfile.TemporaryDirectory() as home:
        tc.anonymise(tc.City(trips=3_000, people=300).table(), zones="h3:7", out=f"{home}/flows")
        tc.trajectories.anonymise(Cdr(users=30, days=2).table(), k=2, out=f"{home}/trajectories")
        for wing in ("flows", "trajectories"):
            parts.append(f"## A release of {wing}\n")
            for path in sorted((Path(home) / wing / "release").iterdir()):
                parts.append(f"### `{path.name}` of {wing}\n\n{told(path)}")
    return "\n".join(parts).rstrip() + "\n"


def told(path: Path) -> str:
    """Return what is in a file."""
    if path.suffix == ".parquet":
        rows = [(field.name, str(field.type)) for field in parquet.read_schema(path)]
    elif path.name == "manifest.json":
        rows = list(entries(json.loads(path.read_text(encoding="utf-8"))))
    else:
        return f"{WORDS.get(path.name, 'The same rows in another format.')}\n"
    lines = "\n".join(f"| `{name}` | {kind} | {meaning(name, path)} |" for name, kind in rows)
    first = "entry" if path.suffix == ".json" else "column"
    return f"| {first} | type | what it is |\n|---|---|---|\n{lines}\n"


def meaning(name: str, path: Path) -> str:
    """Return what a column or an entry means, in this file or in all."""
    found = MEANINGS.get(f"{name} of {path.stem}") or MEANINGS.get(name)
    if found is None:
        raise KeyError(f"say in MEANINGS what {name} of {path.name} is")
    return found


def entries(content: Any, above: str = "") -> Iterator[tuple[str, str]]:
    """Yield the entries of a document by their paths; what is in objects stands below them."""
    for name, value in content.items():
        if isinstance(value, dict) and value and name != "files":
            yield from entries(value, f"{above}{name}.")
        else:
            yield f"{above}{name}", KINDS.get(type(value), "number")


if __name__ == "__main__":
    PAGE.write_text(rendered(), encoding="utf-8")
