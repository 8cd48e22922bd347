"""Columns of a ledger: the records that are known, once for all releases, and each release's groups."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from tripcloak.flows.model import KeyedRecords
from tripcloak.flows.reading.keyed import rekeyed
from tripcloak.flows.release.tables import AXES
from tripcloak.ground.arrays import Bools, Ints
from tripcloak.ground.errors import AuditFailedError
from tripcloak.ground.folders import file_digest
from tripcloak.ground.masking import mask_small
from tripcloak.ledger.disclosure import Counted, Disclosure, Rounded
from tripcloak.ledger.store.files import written_aside

DATA = "data"
ABSENT = -2
"""The group of a known record that is not in the input of a release."""

Written = Mapping[str, str]
"""A file below the ledger's data by its name, and its digest."""


@dataclass(frozen=True, eq=False)
class KnownRecords:
    """All records that a ledger knows, in the order in which they came to be known."""

    record: Ints
    person: Ints
    weight: Ints

    def __repr__(self) -> str:
        return f"<KnownRecords: {mask_small(len(self))}>"

    def __len__(self) -> int:
        return len(self.record)

    @cached_property
    def order(self) -> Ints:
        """Return what sorts them."""
        # Those of every release came in ascending order, which a stable sort makes use of.
        return np.argsort(self.record, kind="stable")

    @cached_property
    def ascending(self) -> Ints:
        """Return the digests, ascending."""
        return self.record[self.order]

    @cached_property
    def people(self) -> Ints:
        """Return the people, ascending, each once; records of nobody in particular are none."""
        return people_of(self.record, self.person)

    def find(self, record: Ints) -> Ints:
        """Return the place of every record, which ascend, among those that are known, -1 where it is not."""
        from tripcloak.ledger._kernels.groups import places_among

        at = places_among(record, self.ascending)
        found: Ints = np.append(self.order, -1)[at]
        return found

    def new_among(self, records: KeyedRecords, place: Ints) -> KnownRecords:
        """Return those of some records that are not known yet, given the place of each."""
        new = place < 0
        weight = np.ones(len(records), np.int64) if records.weight is None else records.weight
        return KnownRecords(records.record[new], records.person[new], weight[new])

    def with_more(self, more: KnownRecords) -> KnownRecords:
        """Return these and others, which come behind them."""
        return KnownRecords(
            *(
                np.concatenate([getattr(part, name) for part in (self, more)])
                for name in ("record", "person", "weight")
            )
        )

    def rekeyed(self, key: bytes) -> KnownRecords:
        """Return the same under a further key, each in its place."""
        return KnownRecords(rekeyed(self.record, key), rekeyed(self.person, key), self.weight)


def people_of(record: Ints, person: Ints) -> Ints:
    """Return the people of records, ascending, each once; records of nobody in particular are none."""
    # By sorting: NumPy's own way hashes, which takes ten times as long for digests.
    people = np.sort(person[person != record])
    first: Bools = np.append(True, people[1:] != people[:-1])[: len(people)]
    return people[first]


NOBODY_YET = KnownRecords(*(np.empty(0, dtype) for dtype in (np.uint64, np.uint64, np.int64)))


def write_records(folder: Path, name: str, records: KnownRecords) -> Written:
    """Write records to a file of a ledger."""
    # As signed numbers they are the same bits, and sorted ones take little room as differences.
    columns = {name: getattr(records, name).view(np.int64) for name in ("record", "person", "weight")}
    return write_columns(folder, name, columns, {"record": "DELTA_BINARY_PACKED"})


def read_records(folder: Path, files: Sequence[Written]) -> KnownRecords:
    """Return the records of some files of a ledger, one behind the other."""
    known = NOBODY_YET
    for file in files:
        told = read_columns(folder, file)
        record, person = (told[name].to_numpy().view(np.uint64) for name in ("record", "person"))
        known = known.with_more(KnownRecords(record, person, told["weight"].to_numpy()))
    return known


