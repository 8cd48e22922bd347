"""Presets: the column names, layouts and quirks of public mobility data sets."""

from tripcloak.records.presets.known import PRESETS, TEXT, find_preset, of_lines
from tripcloak.records.presets.preset import Derived, Layout, Preset

__all__ = ["PRESETS", "TEXT", "Derived", "Layout", "Preset", "find_preset", "of_lines"]
