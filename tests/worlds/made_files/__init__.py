"""Small files as people really have them, each with what must be read, dropped, told or refused."""

from __future__ import annotations

from worlds.made_files import damaged, fixes, public_forms, text_forms
from worlds.made_files.made import Made

CASES: tuple[Made, ...] = (*public_forms.CASES, *damaged.CASES, *text_forms.CASES, *fixes.CASES)

__all__ = ["CASES", "Made"]
