"""Columns of pandas and GeoPandas frames as Arrow, whatever they hold, and the index where it has names."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tripcloak.api.inputs import Points, hint_on_names, spelt_names
from tripcloak.ground.errors import InputError
from tripcloak.records.files.frames import LoadedFrame

if TYPE_CHECKING:
    import pyarrow as pa

Column = Callable[[], tuple["pa.Array", list[str]]]
"""Gives a column as Arrow, and what to know about it."""

WGS84 = "EPSG:4326"


@dataclass(frozen=True)
class PandasColumns:
    """How each column of a frame is had; none is turned to Arrow before it is asked for.

    Attributes
    ----------
    hint : str
        What to know where a needed column is not found.
    notes : tuple of str
        What to know about the frame, whichever columns are read.
    """

    columns: dict[str, Column]
    hint: str
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, frame: Any, points: Points) -> PandasColumns:
        """Return the columns of a frame, the levels of its index that have a name, and its points.

        Examples
        --------
        >>> import pandas as pd
        >>> frame = pd.DataFrame({"lat": [48.85]}, index=pd.Index(["a"], name="user"))
        >>> taken = PandasColumns.of(frame, Points())
        >>> taken.names, taken.load(["user"]).notes
        (('lat', 'user'), ("the index 'user' was read as a column",))
        """
        index = _index_names(frame)
        spelt = spelt_names([*frame.columns, *index])
        columns: dict[str, Column] = {}
        for text, name in spelt.items():
            if name in index:
                columns[text] = _index_column(frame, name, text)
            elif _is_geometry(frame[name]):
                columns |= _point_columns(frame, name, points, set(spelt))
            else:
                columns[text] = _plain_column(frame, name, text)
        return cls(columns, hint_on_names(frame.columns) or _hint_on_index(frame), _notes_on_index(frame))

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of all columns."""
        return tuple(self.columns)

    def load(self, names: list[str]) -> LoadedFrame:
        """Return some of the columns as Arrow."""
        import pyarrow as pa

        found = {name: self.columns[name]() for name in names}
        notes = dict.fromkeys([*self.notes, *(note for _, told in found.values() for note in told)])
        return LoadedFrame(pa.table({name: column for name, (column, _) in found.items()}), tuple(notes))


def as_arrow(values: Any, name: str) -> tuple[pa.Array, list[str]]:
    """Return a column as Arrow, and a note where it holds values of several kinds and so became text.

    Examples
    --------
    >>> import pandas as pd
    >>> column, notes = as_arrow(pd.Series([1, "x", None, 2.5], dtype=object), "rider")
    >>> column.to_pylist(), notes
    (['1', 'x', None, '2.5'], ["column 'rider' holds values of several kinds and was read as text"])
    """
    import pyarrow as pa

    try:
        column = pa.array(values, from_pandas=True)
    except (pa.ArrowException, OverflowError, ValueError, TypeError):
        column = None
    if column is None or _unlike(values, column.type):
        return _as_text(values), [f"column {name!r} holds values of several kinds and was read as text"]
    if pa.types.is_float16(column.type):
        column = column.cast(pa.float32())
    return column, []


def _unlike(values: Any, kind: pa.DataType) -> bool:
    """Return whether Arrow took a column for something that it is not, or that the engine cannot read."""
    import pyarrow as pa

    if isinstance(kind, pa.BaseExtensionType):
        return bool(kind.extension_name != "arrow.uuid")
    # Of times with a zone and without, Arrow takes the latter for UTC.
    mixed = pa.types.is_timestamp(kind) and kind.tz is not None and values.dtype == object
    return bool(mixed) and any(getattr(value, "tzinfo", value) is None for value in values.dropna())


def _as_text(values: Any) -> pa.Array:
    import pyarrow as pa

    missing = values.isna().to_numpy()
    cells = (None if lacks else str(cell) for cell, lacks in zip(values, missing, strict=True))
    return pa.array(cells, pa.large_string())


def _plain_column(frame: Any, name: Any, text: str) -> Column:
    return lambda: as_arrow(frame[name], text)


def _index_column(frame: Any, name: Any, text: str) -> Column:
    def load() -> tuple[pa.Array, list[str]]:
        column, notes = as_arrow(frame.index.get_level_values(name).to_series(), text)
        return column, [f"the index {text!r} was read as a column", *notes]

    return load


def _index_names(frame: Any) -> list[Any]:
    """Return the names of the index that no column has."""
    return [name for name in frame.index.names if name is not None and name not in set(frame.columns)]


def _hint_on_index(frame: Any) -> str:
    if not _has_unnamed_index(frame):
        return ""
    return " The index has no name and was not looked at: name it if it holds one of these."


def _has_unnamed_index(frame: Any) -> bool:
    unnamed = any(name is None for name in frame.index.names)
    return unnamed and not isinstance(frame.index, sys.modules["pandas"].RangeIndex)


def _notes_on_index(frame: Any) -> tuple[str, ...]:
    """Return a note on an index that may hold people: other than rows that were numbered and picked."""
    index = frame.index
    numbered = index.nlevels == 1 and index.dtype.kind in "iu" and index.is_unique
    if not _has_unnamed_index(frame) or numbered:
        return ()
    return ("the index has no name and was not looked at: name it if it tells people apart",)


def _is_geometry(values: Any) -> bool:
    return str(getattr(values, "dtype", "")) == "geometry"


def _point_columns(frame: Any, name: Any, points: Points, taken: set[str]) -> dict[str, Column]:
    """Return latitude and longitude of a geometry that is asked for; nothing of any other."""
    values, text = frame[name], str(name)
    asked = points.asked(text, active=name == getattr(frame, "active_geometry_name", None))
    if asked is None or set(asked) & taken:
        return {}
    if not _are_points(values):
        if points.named(text) is None:
            return {}
        raise InputError(f"the geometry {text!r} holds other shapes than points; expected one point a row")
    lat, lon = asked
    return {lat: lambda: _ordinate(values, "y", text), lon: lambda: _ordinate(values, "x", text)}


def _are_points(values: Any) -> bool:
    import shapely

    shapes = values.to_numpy()
    there = shapes[~(shapely.is_missing(shapes) | shapely.is_empty(shapes))]
    return bool((shapely.get_type_id(there) == shapely.GeometryType.POINT).all())


def _ordinate(values: Any, axis: str, name: str) -> tuple[pa.Array, list[str]]:
    import pyarrow as pa
    import shapely

    notes = []
    if values.crs is None:
        notes = [f"the geometry {name!r} does not say its coordinate system and was read as degrees"]
    elif values.crs != WGS84:
        values = values.to_crs(WGS84)
    shapes = values.to_numpy()
    found = shapely.get_y(shapes) if axis == "y" else shapely.get_x(shapes)
    return pa.array(found, from_pandas=True), notes
