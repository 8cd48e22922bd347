"""Exchange formats of released trajectories: GeoJSON of boxes, and OGC Moving Features JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tripcloak.trajectories.release.published import PublishedTrajectories, sample_batches

Ring = list[list[float]]


class ExchangeSample(NamedTuple):
    """A generalised sample as text and degrees."""

    trajectory: str
    t_start: str
    t_end: str
    west: float
    south: float
    east: float
    north: float


def write_geojson(path: Path, published: PublishedTrajectories) -> None:
    """Write one polygon a generalised sample: its box in degrees, its trajectory, its start and end.

    A box across the 180th meridian is cut there in two (RFC 7946, section 3.1.9).
    """
    _write_collection(path, map(_box_feature, _samples(published)), {})


def write_mfjson(path: Path, published: PublishedTrajectories) -> None:
    """Write one moving feature a trajectory, as MF-JSON Prism (OGC 19-045r3).

    Where somebody was between two generalised samples is not known. So samples that adjoin in time make
    one prism of polygons (``Step``: a polygon holds until the next one begins), a gap begins another, and
    the prisms of a trajectory are a ``MovingGeometryCollection``.
    """
    systems = {
        "crs": {"type": "Name", "properties": {"name": "urn:ogc:def:crs:OGC:1.3:CRS84"}},
        "trs": {"type": "Name", "properties": {"name": "urn:ogc:data:time:iso8601"}},
    }
    _write_collection(path, map(_moving_feature, _by_trajectory(_samples(published))), systems)


def _write_collection(path: Path, features: Iterable[dict[str, Any]], members: dict[str, Any]) -> None:
    head = "".join(f"{json.dumps(name)}:{json.dumps(value)}," for name, value in members.items())
    with path.open("w", encoding="utf-8") as file:
        file.write(f'{{"type":"FeatureCollection",{head}"features":[\n')
        for row, feature in enumerate(features):
            file.write((",\n" if row else "") + json.dumps(feature, separators=(",", ":"), allow_nan=False))
        file.write("\n]}\n")


def _samples(published: PublishedTrajectories) -> Iterator[ExchangeSample]:
    zone = "Z" if published.grid.clock == "UTC" else ""
    for part in sample_batches(published):
        names = part["trajectory"].to_pylist()
        times = [np.datetime_as_string(part[name].to_numpy(), unit="s") for name in ("t_start", "t_end")]
        sides = [part[name].to_pylist() for name in ("lon_min", "lat_min", "lon_max", "lat_max")]
        for name, start, end, *box in zip(names, *times, *sides, strict=True):
            yield ExchangeSample(name, f"{start}{zone}", f"{end}{zone}", *box)


def _by_trajectory(samples: Iterable[ExchangeSample]) -> Iterator[list[ExchangeSample]]:
    from itertools import groupby

    for _, own in groupby(samples, key=lambda sample: sample.trajectory):
        yield list(own)


def _box_feature(sample: ExchangeSample) -> dict[str, Any]:
    return {
        "type": "Feature",
        "geometry": _polygon(sample),
        "properties": {"trajectory": sample.trajectory, "t_start": sample.t_start, "t_end": sample.t_end},
    }


def _polygon(sample: ExchangeSample) -> dict[str, Any]:
    if sample.east <= 180:
        return {"type": "Polygon", "coordinates": [_ring(sample)]}
    halves = (
        sample._replace(east=180.0),
        sample._replace(west=-180.0, east=round(sample.east - 360.0, 6)),
    )
    return {"type": "MultiPolygon", "coordinates": [[_ring(half)] for half in halves]}


def _ring(sample: ExchangeSample) -> Ring:
    """Return the outline of a box, against the clock."""
    _, _, _, west, south, east, north = sample
    return [[west, south], [east, south], [east, north], [west, north], [west, south]]


def _moving_feature(own: list[ExchangeSample]) -> dict[str, Any]:
    runs: list[list[ExchangeSample]] = []
    for sample in own:
        if runs and runs[-1][-1].t_end == sample.t_start:
            runs[-1].append(sample)
        else:
            runs.append([sample])
    return {
        "type": "Feature",
        "id": own[0].trajectory,
        "properties": {"trajectory": own[0].trajectory},
        "time": [own[0].t_start, own[-1].t_end],
        "temporalGeometry": {"type": "MovingGeometryCollection", "prisms": [_prism(run) for run in runs]},
    }


def _prism(run: list[ExchangeSample]) -> dict[str, Any]:
    """Return polygons that hold until the next one; the last one twice, since it holds until it ends."""
    return {
        "type": "MovingPolygon",
        "datetimes": [*(sample.t_start for sample in run), run[-1].t_end],
        "coordinates": [[_ring(sample)] for sample in (*run, run[-1])],
        "interpolation": "Step",
    }
