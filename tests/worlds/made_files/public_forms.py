"""Public data sets in exactly the form in which they are published."""

from __future__ import annotations

from worlds.made_files import public_rides, public_tallies, public_whereabouts
from worlds.made_files.made import Made

CASES: tuple[Made, ...] = (*public_rides.CASES, *public_whereabouts.CASES, *public_tallies.CASES)
