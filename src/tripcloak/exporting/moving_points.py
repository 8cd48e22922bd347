"""OGC Moving Features JSON of released trajectories as moving points, which most tools read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def write_moving_points(samples: Path, path: Path) -> int:
    """Write every trajectory as a point that moves through the middles of its boxes; return how many boxes.

    The release's own ``samples.mfjson`` tells the boxes themselves, as prisms, which few tools read. What
    lies between two middles is not known: nothing is said of how the point gets there (``Discrete``).
    """
    from pyarrow import parquet

    written = 0
    with path.open("w", encoding="utf-8") as file:
        file.write('{"type":"FeatureCollection","features":[')
        own: list[tuple[Any, ...]] = []
        first = True
        for batch in parquet.ParquetFile(samples).iter_batches():
            for row in _middles(batch):
                if own and own[-1][0] != row[0]:
                    first = _write(file, own, first)
                    own = []
                own.append(row)
                written += 1
        if own:
            _write(file, own, first)
        file.write("\n]}\n")
    return written


def _middles(batch: Any) -> Any:
    """Return trajectory, moment, longitude and latitude of the middle of every box."""
    start, end = (batch[name].to_numpy(zero_copy_only=False) for name in ("t_start", "t_end"))
    moments = (start + (end - start) // 2).astype("datetime64[s]").astype(str).tolist()
    sides = {
        name: batch[name].to_numpy(zero_copy_only=False)
        for name in ("lon_min", "lon_max", "lat_min", "lat_max")
    }
    lon = ((sides["lon_min"] + sides["lon_max"]) / 2).round(6).tolist()
    lat = ((sides["lat_min"] + sides["lat_max"]) / 2).round(6).tolist()
    return zip(batch["trajectory"].to_pylist(), moments, lon, lat, strict=True)


def _write(file: Any, own: list[tuple[Any, ...]], first: bool) -> bool:
    """Write one trajectory; what follows is no longer the first."""
    name, (moments, lon, lat) = own[0][0], list(zip(*(row[1:] for row in own), strict=True))
    feature = {
        "type": "Feature",
        "id": name,
        "properties": {"trajectory": name},
        "temporalGeometry": {
            "type": "MovingPoint",
            "datetimes": list(moments),
            "coordinates": [list(point) for point in zip(lon, lat, strict=True)],
            "interpolation": "Discrete",
        },
    }
    file.write(("\n" if first else ",\n") + json.dumps(feature, separators=(",", ":"), allow_nan=False))
    return False
