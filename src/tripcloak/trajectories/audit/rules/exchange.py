"""Rules about the exchange formats: they hold the released samples, in their order, and nothing else."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import NamedTuple

from tripcloak.ground.rulebook import BrokenPart
from tripcloak.trajectories.audit.evidence import BOOK, TrajectoryEvidence
from tripcloak.trajectories.audit.rules.files import expected_files

SYSTEMS = (
    '"crs":{"type": "Name", "properties": {"name": "urn:ogc:def:crs:OGC:1.3:CRS84"}},'
    '"trs":{"type": "Name", "properties": {"name": "urn:ogc:data:time:iso8601"}},'
)


class SampleRow(NamedTuple):
    """A published sample: a pseudonym, two times as text, and degrees."""

    name: str
    begin: str
    end: str
    west: float
    south: float
    east: float
    north: float


@BOOK.rule("geojson-equals-samples")
def geojson_equals_samples(case: TrajectoryEvidence) -> str | None:
    """``trajectories.geojson`` holds the released boxes in degrees, in their order, and not a letter more."""
    return _compare(case, "trajectories.geojson", _collection(map(_box, _published(case)), ""))


@BOOK.rule("mfjson-equals-samples")
def mfjson_equals_samples(case: TrajectoryEvidence) -> str | None:
    """``trajectories.mfjson`` holds the released boxes in degrees, in their order, and not a letter more."""
    own = (list(rows) for _, rows in groupby(_published(case), key=lambda row: row.name))
    return _compare(case, "trajectories.mfjson", _collection(map(_moving, own), SYSTEMS))


def _compare(case: TrajectoryEvidence, name: str, expected: Iterable[str]) -> str | None:
    """Return whether a file says something else than these texts, one after the other."""
    if name not in expected_files(case):
        return None
    try:
        with case.public(name).open("rb") as file:
            for text in expected:
                plain = text.encode()
                if file.read(len(plain)) != plain:
                    return f"release/{name} differs from the released samples, or from how they are written"
            return f"release/{name} holds more than the released samples" if file.read(1) else None
    except OSError:
        raise BrokenPart(f"release/{name} cannot be read") from None


def _published(case: TrajectoryEvidence) -> Iterator[SampleRow]:
    when = ", ".join(f"strftime({name}, '%Y-%m-%dT%H:%M:%SZ')" for name in ("t_start", "t_end"))
    rows = case.fetch(
        f"SELECT trajectory, {when}, lon_min, lat_min, lon_max, lat_max FROM {case.table} ORDER BY row"
    )
    return (SampleRow(*row) for row in rows)


def _collection(features: Iterable[str], systems: str) -> Iterator[str]:
    yield f'{{"type":"FeatureCollection",{systems}"features":[\n'
    for at, feature in enumerate(features):
        yield f",\n{feature}" if at else feature
    yield "\n]}\n"


def _box(row: SampleRow) -> str:
    """Return a feature of one box; across the 180th meridian it is two."""
    if row.east <= 180:
        shape = f'"type":"Polygon","coordinates":[{_ring(row)}]'
    else:
        near, far = row._replace(east=180.0), row._replace(west=-180.0, east=round(row.east - 360.0, 6))
        shape = f'"type":"MultiPolygon","coordinates":[[{_ring(near)}],[{_ring(far)}]]'
    return (
        f'{{"type":"Feature","geometry":{{{shape}}},"properties":{{"trajectory":{json.dumps(row.name)},'
        f'"t_start":"{row.begin}","t_end":"{row.end}"}}}}'
    )


def _moving(rows: list[SampleRow]) -> str:
    """Return a moving feature; a gap in time begins another prism."""
    gaps = [at for at in range(1, len(rows)) if rows[at - 1].end != rows[at].begin]
    prisms = ",".join(_prism(rows[a:b]) for a, b in zip([0, *gaps], [*gaps, len(rows)], strict=True))
    name = json.dumps(rows[0].name)
    return (
        f'{{"type":"Feature","id":{name},"properties":{{"trajectory":{name}}},'
        f'"time":["{rows[0].begin}","{rows[-1].end}"],'
        f'"temporalGeometry":{{"type":"MovingGeometryCollection","prisms":[{prisms}]}}}}'
    )


def _prism(rows: list[SampleRow]) -> str:
    """Return boxes that hold until the next begins, the last one twice."""
    times = ",".join(f'"{time}"' for time in (*(row.begin for row in rows), rows[-1].end))
    rings = ",".join(f"[{_ring(row)}]" for row in (*rows, rows[-1]))
    return f'{{"type":"MovingPolygon","datetimes":[{times}],"coordinates":[{rings}],"interpolation":"Step"}}'


def _ring(row: SampleRow) -> str:
    west, south, east, north = row[3:]
    corners = ((west, south), (east, south), (east, north), (west, north), (west, south))
    return f"[{','.join(f'[{x!r},{y!r}]' for x, y in corners)}]"
