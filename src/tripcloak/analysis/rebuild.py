"""From a published release to flows between drawn zones, checked by whoever has the original."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tripcloak.analysis import Overlap, Reconstruction, reconstruct
from tripcloak.analysis.drawn import Rule, original_ends, overlaps_with, placed_flows, read_drawn, uneven
from tripcloak.analysis.reconstruction import Unseen, unlisted
from tripcloak.flows.checking import read_as_released
from tripcloak.flows.model import ODMatrix
from tripcloak.flows.release.reading import Published, read_published
from tripcloak.ground.arrays import Bools, Floats, Ints
from tripcloak.ground.errors import InputError
from tripcloak.ground.folders import FolderParts, refuse_if_taken, staged, write_json
from tripcloak.ground.memory import Memory
from tripcloak.ground.progress import Progress, silent
from tripcloak.ground.spreadsheets import write_csv
from tripcloak.hierarchy import Hierarchy, ZoneFile
from tripcloak.pages.charts import Chart, charts_page
from tripcloak.promises import Volume


@dataclass(frozen=True, kw_only=True, eq=False)
class Rebuilt:
    """Flows between drawn zones.

    Attributes
    ----------
    names : array of str
        The drawn zones.
    times : array of str, optional
        The released times, where time is an axis.
    parts : list of Reconstruction
        One per released time, or a single one.
    outside : dict
        Share of the released volume whose origin, or destination, lies in no drawn zone.
    unplaced : float
        Share of the released volume between zones of which one has no outline.
    at_least : float
        Flows with a smaller estimate are not listed.
    unseen : Unseen
        What was reckoned with beside the released flows.
    """

    names: NDArray[np.str_]
    times: NDArray[np.str_] | None
    parts: list[Reconstruction]
    unseen: Unseen
    outside: dict[str, float]
    unplaced: float
    at_least: float
    rule: Rule
    published: Published

    def columns(self) -> dict[str, Any]:
        """Return the flows worth listing: origin, destination, time where there is one, and the numbers."""
        parts = [part.where(part.volume >= self.at_least) for part in self.parts]
        origin, destination = (
            np.concatenate([getattr(part, end) for part in parts]) for end in ("origin", "destination")
        )
        table: dict[str, Any] = {"origin": self.names[origin], "destination": self.names[destination]}
        if self.times is not None:
            table["time"] = np.repeat(self.times, [len(part.volume) for part in parts])
        for number in ("volume", "low", "high", "least", "most"):
            table[number] = np.concatenate([getattr(part, number) for part in parts])
        return table

    @property
    def volume(self) -> float:
        """Return the volume between drawn zones, that of flows too small to list included."""
        return sum(float(part.volume.sum()) for part in self.parts)

    @property
    def unlisted(self) -> tuple[float, float]:
        """Return ``high`` and ``most`` of the pairs that no released flow touches; they are in no table."""
        likely = self._likely()
        found = [
            unlisted(part, self.unseen._replace(likely=share))
            for part, share in zip(self.parts, likely, strict=True)
        ]
        return max(high for high, _ in found), self.unseen.volume

    def _likely(self) -> list[float]:
        return _shared_out(self.unseen, [float(part.volume.sum()) for part in self.parts])


def rebuild(
    folder: Path, zones: str, *, rule: Rule = "area", id_column: str | None = None, at_least: float = 0.0
) -> Rebuilt:
    """Return the flows of a published release between the zones of a file.

    Nothing but the public files is read.

    Parameters
    ----------
    zones
        GeoJSON, GeoParquet or CSV with outlines.
    rule
        How a released zone is spread: evenly over its area, or over its tiles.
    id_column
        The column of the file that names the zones, where it has no usual name.
    at_least
        Flows with a smaller estimate are not listed.
    """
    published = read_published(folder)
    drawn = read_drawn(zones, id_column)
    placed = placed_flows(published)
    overlaps = overlaps_with(published, drawn, rule)
    kept = float(published.volume[placed].sum())
    ends = published.origin, published.destination
    total = float(published.volume.sum())
    unseen = _unseen(published, total - kept)
    return Rebuilt(
        names=drawn.ids,
        times=None if published.time is None else published.zones["time"].ids,
        parts=_parts(published, placed, overlaps, unseen),
        unseen=unseen,
        outside={
            f"{axis}s": float((published.volume * overlaps[axis].outside[end])[placed].sum()) / kept
            for axis, end in zip(overlaps, ends, strict=True)
        },
        unplaced=1 - kept / total,
        at_least=at_least,
        rule=rule,
        published=published,
    )


def _unseen(published: Published, unplaced: float) -> Unseen:
    """Return what to reckon with: what may have been withheld, and unevenness learnt from the flows."""
    facts = published.facts
    limit = facts["parameters"].get("suppression_limit")
    withheld = (facts.get("withheld") or {}).get("at_most")
    if withheld is None:
        withheld = np.inf if limit is None else float(published.volume.sum()) * limit / (1 - limit)
    step = (facts.get("steps") or {}).get(facts["volume"])
    return Unseen(
        unevenness=uneven(published),
        volume=float(withheld) + unplaced,
        likely=float(withheld) + unplaced,
        rounding=float(step or (0.5 if facts["volume"] == "population" else 0.0)),
        # Noise keeps to no limit.
        exact=limit is not None,
    )


def _shared_out(unseen: Unseen, volumes: list[float]) -> list[float]:
    """Return what is likely unseen in every part, by the volume of the parts."""
    total = sum(volumes)
    return [unseen.likely * (volume / total if total else 1.0) for volume in volumes]


def _parts(
    published: Published, placed: Bools, overlaps: dict[str, Overlap], unseen: Unseen
) -> list[Reconstruction]:
    flows = np.flatnonzero(placed)
    if published.time is None:
        chosen = [flows]
    else:
        order = flows[np.argsort(published.time[flows], kind="stable")]
        edges = np.searchsorted(published.time[order], np.arange(1, len(published.zones["time"].ids)))
        chosen = np.split(order, edges)
    likely = _shared_out(unseen, [float(published.volume[rows].sum()) for rows in chosen])
    return [
        reconstruct(
            published.origin[rows],
            published.destination[rows],
            published.volume[rows],
            overlaps["origin"],
            overlaps["destination"],
            unseen._replace(likely=share),
        )
        for rows, share in zip(chosen, likely, strict=True)
    ]


class FlowAgreement(NamedTuple):
    """How far rebuilt flows are from the original ones, over all pairs of drawn zones (and slots).

    Attributes
    ----------
    mean_error, root_mean_square : float
        Of the rebuilt volume of a pair.
    cpc : float
        The common part of commuters: 1 where all is equal, 0 where nothing is in common.
    within_interval, within_bounds : float
        Share of pairs whose original volume lies between low and high, and between least and most.
    interval_width : float
        The median of high - low.
    correlation : float
        Of original and rebuilt volumes.
    """

    mean_error: float
    root_mean_square: float
    cpc: float
    within_interval: float
    within_bounds: float
    interval_width: float
    correlation: float


@dataclass(frozen=True, kw_only=True, eq=False)
class Checked:
    """Rebuilt flows beside the original ones, pair by pair and slot by slot; for the data owner.

    ``key`` numbers pairs of drawn zones and slots, ascending; ``original`` and ``rebuilt`` are volumes.
    """

    agreement: FlowAgreement
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
    memory: Memory = None,
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
    high, most = rebuilt.unlisted
    beyond = {"high": high, "most": most}
    columns = {name: part.on(keys, beyond.get(name, 0.0)) for name, part in parts.items()}
    truth = original.on(keys)
    return Checked(
        agreement=_agreement(truth, columns),
        names=drawn.ids,
        slots=None if matrix.times is None else matrix.times.zones.ids[:slots],
        key=keys,
        original=truth,
        rebuilt=columns["volume"],
    )


ANY_SLOT = {"least": 0.0, "low": 0.0, "most": 1.0, "high": 1.0}


class _Sparse(NamedTuple):
    """Numbers by key (pair and slot), each key once, ascending."""

    key: Ints
    value: Floats

    @classmethod
    def summed(cls, key: Ints, value: Floats) -> _Sparse:
        keys, place = np.unique(key, return_inverse=True)
        return cls(keys, np.bincount(place, value, minlength=len(keys)))

    def on(self, keys: Ints, beyond: float = 0.0) -> Floats:
        """Return the numbers at these keys, and another one where there is none."""
        values = np.full(len(keys), beyond)
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
    """Return the rebuilt numbers by pair and slot; a longer time is spread evenly over its slots.

    Of a longer time anything from nothing to all may be in each slot.
    """
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
            spread = ANY_SLOT.get(number, 1 / length) if length > 1 else 1.0
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


def _agreement(truth: Floats, rebuilt: dict[str, Floats]) -> FlowAgreement:
    guess = rebuilt["volume"]
    error = guess - truth
    both = guess.sum() + truth.sum()
    spread = guess.std() * truth.std()
    together = float(((guess - guess.mean()) * (truth - truth.mean())).mean())
    inside, sure = (
        (truth >= rebuilt[low] - 1e-9) & (truth <= rebuilt[high] + 1e-9)
        for low, high in (("low", "high"), ("least", "most"))
    )
    return FlowAgreement(
        mean_error=float(np.abs(error).mean()),
        root_mean_square=float(np.sqrt((error**2).mean())),
        cpc=float(2 * np.minimum(guess, truth).sum() / both),
        within_interval=float(inside.mean()),
        within_bounds=float(sure.mean()),
        interval_width=float(np.median(rebuilt["high"] - rebuilt["low"])),
        correlation=together / float(spread) if spread else 0.0,
    )


def _pair(text: str, rows: dict[str, int]) -> tuple[int, int]:
    origin, colon, destination = text.partition(":")
    if not colon or origin not in rows or destination not in rows:
        raise InputError(f"--pair takes two zones of the file as ORIGIN:DESTINATION; got {text!r}")
    return rows[origin], rows[destination]


TABLES = ("flows.csv", "flows.parquet")
INTERNAL = ("agreement.json", "profiles.html")
RECONSTRUCTION = FolderParts("reconstruction", files=TABLES, optional=INTERNAL)


def refuse_if_rebuilt(out: Path, *, force: bool) -> None:
    """Raise if the folder already holds rebuilt flows, is no folder, or may not be written to."""
    refuse_if_taken(out, force=force, parts=RECONSTRUCTION)


def write_rebuilt(
    out: Path, rebuilt: Rebuilt, checked: Checked | None, *, pairs: Sequence[str] = (), force: bool = False
) -> None:
    """Write the rebuilt flows and, where they were checked, agreement and profiles; all or nothing."""
    import pyarrow as pa
    from pyarrow import parquet

    table = pa.table(rebuilt.columns())
    with staged(out, force=force, parts=RECONSTRUCTION) as staging:
        parquet.write_table(table, staging / "flows.parquet", compression="zstd")
        write_csv(table, staging / "flows.csv")
        if checked is not None:
            for name in INTERNAL:
                (staging / name).touch(mode=0o600)
            write_json(staging / "agreement.json", checked.agreement._asdict())
            page = profiles_page(checked, checked.telling_pairs(pairs))
            (staging / "profiles.html").write_text(page, encoding="utf-8")


def profiles_page(checked: Checked, pairs: Sequence[tuple[int, int]]) -> str:
    """Return the page with profiles of some pairs, original beside rebuilt (Matet et al. 2023, figure 14)."""
    charts = []
    for pair in pairs:
        original, rebuilt = (checked.profile(pair, original=which) for which in (True, False))
        origin, destination = (str(checked.names[end]) for end in pair)
        words = f"{original.sum():,.0f} original, {rebuilt.sum():,.0f} rebuilt"
        labels = ["all"] if checked.slots is None else checked.slots.tolist()
        if len(labels) == 1:
            # A line needs two ends.
            labels, original, rebuilt = ["", ""], original.repeat(2), rebuilt.repeat(2)
        lines = {"original": original.tolist(), "rebuilt from the release": rebuilt.tolist()}
        charts.append(Chart(f"{origin} to {destination}", words, labels, lines))
    found = checked.agreement
    return charts_page(
        "Original and rebuilt flows",
        internal="Internal: shows original data. Not for publication.",
        words=["Flows between zones as the original trips have them, and as a reader rebuilds them."],
        facts={
            "common part (CPC)": f"{found.cpc:.3f}",
            "correlation": f"{found.correlation:.3f}",
            "mean error": f"{found.mean_error:,.2f}",
            "in the 95 % interval": f"{found.within_interval:.1%}",
            "width of the interval, median": f"{found.interval_width:,.0f}",
            "in the bounds": f"{found.within_bounds:.1%}",
        },
        charts=charts,
    )
