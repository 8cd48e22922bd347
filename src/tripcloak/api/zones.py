"""What ``zones`` may be: the text of a hierarchy, a file, or a table with ids and outlines or places."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tripcloak.api.inputs import Points, take
from tripcloak.ground.errors import InputError
from tripcloak.ground.spelling import called, spelt
from tripcloak.hierarchy.zonefile.columns import Columns
from tripcloak.records.files.frames import Frame

_HIERARCHY = re.compile(r"\s*((h3|quadtree|table):.*|dendrogram)\s*", re.IGNORECASE)


def with_zones(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keywords with ``zones`` settled: a path, zones in memory, or the hierarchy that it names.

    Examples
    --------
    >>> with_zones({"zones": "h3:9"})
    {'hierarchy': 'h3:9'}
    >>> with_zones({"zones": "h3:9", "hierarchy": "h3:8"})
    Traceback (most recent call last):
    ...
    tripcloak.InputError: zones='h3:9' and hierarchy='h3:8' are two hierarchies; give one
    """
    zones, others = given.get("zones"), {name: value for name, value in given.items() if name != "zones"}
    if zones is None:
        return others
    hierarchy = given.get("hierarchy")
    if isinstance(zones, str) and _HIERARCHY.fullmatch(zones) and not Path(zones).exists():
        if hierarchy is not None and hierarchy != zones:
            raise InputError(
                f"{spelt('zones', zones)} and {spelt('hierarchy', hierarchy)} are two hierarchies; give one"
            )
        return {**others, "hierarchy": zones}
    if isinstance(zones, str) and not Path(zones).exists():
        raise InputError(
            f"{called('zones')} names no hierarchy such as h3:9 or quadtree:12, and no file; zones of a file "
            f"or a table go with {spelt('hierarchy', 'dendrogram')} or, where it names their parents, "
            f"{spelt('hierarchy', 'table:county,state')}"
        )
    return {**others, "zones": zones if isinstance(zones, (str, os.PathLike)) else zones_of(zones)}


def zones_of(table: Any) -> Columns:
    """Return the columns of a table of zones, with outlines where it has any.

    Examples
    --------
    >>> import pandas as pd
    >>> zones_of(pd.DataFrame({"zone": ["a", "b"], "lat": [48.8, 48.9], "lon": [2.3, 2.4]})).values["zone"]
    ['a', 'b']
    """
    geopandas = sys.modules.get("geopandas")
    if geopandas is not None and isinstance(table, geopandas.GeoDataFrame):
        return _outlined(table)
    (frame,) = take([table], Points())
    if not isinstance(frame, Frame):
        raise InputError(f"{spelt('zones')} takes a path or a table of zones")
    return Columns(frame.load(frame.names).table.to_pydict())


def _outlined(table: Any) -> Columns:
    if table.crs is not None and table.crs != "EPSG:4326":
        table = table.to_crs("EPSG:4326")
    outlines = table.geometry.to_wkb().tolist()
    (frame,) = take([table.drop(columns=table.geometry.name).pipe(_plain)], Points())
    assert isinstance(frame, Frame)
    return Columns(frame.load(frame.names).table.to_pydict(), outlines)


def _plain(table: Any) -> Any:
    """Return a frame without geometries."""
    return sys.modules["pandas"].DataFrame(table)
