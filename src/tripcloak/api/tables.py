"""Tables that go out: Arrow as it is, and data frames where the caller has a library for them."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tripcloak.ground.extras import needing

if TYPE_CHECKING:
    import geopandas
    import pandas
    import polars
    import pyarrow as pa

EXTRAS = {"pandas": "frames", "geopandas": "frames", "matplotlib": "frames", "polars": "polars"}
"""The extra of tripcloak that brings a library."""


def need(library: str, what: str) -> Any:
    """Return a library that is no part of the bare installation, or raise an error that says how to get it.

    Examples
    --------
    >>> need("pandas", "a data frame").__name__
    'pandas'
    """
    with needing(EXTRAS[library], what):
        return import_module(library)


def to_pandas(table: pa.Table) -> pandas.DataFrame:
    """Return a table as a pandas data frame."""
    need("pandas", "a data frame")
    frame: pandas.DataFrame = table.to_pandas()
    return frame


def to_polars(table: pa.Table) -> polars.DataFrame:
    """Return a table as a Polars data frame."""
    frame: polars.DataFrame = need("polars", "a Polars data frame").from_arrow(table)
    return frame


def to_geopandas(table: pa.Table) -> geopandas.GeoDataFrame:
    """Return a table with outlines in well-known binary as a GeoPandas data frame, in degrees."""
    library = need("geopandas", "a frame with outlines")
    if "geometry" not in table.column_names:
        return library.GeoDataFrame(table.to_pandas(), geometry=[None] * len(table), crs="EPSG:4326")
    frame = table.drop_columns(["geometry"]).to_pandas()
    outlines = library.GeoSeries.from_wkb(table["geometry"].to_pylist(), index=frame.index)
    return library.GeoDataFrame(frame, geometry=outlines, crs="EPSG:4326")
