"""Which public format a line of column names looks like, for whoever did not name one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cache

from tripcloak.ground.spelling import spelt
from tripcloak.records.columns import plain_name
from tripcloak.records.presets import PRESETS, Preset
from tripcloak.records.schema import KNOWN_NAMES

_FEW = 3
_MANY = 6


def proposed_presets(header: Sequence[str]) -> tuple[str, ...]:
    """Return the public formats that column names look like, all as much; none where they are anybody's.

    A format is proposed where it is alone with two of its names and has three, or where six of its names are
    there: the bike shares of several cities are written alike.

    Examples
    --------
    >>> proposed_presets(["h_geocode", "w_geocode", "S000", "SA01"])
    ('lodes',)
    >>> proposed_presets(["start_lat", "start_lng", "end_lat", "end_lng", "started_at"])
    ()
    """
    names = {plain_name(name) for name in header}
    matched = {name: own & names for name, own in _own_names().items()}
    shared = Counter(word for own in _own_names().values() for word in own)
    found = {
        name: len(own)
        for name, own in matched.items()
        if len(own) >= _MANY
        or (len(own) >= _FEW and sum(shared[word] == 1 and word not in _PLAIN for word in own) > 1)
    }
    most = max(found.values(), default=0)
    return tuple(name for name, n in found.items() if n == most)


def proposal(header: Sequence[str]) -> str | None:
    """Return the proposal in words; None where there is none.

    >>> proposal(["h_geocode", "w_geocode", "S000"])
    "this looks like lodes: preset='lodes'"
    """
    names = proposed_presets(header)
    if len(names) > 1:
        return f"this looks like one of {', '.join(names)}: say which with {spelt('preset', 'NAME')}"
    return f"this looks like {names[0]}: {spelt('preset', names[0])}" if names else None


_PLAIN = frozenset(
    plain_name(names[0]) for role, names in KNOWN_NAMES.items() if role not in ("polyline", "incomplete")
)
"""Names that anybody would give."""


@cache
def _own_names() -> dict[str, frozenset[str]]:
    """Return the names of columns that belong to each format, and not to any table of its kind."""
    return {name: frozenset(_names(preset)) for name, preset in PRESETS.items()}


def _names(preset: Preset) -> set[str]:
    made = {plain_name(item.name) for item in preset.derived}
    own = {plain_name(name) for item in preset.derived for name in item.needs}
    for role, names in preset.columns.items():
        usual = set(KNOWN_NAMES.get(role, ()))
        # A format that takes whatever is usual says little by it.
        listed = [name for name in names if name not in usual] if usual and usual <= set(names) else names
        own |= {plain_name(name) for name in listed} - made
    return own
