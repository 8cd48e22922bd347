"""TableTiling: zones of a file under the parents that its own columns name."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tripcloak.arrays import Ints
from tripcloak.errors import HierarchyError
from tripcloak.hierarchy.tiling import Keys
from tripcloak.hierarchy.tree import ROOT, Hierarchy
from tripcloak.hierarchy.zone_tiling import ZoneTiling, fresh_id, with_places


@dataclass(frozen=True, eq=False)
class TableTiling(ZoneTiling):
    """Tiles that are the zones of a file, under the zones named in its columns: tract, county, state.

    A zone without a value in some column skips that level, so depths may differ. Zones without a common
    parent are joined under a root named ``all``. An inner zone's id is its value; where that is also the
    id of another zone it becomes ``column=value``.

    Parameters
    ----------
    zones
        The file.
    levels
        Columns that name parents, from the finest to the coarsest.

    Examples
    --------
    >>> from tripcloak.hierarchy import ZoneFile
    >>> county = np.array(["Kings", "Kings", ""])
    >>> zones = ZoneFile(np.array(["t1", "t2", "t3"]), np.zeros(3), np.arange(3.0), {"county": county})
    >>> tree = TableTiling(zones, ("county",)).hierarchy(np.array([0, 1, 2], dtype=np.uint64))
    >>> tree.zones.ids.tolist(), tree.parent.tolist()
    (['t1', 't2', 't3', 'Kings', 'all'], [3, 3, 4, 4, -1])
    """

    levels: tuple[str, ...]

    def __post_init__(self) -> None:
        if not self.levels or len(set(self.levels)) != len(self.levels):
            raise HierarchyError(
                "a table of parents needs one or more different columns, such as table:county,state"
            )
        for level in self.levels:
            self.zones.attribute(level)

    @property
    def name(self) -> str:
        """Return the tiling's text, such as ``table:county,state``."""
        return "table:" + ",".join(self.levels)

    def hierarchy(self, keys: Keys) -> Hierarchy:
        """Return the hierarchy over all zones of the file; the keys say which of them occur."""
        levels = [_coded(self.zones.attribute(level)) for level in self.levels]
        starts = np.cumsum([len(self.zones), *(len(level.values) for level in levels)])
        # What every zone of the file lies in, one column a level; -1 where the file leaves it open.
        within = np.column_stack([level.code for level in levels])
        above = [within.copy()] + [self._lies_in(at, levels, within) for at in range(len(levels))]
        parent = np.concatenate([_first_parent(codes, starts) for codes in above])
        ids = self._ids(levels)
        if np.count_nonzero(parent == ROOT) > 1:
            parent = np.append(np.where(parent == ROOT, len(ids), parent), ROOT)
            ids.append(fresh_id("all", set(ids)))
        observed = self._observed(keys, len(ids))
        tree = Hierarchy.from_parents(ids, parent, name=self.name, observed=observed)
        return with_places(tree, self.zones)

    def _lies_in(self, at: int, levels: list[_Coded], within: Ints) -> Ints:
        """Return what every value of a level lies in, and complete the rows that hold it accordingly.

        Levels are taken from the finest up, so what one row says of a county is known of all its tracts
        when their states are compared.
        """
        found = np.full((len(levels[at].values), len(levels)), -1)
        holds = np.flatnonzero(within[:, at] >= 0)
        for above in range(at + 1, len(levels)):
            named = holds[within[holds, above] >= 0]
            found[within[named, at], above] = within[named, above]
            differs = named[found[within[named, at], above] != within[named, above]]
            if differs.size:
                value = within[differs[0], at]
                two = within[differs[0], above], found[value, above]
                raise HierarchyError(
                    f"the zones file contradicts itself: column {self.levels[above]!r} puts "
                    f"{levels[at].values[value]!r} of column {self.levels[at]!r} into "
                    f"{' and into '.join(repr(levels[above].values[code]) for code in two)}; "
                    "every zone has one parent"
                )
            within[holds, above] = found[within[holds, at], above]
        return found

    def _ids(self, levels: list[_Coded]) -> list[str]:
        """Return the ids of the file's zones and of the inner ones, which carry their column where needed."""
        ids: list[str] = self.zones.ids.tolist()
        seen = Counter(ids)
        for level in levels:
            seen.update(level.values)
        for name, level in zip(self.levels, levels, strict=True):
            ids += [f"{name}={value}" if seen[value] > 1 else value for value in level.values]
        return ids


class _Coded(NamedTuple):
    """A column: its distinct values, and per row which of them it holds, -1 where it is empty."""

    values: list[str]
    code: Ints


def _coded(column: NDArray[np.str_]) -> _Coded:
    values, code = np.unique(column, return_inverse=True)
    if values[0] == "":
        return _Coded(values[1:].tolist(), code - 1)
    return _Coded(values.tolist(), code)


def _first_parent(codes: Ints, starts: Ints) -> Ints:
    """Return the row of the finest zone named above each zone, or ROOT where none is."""
    parent = np.full(len(codes), ROOT)
    for at in reversed(range(codes.shape[1])):
        parent = np.where(codes[:, at] >= 0, starts[at] + codes[:, at], parent)
    return parent
