"""Fixes of all samplings, with flags and stops, and of whole continents."""

from __future__ import annotations

from worlds.made_files.made import Made

CASES: tuple[Made, ...] = ()
