"""KeptZones: the zones of an earlier release, to be used again."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from tripcloak.ground.arrays import Ints
from tripcloak.ground.errors import InputError
from tripcloak.hierarchy import Hierarchy

FORMAT = "tripcloak zones 1"
AXES = ("origin", "destination", "time")
BOXES = "boxes"


@dataclass(frozen=True, kw_only=True, eq=False)
class KeptZones:
    """Zones that a release takes over: one cut an axis, or pairs of zones.

    Attributes
    ----------
    digest : str
        SHA-256 of the public file that states them: the manifest of the earlier release, or the plan of a
        series.
    hierarchy : dict
        How they were made, as a manifest says it.
    zones : dict
        Axis to the names of its zones, ascending.
    pairs : array of int, optional
        The released pairs, one row each: places in ``zones``, one column an axis. None where zones of
        each axis do not overlap, and every pair of them may be released.
    boxes : bool
        Zones are boxes.
    members : dict
        Axis to a digest of the tiles below its zones, and of where these lie, where that does not follow
        from the zones' names.

    Examples
    --------
    >>> columns = {"origin": ["a", "b", "a"], "destination": ["b", "b", "a"]}
    >>> kept = KeptZones.of_pairs(columns, digest="0" * 64)
    >>> kept.zones["origin"], kept.pairs.tolist()
    (('a', 'b'), [[0, 0], [0, 1], [1, 1]])
    """

    digest: str
    zones: Mapping[str, tuple[str, ...]]
    pairs: Ints | None = None
    hierarchy: Mapping[str, Any] = field(default_factory=dict)
    boxes: bool = False
    members: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[0-9a-f]{64}", self.digest):
            raise InputError("zones are kept from a file known by its SHA-256: 64 digits and letters a to f")
        if tuple(self.zones) not in (AXES[:2], AXES) or not all(self.zones.values()):
            raise InputError("kept zones are those of origins and destinations, and of times if need be")

    def __repr__(self) -> str:
        return f"<KeptZones: {' x '.join(f'{len(names):,}' for names in self.zones.values())}>"

    @classmethod
    def of_pairs(
        cls, columns: Mapping[str, Sequence[str]], *, digest: str, homogeneous: bool = False, **facts: Any
    ) -> KeptZones:
        """Return the zones of flows that are given by the names of their zones, axis by axis."""
        coded = {
            axis: np.unique(np.asarray(names, np.str_), return_inverse=True)
            for axis, names in columns.items()
        }
        zones = {axis: tuple(names.tolist()) for axis, (names, _) in coded.items()}
        pairs = None if homogeneous else np.unique(np.stack([code for _, code in coded.values()], 1), axis=0)
        return cls(digest=digest, zones=zones, pairs=pairs, **facts)

    @property
    def homogeneous(self) -> bool:
        """Return whether zones of one axis never overlap, and every pair of them may be released."""
        return self.pairs is None

    def in_trees(self, axis: str) -> tuple[str, ...]:
        """Return the zones of an axis that its hierarchy must have: none where they are boxes."""
        return () if self.boxes else self.zones[axis]

    def rows(self, axis: str, tree: Hierarchy) -> Ints:
        """Return the row of every zone of an axis in a tree, -1 where the tree has none of that name."""
        names = np.asarray(self.zones[axis], dtype=np.str_)
        order = np.argsort(tree.zones.ids)
        at = order[np.minimum(np.searchsorted(tree.zones.ids, names, sorter=order), len(order) - 1)]
        return np.where(tree.zones.ids[at] == names, at, -1)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON: everything but the digest of where they are from."""
        return {
            "format": FORMAT,
            "hierarchy": dict(self.hierarchy),
            **({"zone_form": BOXES} if self.boxes else {}),
            "zones": {axis: list(names) for axis, names in self.zones.items()},
            **({} if self.pairs is None else {"pairs": self.pairs.tolist()}),
            **({"members": dict(self.members)} if self.members else {}),
        }

    @classmethod
    def from_dict(cls, told: Mapping[str, Any], digest: str) -> KeptZones:
        """Return the zones that :meth:`to_dict` described, or raise an InputError.

        >>> kept = KeptZones.of_pairs({"origin": ["a"], "destination": ["b"]}, digest="0" * 64)
        >>> KeptZones.from_dict(kept.to_dict(), "1" * 64).zones == kept.zones
        True
        """
        try:
            zones = {axis: tuple(str(name) for name in names) for axis, names in told["zones"].items()}
            pairs = None if "pairs" not in told else np.array(told["pairs"], dtype=np.int64)
            if told["format"] != FORMAT or not _in_range(pairs, zones):
                raise ValueError
            return cls(
                digest=digest,
                zones=zones,
                pairs=pairs,
                hierarchy=dict(told["hierarchy"]),
                boxes=told.get("zone_form") == BOXES,
                members=dict(told.get("members", {})),
            )
        except (KeyError, TypeError, ValueError, AttributeError):
            raise InputError(
                f"a file of kept zones cannot be read; this version reads the format {FORMAT!r}"
            ) from None


def _in_range(pairs: Ints | None, zones: Mapping[str, tuple[str, ...]]) -> bool:
    if pairs is None:
        return True
    most = [len(names) for names in zones.values()]
    return bool(pairs.ndim == 2 and pairs.shape[1] == len(most) and ((pairs >= 0) & (pairs < most)).all())


class ZoneMembers(NamedTuple):
    """A zone, the tiles below it, and the latitude and longitude of its point."""

    zone: str
    tiles: Sequence[str]
    lat: float | None
    lon: float | None


def members_digest(zones: Iterable[ZoneMembers]) -> str:
    """Return a digest of which tiles lie below which zones, and where, whatever their order.

    >>> one, other = ZoneMembers("x", ["a", "b"], 1.0, 2.0), ZoneMembers("x", ["b", "a"], 1.0, 2.0)
    >>> members_digest([one]) == members_digest([other]) != members_digest([one._replace(lat=1.1)])
    True
    """
    lines = sorted(f"{one.zone!r} {sorted(one.tiles)!r} {_place(one)}" for one in zones)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def _place(one: ZoneMembers) -> str:
    """Return a point to a millionth of a degree, which is what numbers that are reckoned anew agree on."""
    return " ".join("-" if side is None or math.isnan(side) else f"{side:.6f}" for side in (one.lat, one.lon))


def zone_members(tree: Hierarchy, rows: Ints) -> list[ZoneMembers]:
    """Return what lies below some zones of a tree."""
    zones = tree.zones
    return [
        ZoneMembers(
            str(zones.ids[row]),
            zones.ids[tree.members(row)].tolist(),
            float(zones.lat[row]),
            float(zones.lon[row]),
        )
        for row in rows.tolist()
    ]
