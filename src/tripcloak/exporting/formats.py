"""The formats a release can be exported to, by name."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any, Literal, NamedTuple

from tripcloak.ground.errors import InputError
from tripcloak.ground.extras import needing
from tripcloak.ground.spelling import called


class Format(NamedTuple):
    """What a release can be exported to.

    Attributes
    ----------
    of : str
        What must have been released.
    suffix : str
        How its files are called; nothing where it is a folder.
    words : str
        What it is, in a sentence.
    writer : str
        Module and function of this room that write it.
    needs : tuple of str
        Modules that are no part of the bare installation.
    extra : str
        The extra that brings them.
    """

    of: Literal["flows", "trajectories"]
    suffix: str
    words: str
    writer: str
    needs: tuple[str, ...] = ()
    extra: str = "formats"

    def write(self) -> Any:
        """Return the function that writes it."""
        module, _, function = self.writer.partition(":")
        return getattr(import_module(f"tripcloak.exporting.{module}"), function)


DATABASE = "postgresql"
"""The one format that is no file."""

FORMATS: Mapping[str, Format] = {
    "spanishoddata": Format(
        "flows",
        ".parquet",
        "Parquet, a row a flow, named as by spanishoddata: date, hour, id_origin, id_destination, n_trips.",
        "long_table:write_long_table",
    ),
    "hive": Format(
        "flows",
        "",
        "Folder of Parquet, a file a released time, parted in the manner of Hive, Spark and DuckDB.",
        "long_table:write_parts",
    ),
    "geoparquet": Format(
        "flows",
        ".parquet",
        "GeoParquet 1.1: flows as lines, with the names and points of both zones.",
        "long_table:write_lines",
    ),
    "gpkg": Format(
        "flows",
        ".gpkg",
        "GeoPackage with layers of flows and of zones, each with a style for QGIS.",
        "geopackage:write_geopackage",
        ("pyogrio",),
    ),
    "omx": Format(
        "flows",
        ".omx",
        "OMX matrix of trips for transport models, with its mapping of zones; what is not released is NaN.",
        "matrices:write_omx",
        ("openmatrix",),
    ),
    "flowmap": Format(
        "flows",
        "",
        "Folder with locations.csv and flows.csv, as flowmap.gl and flowmap.blue take them.",
        "flow_maps:write_flowmap",
    ),
    "kepler": Format(
        "flows",
        ".json",
        "Map of kepler.gl in one file: flows as arcs, zones as polygons, and how both are drawn.",
        "flow_maps:write_kepler",
    ),
    "duckdb": Format(
        "flows",
        ".duckdb",
        "DuckDB file with tables of flows, of zones with their outlines, and the manifest.",
        "databases:write_duckdb",
    ),
    DATABASE: Format(
        "flows",
        "",
        "Tables flows, zones (PostGIS, with an index) and manifest of a database, in one transaction.",
        "databases:write_postgres",
        ("adbc_driver_postgresql",),
        "postgres",
    ),
    "mfjson": Format(
        "trajectories",
        ".json",
        "OGC Moving Features JSON: every trajectory as a moving point through the middles of its boxes.",
        "moving_points:write_moving_points",
    ),
}
"""Every format by its name."""


def find_format(name: str, option: str = "to") -> Format:
    """Return the format of a name; the option is what asked for it.

    >>> find_format("gpkg").suffix
    '.gpkg'
    """
    if name not in FORMATS:
        raise InputError(f"{called(option)} must be one of {', '.join(sorted(FORMATS))}; got {name!r}")
    return FORMATS[name]


def check_needs(name: str) -> None:
    """Raise where what writes a format is not installed."""
    for module in FORMATS[name].needs:
        with needing(FORMATS[name].extra, f"writing {name}"):
            import_module(module)
