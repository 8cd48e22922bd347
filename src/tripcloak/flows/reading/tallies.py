"""What is counted of rows batch by batch: how many every reason takes, and which place lies in which tile."""

from __future__ import annotations

import numpy as np

from tripcloak.flows.model import Numbering, count_places
from tripcloak.ground.arrays import Bools, Ints
from tripcloak.hierarchy import Hierarchy
from tripcloak.records.cleaning import REASONS


class Tally:
    """Rows by file and number of reason, counted batch by batch.

    Parameters
    ----------
    files
        How many files there are; with one, which file a row is from need not be said.

    Examples
    --------
    >>> tally = Tally(2)
    >>> tally.add(np.array([0, 0, 12]), np.array([0, 1, 1]))
    >>> tally.move(24, np.array([False, True, False]), np.array([0, 1, 1]))
    >>> [{number: n for number, n in enumerate(file) if n} for file in tally.by_file], tally.total
    ([{0: 1}, {12: 1, 24: 1}], 3)
    """

    def __init__(self, files: int) -> None:
        self._rows = np.zeros((files, len(REASONS) + 1), dtype=np.int64)

    @property
    def by_file(self) -> list[list[int]]:
        """Return the rows of each file, by number of reason."""
        found: list[list[int]] = self._rows.tolist()
        return found

    @property
    def total(self) -> int:
        """Return all rows."""
        return int(self._rows.sum())

    def take_up(self, rows: Ints) -> None:
        """Begin with rows that were counted before, by file and number of reason."""
        self._rows += rows

    def add(self, reason: Ints, file: Ints | None) -> None:
        """Count rows that are new."""
        width = self._rows.shape[1]
        place = reason if file is None else file.astype(np.int64) * width + reason
        self._rows += np.bincount(place, minlength=self._rows.size).reshape(self._rows.shape)

    def move(self, reason: int, gone: Bools, file: Ints | None) -> None:
        """Count some of the kept rows under a reason instead."""
        lost = np.bincount(file[gone], minlength=len(self._rows)) if file is not None else gone.sum()
        self._rows[:, reason] += lost
        self._rows[:, 0] -= lost


class PlacesSeen:
    """Which place was seen in which tile, at one end of the trips."""

    def __init__(self) -> None:
        self._places, self._pairs = Numbering(), Numbering()

    def add(self, tile: Ints, place: Ints, unknown: Bools) -> None:
        """Keep the pairs of a batch: numbers of tiles, and hashes of places."""
        number = self._places.add(place[~unknown])
        self._pairs.add(tile[~unknown].astype(np.uint64) << np.uint64(32) | number.astype(np.uint64))

    def state(self) -> dict[str, Ints]:
        """Return all that was kept."""
        return {"places": self._places.keys, "pairs": self._pairs.keys}

    def take_up(self, places: Ints, pairs: Ints) -> None:
        """Begin with what was kept before."""
        self._places.add(places)
        self._pairs.add(pairs)

    def below(self, tree: Hierarchy, tile_of_number: Ints) -> Ints:
        """Return how many different places lie below every zone."""
        tile, place = np.divmod(self._pairs.keys, np.uint64(2**32))
        return count_places(tree, tile_of_number[tile.astype(np.int64)], place)
