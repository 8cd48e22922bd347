"""Files with damage: bad rows, swapped coordinates, mixed columns, duplicates."""

from __future__ import annotations

from worlds.made_files.made import Made

CASES: tuple[Made, ...] = ()
