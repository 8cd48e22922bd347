"""A reader of public files alone: what several releases prove about few people, by linear programmes.

It knows nothing of the ledger: numbers and zones are read from `release/`, and trips are put into zones by
their tiles, or into boxes by their places. It is given the trips to know which sets of them there are at all,
and to be judged; how many are in a set it must prove from what was published.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain, combinations
from pathlib import Path
from typing import NamedTuple

import h3
import numpy as np
from scipy.optimize import Bounds, LinearConstraint, linprog, milp
from scipy.sparse import lil_array

Trip = dict[str, str]
Sum = dict[int, int]
"""A linear form: what every unknown is taken by."""

EVERYWHERE = "all"
CLOSE = 1e-6
SURELY = 0.02
"""What a proof is above nothing, and below k, at least."""
FACTOR = 8
"""How often a number is taken at most."""


class Cell(NamedTuple):
    """A published number: its table, its zones, and between what the true one lies."""

    table: tuple[str, str]
    origin: str
    destination: str
    least: int
    most: int


@dataclass
class Published:
    """What a release tells in public, and which trips are in its input."""

    folder: Path
    is_in: Callable[[Trip], bool] = lambda trip: True
    cells: list[Cell] = field(init=False)

    def __post_init__(self) -> None:
        manifest = json.loads((self.folder / "release/manifest.json").read_text())
        self.resolution = int(manifest["hierarchy"]["spec"].split(":")[1].split("/")[0])
        parts = manifest["promise"].get("promises", [manifest["promise"]])
        self.k = next(part["k"] for part in parts if "k" in part)
        self.base = next((part["base"] for part in parts if part["kind"] == "rounding"), 1)
        self.cells = [*self._cells("flows.csv"), *self._cells("tables.csv")]

    def _cells(self, name: str) -> Iterable[Cell]:
        path = self.folder / "release" / name
        for row in csv.DictReader(path.open()) if path.exists() else ():
            table = row.get("origin_level", ""), row.get("destination_level", "")
            n, less = int(row["trips"]), self.base - 1
            yield Cell(table, row["origin"], row["destination"], n - less, n + less)

    def holding(self, trip: Trip) -> tuple[int, ...]:
        """Return the cells whose zones hold both ends of a trip; none where it is not in the input."""
        if not self.is_in(trip):
            return ()
        start, end = ((float(trip[f"{side}_lat"]), float(trip[f"{side}_lon"])) for side in ("start", "end"))
        return tuple(
            at
            for at, cell in enumerate(self.cells)
            if self._lies_in(start, cell.origin) and self._lies_in(end, cell.destination)
        )

    def _lies_in(self, place: tuple[float, float], zone: str) -> bool:
        if zone.startswith("box_"):
            south, west, north, east = map(float, zone.split("_")[1:])
            return south <= place[0] <= north and west <= place[1] <= east
        if zone in ("", EVERYWHERE):
            return True
        own = h3.latlng_to_cell(*place, self.resolution)
        height = h3.get_resolution(zone)
        return h3.cell_to_parent(own, height) == zone


class Proven(NamedTuple):
    """A set of trips that is proven to hold so many: what it is, and between what its number lies."""

    what: str
    least: int
    most: int


class PublicAttack:
    """All that releases prove together.

    Parameters
    ----------
    releases
        What is published.
    trips
        All trips, by which it is known which sets there are.
    """

    def __init__(self, releases: Sequence[Published], trips: Sequence[Trip]) -> None:
        self.releases, self.k = releases, min(one.k for one in releases)
        found: dict[tuple[tuple[object, ...], ...], list[Trip]] = {}
        for trip in trips:
            found.setdefault(tuple((one.is_in(trip), one.holding(trip)) for one in releases), []).append(trip)
        self.keys, self.members = list(found), list(found.values())
        self.n = len(found)
        self.rows: list[tuple[Sum, float, float]] = []
        for at in range(len(releases)):
            self._tell(at)

    def _unknown(self) -> int:
        self.n += 1
        return self.n - 1

    def _tell(self, at: int) -> None:
        """Note what one release tells: every number is a sum over sets of trips, or over parts of them."""
        cells, held = self.releases[at].cells, [key[at][1] for key in self.keys]
        sums: list[Sum] = [{} for _ in cells]
        for atom, own in enumerate(held):
            flows = [one for one in own if cells[one].table == ("", "")]
            boxes = any(cells[one].origin.startswith("box_") for one in flows)
            if boxes:
                # Boxes may overlap, and hold no trip for certain.
                parts = {one: self._unknown() for one in flows}
                self.rows.append(({**dict.fromkeys(parts.values(), 1), atom: -1}, -np.inf, 0))
                for one, part in parts.items():
                    sums[one][part] = 1
            elif flows:
                (flow,) = flows
                for one in own:
                    if one == flow or _is_cell_of(cells[one], cells[flow]):
                        sums[one][atom] = 1
            else:
                self._counted_in_part(atom, own, cells, sums)
        self.sums = [*getattr(self, "sums", []), sums]
        self.rows += [(form, cell.least, cell.most) for form, cell in zip(sums, cells, strict=True)]

    def _counted_in_part(self, atom: int, own: Sequence[int], cells: list[Cell], sums: list[Sum]) -> None:
        """Note that of withheld trips some are in totals, and in coarser ones no fewer."""
        tables: dict[tuple[str, str], Sum] = {}
        for one in own:
            part = self._unknown()
            sums[one][part] = 1
            tables.setdefault(cells[one].table, {})[part] = 1
        for table, parts in tables.items():
            self.rows.append(({**parts, atom: -1}, -np.inf, 0))
            for other, more in tables.items():
                if _is_coarser(other, table):
                    self.rows.append(({**parts, **dict.fromkeys(more, -1)}, -np.inf, 0))

    def facts(self) -> list[Proven]:
        """Return everything that is proven about at least one trip and about few people."""
        self._programme = _Programme(self.rows, self.n)
        return [*self._of_trips(), *self._of_totals()]

    def proven_set(self) -> list[list[Trip]] | None:
        """Return any set of trips that is proven to hold one, and fewer than k; None where there is none.

        One integer programme looks for the set and for both proofs at once: sums of what is told that are no
        more than the set's own and above nothing, and others that are no less and below k.
        """
        atoms, rows = len(self.keys), [row for row in self.rows if row[0]]
        told = np.zeros((len(rows), self.n))
        for at, (form, _, _) in enumerate(rows):
            told[at, list(form)] = list(form.values())
        least, most = (np.array([row[end] for row in rows], dtype=float) for end in (1, 2))
        above, below = np.flatnonzero(np.isfinite(least)), np.flatnonzero(np.isfinite(most))
        proof = np.vstack([told[above], -told[below]]).T
        bound = np.append(least[above], -most[below])
        n, none = proof.shape[1], np.zeros_like(proof)
        own = np.vstack([np.eye(atoms), np.zeros((self.n - atoms, atoms))])
        rest = np.zeros(atoms)
        found = milp(
            np.zeros(2 * n + atoms),
            constraints=[
                LinearConstraint(np.hstack([proof, none, -own]), -np.inf, 0),
                LinearConstraint(np.hstack([none, -proof, -own]), 0, np.inf),
                LinearConstraint(np.concatenate([bound, 0 * bound, rest]), SURELY, np.inf),
                LinearConstraint(np.concatenate([0 * bound, -bound, rest]), -np.inf, self.k - SURELY),
            ],
            bounds=Bounds(0, np.append(np.full(2 * n, FACTOR), np.ones(atoms))),
            integrality=np.append(np.zeros(2 * n), np.ones(atoms)),
        )
        assert found.status in (0, 2), found.message
        if found.x is None:
            return None
        return [self.members[at] for at in np.flatnonzero(found.x[2 * n :] > 0.5)]

    def _of_trips(self) -> Iterable[Proven]:
        """Yield what is proven of sets of trips: atoms, and what one cell holds and other releases do not."""
        sets = {frozenset([atom]) for atom in range(len(self.keys))}
        for at, one in enumerate(self.releases):
            others = [other for other in range(len(self.releases)) if other != at]
            some = chain.from_iterable(combinations(others, n) for n in range(1, len(others) + 1))
            for without in some:
                for cell in range(len(one.cells)):
                    inside = (atom for atom, key in enumerate(self.keys) if cell in key[at][1])
                    sets.add(
                        frozenset(a for a in inside if not any(self.keys[a][other][1] for other in without))
                    )
        for own in sorted(sets - {frozenset()}, key=sorted):
            people = {trip["person_id"] for atom in own for trip in self.members[atom]}
            truth = sum(len(self.members[atom]) for atom in own)
            if len(people) >= self.k:
                # Whatever is proven, it is not about few.
                continue
            least, most = self._programme.between(dict.fromkeys(own, 1))
            assert least <= truth <= most, "what is proven is true"
            if least >= 1 and (most < self.k or least == most):
                yield Proven(f"{len(own)} sets of trips", least, most)

    def _of_totals(self) -> Iterable[Proven]:
        """Yield what is proven of trips that totals count and finer numbers do not."""
        for one, sums in zip(self.releases, self.sums, strict=True):
            tables = sorted({cell.table for cell in one.cells})
            for large, table in ((at, cell.table) for at, cell in enumerate(one.cells) if cell.table[0]):
                for finer in (other for other in tables if _is_coarser(table, other)):
                    inside = [
                        at
                        for at, cell in enumerate(one.cells)
                        if cell.table == finer and _holds(one.cells[large], cell)
                    ]
                    rest = dict(sums[large])
                    for unknown, times in chain.from_iterable(sums[at].items() for at in inside):
                        rest[unknown] = rest.get(unknown, 0) - times
                    least, most = self._programme.between(rest, below=self.k)
                    if least >= 1 and most < self.k:
                        yield Proven(f"{table} less {finer}", least, most)


class _Programme:
    """What linear sums of unknowns, each none or more, can be under what is told."""

    def __init__(self, rows: Sequence[tuple[Sum, float, float]], n: int) -> None:
        told = [row for row in rows if row[0]]
        equal = [row for row in told if row[1] == row[2]]
        upper = [(form, most) for form, least, most in told if least != most]
        lower = [({at: -x for at, x in form.items()}, -least) for form, least, most in told if least != most]
        lower = [row for row in lower if np.isfinite(row[1])]
        self.n = n
        self.sums = {
            "A_eq": _matrix([row[0] for row in equal], n),
            "b_eq": [row[1] for row in equal],
            "A_ub": _matrix([row[0] for row in (*upper, *lower)], n),
            "b_ub": [row[1] for row in (*upper, *lower)],
        }

    def between(self, form: Sum, below: float = np.inf) -> tuple[int, int]:
        """Return the least and the greatest of a sum; the least is not looked for where it can be much."""
        costs = np.zeros(self.n)
        costs[list(form)] = list(form.values())
        high = linprog(-costs, **self.sums)
        assert high.status in (0, 3), "the truth itself fits"
        most = 10**9 if high.status == 3 else int(np.floor(-high.fun + CLOSE))
        if most >= below:
            return 0, most
        low = linprog(costs, **self.sums)
        assert low.status == 0, "the truth itself fits"
        return int(np.ceil(low.fun - CLOSE)), most


def _matrix(forms: Sequence[Sum], n: int) -> object:
    if not forms:
        return None
    matrix = lil_array((len(forms), n))
    for at, form in enumerate(forms):
        for unknown, times in form.items():
            matrix[at, unknown] = times
    return matrix.tocsr()


def _rank(level: str) -> float:
    return {"": 99, "own": 98, EVERYWHERE: -1}.get(level) or float(level)


def _is_cell_of(cell: Cell, flow: Cell) -> bool:
    """Return whether a cell of a table is the one that counts a released flow.

    Zones that are coarser than a level stay themselves; so cells may lie in others that do not count them.
    """
    ends = zip(cell.table, (cell.origin, cell.destination), (flow.origin, flow.destination), strict=True)
    return all(zone == _lifted(own, level) for level, zone, own in ends)


def _lifted(zone: str, level: str) -> str:
    if level == EVERYWHERE:
        return EVERYWHERE
    coarse = level == "own" or h3.get_resolution(zone) <= int(level)
    return zone if coarse else h3.cell_to_parent(zone, int(level))


def _is_coarser(one: tuple[str, str], other: tuple[str, str]) -> bool:
    """Return whether the cells of a table hold whole cells of another one."""
    pairs = list(zip(one, other, strict=True))
    return one != other and all(_rank(mine) <= _rank(yours) for mine, yours in pairs)


def _holds(one: Cell, other: Cell) -> bool:
    return all(
        large in ("", EVERYWHERE) or (small not in ("", EVERYWHERE) and _inside(small, large))
        for large, small in ((one.origin, other.origin), (one.destination, other.destination))
    )


def _inside(small: str, large: str) -> bool:
    heights = h3.get_resolution(small), h3.get_resolution(large)
    return heights[0] >= heights[1] and h3.cell_to_parent(small, heights[1]) == large
