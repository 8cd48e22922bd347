"""What a preset reads and what becomes of it, for people and for programs."""

from __future__ import annotations

from typing import Any

from tripcloak.records.presets.preset import Preset

_MOST_NAMES = 4


def listed(preset: Preset) -> dict[str, Any]:
    """Return what a preset reads, in plain values: files, form, what an id is, columns by role, zones.

    Of names that a column has had, the first few are told.

    Examples
    --------
    >>> from tripcloak.records.presets import find_preset
    >>> told = listed(find_preset("lodes"))
    >>> told["forms"], told["id_is"], told["columns"]["trips"]
    (['counts'], 'person', ['S000'])
    """
    return {
        "preset": preset.name,
        "reads": preset.words,
        "files": list(preset.like),
        "forms": list(preset.forms),
        "id_is": preset.id_is,
        "columns": {role: list(names[:_MOST_NAMES]) for role, names in preset.columns.items()},
        "layouts": [
            {"files": layout.pattern, "columns": list(layout.columns), "delimiter": layout.delimiter}
            for layout in preset.all_layouts
        ],
        "zones": preset.zones or None,
        "zone_ids": list(preset.zone_ids),
        "unknown_zones": list(preset.unknown_zones),
        "people_once": preset.people_once,
        "notes": list(preset.notes),
    }
