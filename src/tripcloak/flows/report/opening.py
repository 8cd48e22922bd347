"""How a reader opens a release, in the words of its README."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def how_to_open(facts: Mapping[str, Any]) -> str:
    """Return the section on pandas, GeoPandas, QGIS and Excel for a manifest; its code runs as it stands."""
    return _TEXT.format(volume=facts["volume"])


_TEXT = """## How to open it
A zone that occurs at both ends has two rows in `zones.*`, one per axis. **A merge on the zone id alone
counts every trip twice: merge on the axis too.** The points in `flows.*` often make a merge needless.

**pandas**

```python
import pandas as pd

flows = pd.read_parquet("flows.parquet")
zones = pd.read_parquet("zones.parquet")
origins = zones.loc[zones.axis == "origin", ["zone", "area_km2"]]
merged = flows.merge(origins, left_on="origin", right_on="zone", validate="many_to_one")
assert merged.{volume}.sum() == flows.{volume}.sum()
```

**GeoPandas**

```python
import geopandas as gpd

zones = gpd.read_parquet("zones.parquet")
origins, destinations = (zones[zones.axis == axis] for axis in ("origin", "destination"))
lines = gpd.read_parquet("lines.parquet")
```

- **QGIS**: drag `zones.geojson` and `lines.parquet` into the window. Filter zones by `"axis" = 'origin'`
  before colouring them. Where your QGIS cannot read Parquet, add `flows.csv` as delimited text and draw
  lines with the expression `make_line(make_point("origin_lon", "origin_lat"),
  make_point("destination_lon", "destination_lat"))`.
- **Excel**: Data, From Text/CSV, `flows.csv`, encoding UTF-8; set `origin` and `destination` to text. An
  id that a spreadsheet would run as a formula (it begins with `=`, `+`, `-`, `@`, a tab or a line break)
  stands in `flows.csv` with one apostrophe before it; in `flows.parquet` it is exact.
"""
