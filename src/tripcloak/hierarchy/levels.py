"""Levels: the numbers by which people know the heights of a hierarchy."""

from __future__ import annotations

import re

from tripcloak.ground.errors import InputError

UNION_STEPS = 3
"""Heights from one resolution to the next where hexagons are joined in steps."""

_GRID = re.compile(r"(h3|quadtree):(\d{1,2})(?:/|$)")


def level_height(hierarchy: str, level: int) -> int:
    """Return the height that a level of a hierarchy stands at.

    The levels of H3 are its resolutions, those of a quadtree its depths: larger numbers are finer. Zones of a
    file are at level 0, the zones above them at 1 and so on.

    Parameters
    ----------
    hierarchy
        Its text, such as ``h3:10``.

    Raises
    ------
    InputError
        There is no such level, or it is finer than the tiles.

    Examples
    --------
    >>> level_height("h3:10", 8), level_height("h3:10/binary", 8), level_height("table:county,state", 1)
    (2, 6, 1)
    >>> level_height("h3:8", 10)
    Traceback (most recent call last):
    tripcloak.InputError: level 10 is finer than the tiles of h3:8; its levels are 0 to 8
    """
    grid = _GRID.match(hierarchy)
    if grid is None:
        if level < 0:
            raise InputError(
                f"the levels of {hierarchy} are 0 for its tiles, 1 above them and so on; got {level}"
            )
        return level
    finest = int(grid[2])
    if level > finest:
        raise InputError(
            f"level {level} is finer than the tiles of {hierarchy}; its levels are 0 to {finest}"
        )
    if level < 0:
        raise InputError(f"the levels of {hierarchy} are 0 to {finest}; got {level}")
    return (finest - level) * (UNION_STEPS if hierarchy.endswith("/binary") else 1)
