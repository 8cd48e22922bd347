"""All presets, and which of them files without a line of names belong to."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tripcloak.ground.errors import InputError
from tripcloak.records.presets.preset import Layout, Preset
from tripcloak.records.presets.rides import RIDES
from tripcloak.records.presets.tallies import TALLIES
from tripcloak.records.presets.whereabouts import WHEREABOUTS

TEXT = (".txt", ".csv", ".tsv")
"""Endings of text files that may hold any layout."""

PRESETS: dict[str, Preset] = {preset.name: preset for preset in (*RIDES, *WHEREABOUTS, *TALLIES)}

ALSO_CALLED = {"mds-trips": "mds"}
"""Other names of presets."""


def find_preset(name: str) -> Preset:
    """Return the preset of that name, or raise an InputError that lists the known ones.

    Examples
    --------
    >>> find_preset("lodes").people_once
    True
    """
    name = ALSO_CALLED.get(name, name)
    if name not in PRESETS:
        raise InputError(
            f"unknown preset; expected one of {', '.join(PRESETS)} (`tripcloak presets` says what each reads)"
        )
    return PRESETS[name]


def of_lines(lines: Sequence[str], ending: str, among: Preset | None = None) -> tuple[Preset, Layout] | None:
    """Return the one format that all first lines of a file are written in, as only it is; else None.

    Parameters
    ----------
    lines
        The first lines of the file, whole.
    ending
        How the name of the file ends.
    among
        The format, if it is known, of which only the layout is sought.

    Examples
    --------
    >>> preset, layout = of_lines(["1,2008-02-02 15:36:08,116.51172,39.92123"], ".txt")
    >>> preset.name, layout.columns
    ('tdrive', ('taxi_id', 'date_time', 'longitude', 'latitude'))
    >>> of_lines(["user,time,lon,lat", "1,2008-02-02 15:36:08,116.51172,39.92123"], ".txt")
    """
    found = [
        (preset, layout)
        for preset in (PRESETS.values() if among is None else (among,))
        for layout in preset.all_layouts
        if layout.line and ending in (*layout.suffixes, *TEXT) and _fits(layout, lines)
    ]
    # An empty field fits both Gowalla and Brightkite: then nothing is certain.
    return found[0] if len(found) == 1 else None


def _fits(layout: Layout, lines: Sequence[str]) -> bool:
    body = lines[layout.skip :]
    return bool(body) and all(re.fullmatch(layout.line, line) for line in body)
