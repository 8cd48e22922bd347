"""GeoPackage: flows and zones as layers, each with a style that QGIS applies by itself."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tripcloak.exporting.long_table import with_points_kept

if TYPE_CHECKING:
    import pyarrow as pa

    from tripcloak.exporting.export import PublicTables

STYLES = (
    "create table layer_styles (id integer primary key autoincrement, f_table_catalog text, "
    "f_table_schema text, f_table_name text, f_geometry_column text, styleName text, styleQML text, "
    "styleSLD text, useAsDefault boolean, description text, owner text, ui text, update_time datetime)"
)
"""The table in which QGIS looks for styles."""

LISTED = (
    "insert into gpkg_contents (table_name, data_type, identifier, description, last_change) "
    "values ('layer_styles', 'attributes', 'layer_styles', '', '1970-01-01T00:00:00.000Z')"
)


def write_geopackage(tables: PublicTables, path: Path) -> int:
    """Write the layers ``flows``, ``origins`` and ``destinations``; return how many flows are in it."""
    lines = with_points_kept(tables.flows)
    volume = tables.facts["volume"]
    layers = {"flows": ("LineString", lines, _line_style(volume, lines))}
    for axis, layer in (("origin", "origins"), ("destination", "destinations")):
        zones = _zones(tables.zones, axis)
        if zones is not None:
            layers[layer] = ("MultiPolygon", zones, _zone_style())
    for name, (kind, table, _) in layers.items():
        _write_layer(table, path, name, kind)
    with closing(sqlite3.connect(path)) as con, con:
        con.execute(STYLES)
        con.execute(LISTED)
        con.executemany(
            "insert into layer_styles (f_table_catalog, f_table_schema, f_table_name, f_geometry_column, "
            "styleName, styleQML, styleSLD, useAsDefault, description, owner, update_time) "
            "values ('', '', ?, 'geom', ?, ?, '', 1, '', '', '1970-01-01T00:00:00.000Z')",
            [(name, name, style) for name, (_, _, style) in layers.items()],
        )
    return len(lines)


def _zones(zones: pa.Table, axis: str) -> pa.Table | None:
    """Return the zones of an axis with outlines, as several polygons each; None where there are none."""
    import numpy as np
    import pyarrow as pa
    import shapely
    from pyarrow import compute

    if "geometry" not in zones.column_names:
        return None
    own = zones.filter(compute.equal(zones["axis"], axis)).drop_columns(["axis"])
    own = own.filter(compute.is_valid(own["geometry"]))
    if not len(own):
        return None
    shapes = shapely.from_wkb(own["geometry"].to_numpy(zero_copy_only=False))
    single = shapely.get_type_id(shapes) == shapely.GeometryType.POLYGON
    shapes[single] = shapely.multipolygons(shapes[single], indices=np.arange(single.sum()))
    # Lists are no type of a GeoPackage.
    lists = [name for name in ("members",) if name in own.column_names]
    own = own.drop_columns([*lists, "geometry"])
    return own.append_column("geometry", pa.array(shapely.to_wkb(shapes).tolist(), pa.binary()))


def _write_layer(table: pa.Table, path: Path, layer: str, kind: str) -> None:
    import numpy as np
    from pyogrio.raw import write

    fields = [name for name in table.column_names if name != "geometry"]
    write(
        path,
        table["geometry"].to_numpy(zero_copy_only=False),
        [np.asarray(table[name].to_numpy(zero_copy_only=False)) for name in fields],
        fields,
        driver="GPKG",
        layer=layer,
        geometry_type=kind,
        crs="EPSG:4326",
        append=path.exists(),
    )


def _line_style(volume: str, lines: pa.Table) -> str:
    """Return lines whose width follows the volume, up to 4 mm for the largest."""
    from pyarrow import compute

    most = compute.max(lines[volume]).as_py() if len(lines) else 1
    width = f"0.1 + 3.9 * sqrt(&quot;{volume}&quot; / {most or 1}.0)"
    properties = (
        _option("active", "true", "bool") + _option("expression", width) + _option("type", "3", "int")
    )
    return _document(
        '<symbol type="line" name="0" alpha="0.6"><layer class="SimpleLine" enabled="1"><Option type="Map">'
        + _option("line_color", "30,110,160,255")
        + _option("line_width", "0.3")
        + '</Option><data_defined_properties><Option type="Map"><Option type="Map" name="properties">'
        + f'<Option type="Map" name="outlineWidth">{properties}</Option>'
        + "</Option></Option></data_defined_properties></layer></symbol>"
    )


def _zone_style() -> str:
    return _document(
        '<symbol type="fill" name="0" alpha="0.35"><layer class="SimpleFill" enabled="1"><Option type="Map">'
        + _option("color", "200,205,210,255")
        + _option("outline_color", "90,95,100,255")
        + _option("outline_width", "0.2")
        + "</Option></layer></symbol>"
    )


def _option(name: str, value: Any, kind: str = "QString") -> str:
    return f'<Option type="{kind}" name="{name}" value="{value}"/>'


def _document(symbol: str) -> str:
    return (
        '<!DOCTYPE qgis PUBLIC "http://mrcc.com/qgis.dtd" "SYSTEM"><qgis styleCategories="Symbology">'
        f'<renderer-v2 type="singleSymbol"><symbols>{symbol}</symbols></renderer-v2></qgis>'
    )
