"""Records that name places whose coordinates stand in a second file: both are joined by their layout."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tripcloak.ground.errors import InputError
from tripcloak.records.files.paths import layout_of
from tripcloak.records.presets import Layout, Preset

if TYPE_CHECKING:
    import duckdb

Scan = Callable[[Layout, Sequence[Path]], str]
"""Gives the SQL that reads files of a layout."""

_PLACES = "tripcloak_places"
_TAKEN = ("latitude", "longitude")


def without_places(
    con: duckdb.DuckDBPyConnection, files: Sequence[Path], preset: Preset | None, scan: Scan
) -> list[Path]:
    """Return the files that hold records, after making a temporary table of the places that others hold.

    Places that were not given are looked for beside the records. A place that is listed twice counts once, so
    that no record is counted twice.

    Raises
    ------
    InputError
        Records name places, and no file of places is there.
    """
    if preset is None or not any(layout.places for layout in preset.layouts):
        return list(files)
    kept = [file for file in files if not preset.passes_over(file.name)]
    layouts = {file: layout_of(file, preset) for file in kept}
    holding = {layout.places for layout in preset.layouts}
    for layout in {one for one in layouts.values() if one is not None and one.places}:
        assert layout.places is not None
        given = [file for file, found in layouts.items() if found == layout.places]
        records = [file for file, found in layouts.items() if found == layout]
        _make_places(con, layout, given or _beside(records, layout.places), scan)
    return [file for file, layout in layouts.items() if layout is None or layout not in holding]


def placed(source: str, layout: Layout | None, *, numbered: bool = False) -> str:
    """Return SQL of records with the coordinates of the places they name, if they have none of their own."""
    if layout is None or layout.places is None:
        return source
    which = ", r.file_index AS file_index" if numbered else ""
    taken = ", ".join(f"p.place.{name} AS {name}" for name in _TAKEN)
    return f"(SELECT r.*, {taken}{which} FROM {source} AS r LEFT JOIN {_PLACES} AS p USING ({layout.on}))"


def placed_columns(layout: Layout | None) -> tuple[str, ...]:
    """Return the columns that places add to records of a layout.

    >>> placed_columns(None)
    ()
    """
    return () if layout is None or layout.places is None else _TAKEN


def _beside(records: Sequence[Path], places: Layout) -> list[Path]:
    folders = dict.fromkeys(file.parent for file in records)
    found = [file for folder in folders for file in sorted(folder.glob(places.pattern)) if file.is_file()]
    if not found:
        raise InputError(
            f"{records[0].name} names places whose coordinates stand in another file of the publication; "
            f"give that file too (it is called like {places.pattern}), or the folder of both"
        )
    return found


def _make_places(con: duckdb.DuckDBPyConnection, layout: Layout, files: Sequence[Path], scan: Scan) -> None:
    assert layout.places is not None
    place = f"struct_pack({', '.join(f'{name} := {name}' for name in _TAKEN)})"
    con.execute(
        f"CREATE OR REPLACE TEMP TABLE {_PLACES} AS SELECT {layout.on}, min({place}) AS place "
        f"FROM {scan(layout.places, files)} GROUP BY {layout.on}"
    )