def group_column(known: int, place: Ints, group: Ints) -> Ints:
    """Return the group of every record that is known in one release.

    Parameters
    ----------
    known
        How many records are known.
    place, group
        The place of every record of the release's input among them, and its group.
    """
    column = np.full(known, ABSENT, dtype=np.int32)
    column[place] = group
    return column


class Disclosures:
    """The disclosures of releases over the same known records; what they share is held once."""

    def __init__(self, known: KnownRecords) -> None:
        self._known = known
        self._ones = bool((known.weight == 1).all())
        self._held: dict[bytes, tuple[Ints, Ints, Ints | None]] = {}

    def of(self, column: Ints, part: Mapping[str, Any], numbers: Mapping[str, Ints]) -> Disclosure:
        """Return one disclosure.

        Parameters
        ----------
        column
            The group of every record that was known when the release was made.
        part
            What the entry says of it: name, k, what is counted and told.
        numbers
            What is published of every group, and the zones that it is of.
        """
        group = np.full(len(self._known), ABSENT, dtype=np.int32)
        group[: len(column)] = column
        group = group[self._known.order]
        inside = group != ABSENT
        record, person, weight = self._inside(inside)
        counted: Counted = "travellers" if part["counted"] == "travellers" else "trips"
        travellers = np.stack([numbers["least"], numbers["most"]]) if "least" in numbers else None
        return Disclosure(
            name=part["name"],
            record=record,
            person=person if counted == "travellers" else record,
            group=group if inside.all() else group[inside],
            weight=weight,
            trips=numbers["trips"],
            travellers=travellers,
            k=part["k"],
            counted=counted,
            tells_trips=part["tells_trips"],
            # Entries of before there was rounding do not speak of it.
            rounded=None if part.get("rounded") is None else Rounded(*part["rounded"]),
            zones={axis: numbers[axis] for axis in AXES if axis in numbers},
        )

    def _inside(self, inside: Bools) -> tuple[Ints, Ints, Ints | None]:
        mark = hashlib.blake2b(np.packbits(inside).tobytes()).digest()
        if mark not in self._held:
            known, everything = self._known, inside.all()
            rows = known.order if everything else known.order[inside]
            weight = None if self._ones else known.weight[rows]
            record = known.ascending if everything else known.ascending[inside]
            self._held[mark] = record, known.person[rows], weight
        return self._held[mark]


def write_columns(
    folder: Path, name: str, columns: Mapping[str, Any], encodings: Mapping[str, str] | None = None
) -> Written:
    """Write columns to a Parquet file of a ledger, and return its name and digest."""
    import pyarrow as pa
    from pyarrow import parquet

    table = pa.table(dict(columns))
    numbers = [field.name for field in table.schema if not pa.types.is_string(field.type)]
    told = {column: (encodings or {}).get(column, "BYTE_STREAM_SPLIT") for column in numbers}
    with written_aside(folder / DATA / name) as aside:
        parquet.write_table(table, aside, compression="zstd", use_dictionary=False, column_encoding=told)
        digest = file_digest(aside)
    return {"file": name, "sha256": digest}


def read_columns(folder: Path, file: Written) -> Any:
    """Return the table in a file of a ledger, or raise where it is gone or was changed."""
    import pyarrow as pa
    from pyarrow import parquet

    path = folder.absolute() / DATA / file["file"]
    try:
        if file_digest(path) == file["sha256"]:
            # Without threads: it is quick enough, and a process that was forked off may have none.
            return parquet.read_table(path, use_threads=False)
    except FileNotFoundError:
        raise _damaged(path, "is missing") from None
    except (OSError, pa.ArrowException):
        raise _damaged(path, "cannot be read") from None
    raise _damaged(path, "was changed")


def changed_files(folder: Path, files: Sequence[Written]) -> Iterator[str]:
    """Yield the names of files that are gone or not as they were written."""
    for file in files:
        path = folder / DATA / file["file"]
        if not path.is_file() or file_digest(path) != file["sha256"]:
            yield file["file"]


def _damaged(path: Path, what: str) -> AuditFailedError:
    return AuditFailedError(
        f"{path} {what}: it is no longer known which record went where. Bring the ledger back from a "
        "copy; `tripcloak ledger verify COPY` says whether that one is whole"
    )
