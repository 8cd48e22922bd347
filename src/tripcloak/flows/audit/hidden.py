"""The auditor's own reading of hidden choices, and its own draw of thresholds."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from tripcloak.ground.entries import unreadable

ENTRY = "promise"
UNITS = ("trips", "travellers", "population")


class HiddenThresholds(NamedTuple):
    """The range that every flow's threshold is drawn from, both ends included, and what it counts."""

    k: float
    up_to: int
    unit: str

    @property
    def figures(self) -> str:
        """Return the numbers that a sentence on it gives."""
        return f"{int(self.k):,} {self.up_to:,}"

    def drawn(self, secret: str, zones: Sequence[str]) -> int:
        """Return the threshold that a secret draws for a flow between these zones."""
        key = hashlib.blake2b(secret.encode("utf-8"), digest_size=32).digest()
        told = hashlib.blake2b(b"\0".join(zone.encode("utf-8") for zone in zones), digest_size=8, key=key)
        return int(self.k) + int(told.hexdigest(), 16) % (self.up_to - int(self.k) + 1)


def read_hidden(told: Mapping[str, Any]) -> HiddenThresholds:
    """Return the range that a part of a promise states, or raise :class:`BrokenPart`.

    >>> read_hidden({"kind": "hidden choices", "k": 10, "unit": "trips", "up_to": 20}).figures
    '10 20'
    """
    if set(told) != {"kind", "k", "unit", "up_to"}:
        raise unreadable(ENTRY, "of a known kind, with k, unit, up_to and no more")
    k, unit, up_to = told["k"], told["unit"], told["up_to"]
    if unit not in UNITS or type(k) is not int or k < 2 or type(up_to) is not int or up_to < 2 * k:
        raise unreadable(ENTRY, "thresholds from k to twice k or more, of a known unit")
    return HiddenThresholds(float(k), up_to, unit)
