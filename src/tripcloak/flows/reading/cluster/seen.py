"""Seen: what the tasks that read an input tell of it, joined to one account on the way to the driver."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from tripcloak.flows.reading.coding import PLACE_COLUMNS, GatheredTrips
from tripcloak.ground.arrays import Ints

SAMPLED = 1 << 18
"""Pairs of tiles that are looked at to part the rows evenly."""
TIMES = 1 << 16
"""Start times that are looked at."""
_NO_KEYS: Ints = np.empty(0, np.uint64)
_NO_PAIRS: Ints = np.empty((0, 2), np.uint64)


@dataclass(frozen=True, kw_only=True, eq=False)
class Seen:
    """What was seen of some rows: how many, in which tiles, of whom those are that were dropped.

    Attributes
    ----------
    tally : array
        Rows by file and number of reason.
    origins, destinations : array
        The keys of the tiles that occur.
    people : mapping
        Number of reason to the hashes of people whose rows it took.
    places : tuple of arrays (n, 2)
        At either end, which tile holds which place.
    pairs : array (n, 2)
        Keys of the ends of every ``step``-th row.
    broken : array
        Lines of every file that had the wrong number of fields.
    failed : tuple of str
        Why files could not be read.
    """

    tally: Ints
    broken: Ints
    rows: int = 0
    zero_rows: int = 0
    origins: Ints = field(default_factory=lambda: _NO_KEYS)
    destinations: Ints = field(default_factory=lambda: _NO_KEYS)
    began: Ints = field(default_factory=lambda: np.empty(0, np.int64))
    slots: Ints = field(default_factory=lambda: np.empty(0, np.int64))
    people: Mapping[int, Ints] = field(default_factory=dict)
    places: tuple[Ints, Ints] = field(default_factory=lambda: (_NO_PAIRS, _NO_PAIRS))
    pairs: Ints = field(default_factory=lambda: _NO_PAIRS)
    step: int = 1
    failed: tuple[str, ...] = ()

    @classmethod
    def of(cls, gathered: GatheredTrips, broken: Ints) -> Seen:
        """Return what was seen of rows that were gathered."""
        facts, arrays = gathered.state()
        origins, destinations = gathered.origins.keys, gathered.destinations.keys
        spool, step = gathered.spool, 1 + len(gathered.spool) // (SAMPLED // 8)
        ends = spool.column("origin")[::step], spool.column("destination")[::step]
        return cls(
            tally=arrays["tally"],
            broken=broken,
            rows=facts["rows"],
            zero_rows=int(np.count_nonzero(spool.column("weight") == 0)) if "weight" in spool else 0,
            origins=np.sort(origins),
            destinations=np.sort(destinations),
            began=arrays["began"],
            slots=np.unique(spool.column("slot")) if "slot" in spool else np.empty(0, np.int64),
            people={
                int(name.removeprefix("people_")): people
                for name, people in arrays.items()
                if name.startswith("people_")
            },
            places=_places(gathered, arrays),
            pairs=np.column_stack([origins[ends[0]], destinations[ends[1]]]),
            step=step,
        )

    def join(self, other: Seen) -> Seen:
        """Return what was seen of both."""
        step = max(self.step, other.step)
        pairs = np.concatenate([one.pairs[:: max(1, step // one.step)] for one in (self, other)])
        while len(pairs) > SAMPLED:
            pairs, step = pairs[::2], 2 * step
        began = np.concatenate([self.began, other.began])
        return Seen(
            tally=self.tally + other.tally,
            broken=self.broken + other.broken,
            rows=self.rows + other.rows,
            zero_rows=self.zero_rows + other.zero_rows,
            origins=np.union1d(self.origins, other.origins),
            destinations=np.union1d(self.destinations, other.destinations),
            began=began[:: 1 + len(began) // TIMES],
            slots=np.union1d(self.slots, other.slots),
            people={
                reason: np.union1d(self.people.get(reason, _NO_KEYS), other.people.get(reason, _NO_KEYS))
                for reason in {**self.people, **other.people}
            },
            places=(_joined(self.places[0], other.places[0]), _joined(self.places[1], other.places[1])),
            pairs=pairs,
            step=step,
            failed=tuple(dict.fromkeys((*self.failed, *other.failed))),
        )


def _joined(first: Ints, second: Ints) -> Ints:
    """Return the rows of both, each once."""
    if not len(first) or not len(second):
        return first if len(first) else second
    return np.unique(np.concatenate([first, second]), axis=0)


def _places(gathered: GatheredTrips, arrays: Mapping[str, Ints]) -> tuple[Ints, Ints]:
    """Return, at either end, the key of every tile with the hash of every place in it."""
    found = []
    for end, numbering in zip(PLACE_COLUMNS, (gathered.origins, gathered.destinations), strict=True):
        tile, place = np.divmod(arrays[f"{end}_pairs"], np.uint64(2**32))
        keys = numbering.keys[tile.astype(np.int64)], arrays[f"{end}_places"][place.astype(np.int64)]
        found.append(np.column_stack(keys))
    return found[0], found[1]
