"""Text in all its forms: encodings, decimal commas, dates, archives."""

from __future__ import annotations

from worlds.made_files.made import Made

CASES: tuple[Made, ...] = ()
