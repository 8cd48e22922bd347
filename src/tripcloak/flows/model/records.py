"""KeyedRecords: every record of an input by a keyed digest, with its person, flow and trips."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tripcloak.ground.arrays import Ints
from tripcloak.ground.masking import mask_small


@dataclass(frozen=True, kw_only=True, eq=False)
class KeyedRecords:
    """The records of an input, known again under the same key whatever else is read of it.

    Attributes
    ----------
    record : array of uint64
        Digests of what makes the records up, ascending, each once.
    person : array of uint64
        The digest of each record's person; that of the record itself where it is nobody's.
    flow : array of int32
        Each record's flow in the matrix that was read with them.
    weight : array of int64, optional
        Trips that each record stands for; None where it is one.
    """

    record: Ints
    person: Ints
    flow: Ints
    weight: Ints | None = None

    def __repr__(self) -> str:
        return f"<KeyedRecords: {mask_small(len(self))}>"

    def __len__(self) -> int:
        return len(self.record)

    def in_whole(self, row: Ints) -> KeyedRecords:
        """Return the same records with flows of a larger matrix, given the row of each flow there."""
        return replace(self, flow=row[self.flow].astype("int32"))
