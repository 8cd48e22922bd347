"""How far flows between drawn zones are from the original ones, as only the data owner can tell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tripcloak.algorithms.base import Progress, silent
from tripcloak.arrays import Floats, Ints
from tripcloak.errors import InputError
from tripcloak.hierarchy import Hierarchy, ZoneFile
from tripcloak.matrix import ODMatrix, Volume
from tripcloak.workflow.checking import read_as_released
from tripcloak.workflow.original_trips import original_ends
from tripcloak.workflow.reconstruct import Rebuilt


class Agreement(NamedTuple):
    """How far rebuilt flows are from the original ones, over all pairs of drawn zones (and slots).

    Attributes
    ----------
    mean_error, root_mean_square : float
        Of the rebuilt volume of a pair.
    cpc : float
        The common part of commuters: 1 where all is equal, 0 where nothing is in common.
    within_interval, within_bounds : float
        Share of pairs whose original volume lies between low and high, and between least and most.
    correlation : float
        Of original and rebuilt volumes.
    """

    mean_error: float
    root_mean_square: float
    cpc: float
    within_interval: float
    within_bounds: float
    correlation: float


@dataclass(frozen=True, kw_only=True, eq=False)
class Checked:
    """Rebuilt flows beside the original ones, pair by pair and slot by slot; for the data owner.

    ``key`` numbers pairs of drawn zones and slots, ascending; ``original`` and ``rebuilt`` are volumes.
    """

    agreement: Agreement
    names: NDArray[np.str_]
    slots: NDArray[np.str_] | None
    key: Ints
    original: Floats
    rebuilt: Floats

    @property
    def n_slots(self) -> int:
        """Return the number of slots; 1 where time is no axis."""
        return 1 if self.slots is None else len(self.slots)

    def profile(self, pair: tuple[int, int], *, original: bool) -> Floats:
        """Return the volume of a pair slot by slot."""
        first = (pair[0] * len(self.names) + pair[1]) * self.n_slots
        start, stop = np.searchsorted(self.key, (first, first + self.n_slots))
        values = np.zeros(self.n_slots)
        values[self.key[start:stop] - first] = (self.original if original else self.rebuilt)[start:stop]
        return values

    def telling_pairs(self, wanted: Sequence[str] = ()) -> list[tuple[int, int]]:
        """Return pairs to look at: those asked for, as ``A:B``, or a large, a middling and a small one."""
        if wanted:
            rows = {str(name): row for row, name in enumerate(self.names)}
            return [_pair(text, rows) for text in wanted]
        pairs, place = np.unique(self.key // self.n_slots, return_inverse=True)
        volume = np.bincount(place, self.original)
        ranked = pairs[np.argsort(-volume, kind="stable")][: np.count_nonzero(volume)].tolist()
        chosen = dict.fromkeys(ranked[at] for at in (0, len(ranked) // 10, len(ranked) // 2) if ranked)
        return [divmod(pair, len(self.names)) for pair in chosen]


def check_against(
    rebuilt: Rebuilt,
    folder: Path,
    inputs: tuple[str, ...],
    zones: str,
    *,
    id_column: str | None = None,
    memory: str | None = None,
    progress: Progress = silent,
) -> Checked:
    """Return rebuilt flows beside those of the raw input, read as the release says it was."""
    matrix = read_as_released(folder, inputs, memory=memory, progress=progress)
    drawn = ZoneFile.read(zones, id_column=id_column)
    slots = 1 if matrix.times is None else matrix.times.n_tiles
    progress("placing the original trips", 0, None)
    original = _original(matrix, drawn, slots, rebuilt.published.facts["volume"])
    parts = _by_slot(rebuilt, matrix.times)
    keys = np.unique(np.concatenate([original.key, *(part.key for part in parts.values())]))
    if not len(keys):
        raise InputError("no trip and no released flow lies between these zones: there is nothing to compare")
    columns = {name: part.on(keys) for name, part in parts.items()}
    truth = original.on(keys)
    return Checked(
        agreement=_agreement(truth, columns),
        names=drawn.ids,
        slots=None if matrix.times is None else matrix.times.zones.ids[:slots],
        key=keys,
        original=truth,
        rebuilt=columns["volume"],
    )


class _Sparse(NamedTuple):
    """Numbers by key (pair and slot), each key once, ascending."""

    key: Ints
    value: Floats

    @classmethod
    def summed(cls, key: Ints, value: Floats) -> _Sparse:
        keys, place = np.unique(key, return_inverse=True)
        return cls(keys, np.bincount(place, value, minlength=len(keys)))

    def on(self, keys: Ints) -> Floats:
        """Return the numbers at these keys, 0 where there is none."""
        values = np.zeros(len(keys))
        values[np.searchsorted(keys, self.key)] = self.value
        return values


def _original(matrix: ODMatrix, drawn: ZoneFile, slots: int, volume: Volume) -> _Sparse:
    """Return the original volume of every pair of drawn zones and slot."""
    keys, values = [np.empty(0, np.int64)], [np.empty(0)]
    for ends in original_ends(matrix, drawn, volume):
        inside = (ends.origin >= 0) & (ends.destination >= 0)
        pair = ends.origin[inside] * len(drawn) + ends.destination[inside]
        keys.append(pair * slots + ends.slot[inside])
        values.append(ends.volume[inside])
    return _Sparse.summed(np.concatenate(keys), np.concatenate(values))


def _by_slot(rebuilt: Rebuilt, times: Hierarchy | None) -> dict[str, _Sparse]:
    """Return the rebuilt numbers by pair and slot; a longer time is spread evenly over its slots."""
    n, numbers = len(rebuilt.names), ("volume", "low", "high", "least", "most")
    found: dict[str, list[tuple[Ints, Floats]]] = {number: [] for number in numbers}
    for row, part in enumerate(rebuilt.parts):
        pair = part.origin.astype(np.int64) * n + part.destination
        if times is None or rebuilt.times is None:
            below, slots, length = np.zeros(1, np.int64), 1, 1
        else:
            zone = _time(times, str(rebuilt.times[row]))
            below, slots, length = times.members(zone), times.n_tiles, int(times.zones.tiles[zone])
        key = (pair[:, None] * slots + below).reshape(-1)
        for number in numbers:
            spread = {"least": 0.0, "most": 1.0}.get(number, 1 / length) if length > 1 else 1.0
            found[number].append((key, np.repeat(getattr(part, number) * spread, len(below))))
    return {
        number: _Sparse.summed(*(np.concatenate(column) for column in zip(*parts, strict=True)))
        for number, parts in found.items()
    }


def _time(times: Hierarchy, name: str) -> int:
    found = np.flatnonzero(times.zones.ids == name)
    if not len(found):
        raise InputError(f"the released flows name a time that their input does not have: {name!r}")
    return int(found[0])


def _agreement(truth: Floats, rebuilt: dict[str, Floats]) -> Agreement:
    guess = rebuilt["volume"]
    error = guess - truth
    both = guess.sum() + truth.sum()
    spread = guess.std() * truth.std()
    together = float(((guess - guess.mean()) * (truth - truth.mean())).mean())
    inside, sure = (
        (truth >= rebuilt[low] - 1e-9) & (truth <= rebuilt[high] + 1e-9)
        for low, high in (("low", "high"), ("least", "most"))
    )
    return Agreement(
        mean_error=float(np.abs(error).mean()),
        root_mean_square=float(np.sqrt((error**2).mean())),
        cpc=float(2 * np.minimum(guess, truth).sum() / both),
        within_interval=float(inside.mean()),
        within_bounds=float(sure.mean()),
        correlation=together / float(spread) if spread else 0.0,
    )


def _pair(text: str, rows: dict[str, int]) -> tuple[int, int]:
    origin, colon, destination = text.partition(":")
    if not colon or origin not in rows or destination not in rows:
        raise InputError(f"--pair takes two zones of the file as ORIGIN:DESTINATION; got {text!r}")
    return rows[origin], rows[destination]
