"""Columns of a ledger: the records that are known, once for all releases, and each release's groups."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tripcloak.flows.model import KeyedRecords
from tripcloak.flows.reading.keyed import rekeyed
from tripcloak.flows.release.tables import AXES
from tripcloak.ground.arrays import Bools, Ints
from tripcloak.ground.errors import AuditFailedError
from tripcloak.ground.folders import file_digest
from tripcloak.ground.masking import mask_small
from tripcloak.ledger.disclosure import ABSENT, WITHHELD, Counted, Disclosure, Rounded, Rows, Whole
from tripcloak.ledger.store.files import written_aside

DATA = "data"
HELD = 6
"""Releases of which it is held where their records went; of others it is read again when it is needed."""
Written = Mapping[str, str]
"""A file below the ledger's data by its name, and its digest."""


@dataclass(frozen=True, eq=False)
class KnownRecords:
    """All records that a ledger knows, in the order in which they came to be known."""

    record: Ints
    person: Ints
    weight: Ints | None
    """The trips that each stands for; None where that is one."""

    def __repr__(self) -> str:
        return f"<KnownRecords: {mask_small(len(self))}>"

    def __len__(self) -> int:
        return len(self.record)

    @cached_property
    def order(self) -> Ints | None:
        """Return what sorts them; None where they ascend, as those do that came with one release."""
        if np.all(self.record[1:] > self.record[:-1]):
            return None
        # Those of every release came in ascending order, which a stable sort makes use of.
        return np.argsort(self.record, kind="stable").astype(np.int32)

    def sorted(self, column: Ints) -> Ints:
        """Return a column of them in the order of their digests."""
        return column if self.order is None else column[self.order]

    @cached_property
    def ascending(self) -> Ints:
        """Return the digests, ascending."""
        return self.sorted(self.record)

    @cached_property
    def people(self) -> Ints:
        """Return the people, ascending, each once; records of nobody in particular are none."""
        return people_of(self.record, self.person)

    def find(self, record: Ints) -> Ints:
        """Return the place of every record, which ascend, among those that are known, -1 where it is not."""
        from tripcloak.ledger._kernels.groups import places_among

        at = places_among(record, self.ascending)
        return at if self.order is None else np.append(self.order, -1)[at]

    def new_among(self, records: KeyedRecords, place: Ints) -> KnownRecords:
        """Return those of some records that are not known yet, given the place of each."""
        new = place < 0
        weight = None if records.weight is None else records.weight[new]
        return KnownRecords(records.record[new], records.person[new], weight)

    def with_more(self, more: KnownRecords) -> KnownRecords:
        """Return these and others, which come behind them."""
        if not len(self) or not len(more):
            return self if len(self) else more
        one_each = self.weight is None and more.weight is None
        return KnownRecords(
            np.concatenate([self.record, more.record]),
            np.concatenate([self.person, more.person]),
            None if one_each else np.concatenate([self.trips, more.trips]),
        )

    @property
    def trips(self) -> Ints:
        """Return the trips that each stands for."""
        return np.ones(len(self), dtype=np.int64) if self.weight is None else self.weight

    def rekeyed(self, key: bytes) -> KnownRecords:
        """Return the same under a further key, each in its place."""
        return KnownRecords(rekeyed(self.record, key), rekeyed(self.person, key), self.weight)


def people_of(record: Ints, person: Ints) -> Ints:
    """Return the people of records, ascending, each once; records of nobody in particular are none."""
    # By sorting: NumPy's own way hashes, which takes ten times as long for digests.
    people = np.sort(person[person != record])
    first: Bools = np.append(True, people[1:] != people[:-1])[: len(people)]
    return people[first]


NOBODY_YET = KnownRecords(np.empty(0, np.uint64), np.empty(0, np.uint64), None)


def write_records(folder: Path, name: str, records: KnownRecords) -> Written:
    """Write records to a file of a ledger."""
    # As signed numbers they are the same bits, and sorted ones take little room as differences.
    both = {name: getattr(records, name).view(np.int64) for name in ("record", "person")}
    columns = {**both, "weight": records.trips}
    return write_columns(folder, name, columns, {"record": "DELTA_BINARY_PACKED"})


def read_records(folder: Path, files: Sequence[Written]) -> KnownRecords:
    """Return the records of some files of a ledger, one behind the other."""
    known = NOBODY_YET
    for file in files:
        told = read_columns(folder, file, "record", "person")
        record, person = (told[name].to_numpy().view(np.uint64) for name in ("record", "person"))
        del told
        one_each = _are_all_one(folder, file, "weight")
        weight = None if one_each else read_columns(folder, file, "weight")["weight"].to_numpy()
        known = known.with_more(KnownRecords(record, person, weight))
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


class StoredRecords:
    """All known records in ascending order, which the releases of a ledger share.

    Parameters
    ----------
    known
        The same in the order in which they came to be known.
    """

    def __init__(self, known: KnownRecords) -> None:
        self._known = known
        self.record, self.person = known.ascending, known.sorted(known.person)
        self.weight = None if known.weight is None else known.sorted(known.weight)
        self._latest: dict[Callable[[], Ints], Ints] = {}

    def __repr__(self) -> str:
        return f"<StoredRecords: {mask_small(len(self.record))}>"

    def column(self, read: Callable[[], Ints]) -> Ints:
        """Return the group of every record in a release; those of the latest are held."""
        if read in self._latest:
            self._latest[read] = self._latest.pop(read)
            return self._latest[read]
        for old in list(self._latest)[: -HELD + 1]:
            del self._latest[old]
        group = read()
        if len(group) < len(self.record):
            later = np.full(len(self.record) - len(group), ABSENT, dtype=np.int32)
            group = np.concatenate([group, later])
        self._latest[read] = self._known.sorted(group)
        return self._latest[read]


class StoredDisclosure(Disclosure):
    """A disclosure whose records stay on disk until they are asked for: there may be a hundred of them.

    Parameters
    ----------
    records
        The records of all releases.
    read
        Reads the group of every record that was known when the release was made.
    told
        What is told of it beside records: name, numbers of every group, k, what is counted.
    place
        The groups of a total in place of those that are stored, and one for no group.
    n_records
        How many records are in its input; counted, if not given.
    """

    def __init__(
        self,
        records: StoredRecords,
        read: Callable[[], Ints],
        told: Mapping[str, Any],
        place: Ints | None = None,
        n_records: int | None = None,
    ) -> None:
        given = {"travellers": None, "total_of": None, "whole": None, "made": None, **told}
        own = {"_records": records, "_read": read, "_place": place, "_n": n_records, "_told": given}
        for name, value in {**given, **own}.items():
            object.__setattr__(self, name, value)

    if TYPE_CHECKING:
        _records: StoredRecords
        _read: Callable[[], Ints]
        _place: Ints | None
        _n: int | None
        _told: Mapping[str, Any]

    @property
    def among(self) -> Ints:
        """Return the records of all releases."""
        return self._records.record

    def rows(self) -> Rows:
        """Return the records of all releases, and the groups of those that are in this one."""
        all_of_them = self._records
        group = all_of_them.column(self._read)
        if self._place is not None:
            group = np.where(group == ABSENT, np.int32(ABSENT), self._place[group])
        person = all_of_them.person if self.counted == "travellers" else all_of_them.record
        return Rows(all_of_them.record, person, all_of_them.weight, group)

    def regrouped(self, place: Ints, **told: Any) -> Disclosure:
        """Return what is told of the same records in other groups, given the new group of every one."""
        lookup = np.append(place, WITHHELD).astype(np.int32)
        return StoredDisclosure(self._records, self._read, {**self._told, **told}, lookup, self._n)

    @cached_property
    def n_records(self) -> int:
        """Return the number of records of the input."""
        return int(np.count_nonzero(self._inside)) if self._n is None else self._n

    @property
    def record(self) -> Ints:
        """Return the digests of the input's records."""
        return self._records.record[self._inside]

    @property
    def person(self) -> Ints:
        """Return whose each record is."""
        return self.rows().person[self._inside]

    @property
    def group(self) -> Ints:
        """Return the group of every record."""
        return self.rows().group[self._inside]

    @property
    def weight(self) -> Ints | None:
        """Return the trips that each record stands for."""
        weight = self._records.weight
        return None if weight is None else weight[self._inside]

    @property
    def _inside(self) -> Bools:
        inside: Bools = self._records.column(self._read) != ABSENT
        return inside


class StoredZones(Mapping[str, Ints]):
    """The zones of every group by axis, held as numbers of names until they are asked for."""

    def __init__(self, columns: Mapping[str, Any]) -> None:
        self._columns = {axis: column.dictionary_encode() for axis, column in columns.items()}
        self._names: dict[str, Ints] = {}

    def __getitem__(self, axis: str) -> Ints:
        if axis not in self._names:
            self._names[axis] = self._columns[axis].to_numpy()
        return self._names[axis]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)


def told_by_entry(part: Mapping[str, Any], at: int, numbers: Any, publish: str) -> dict[str, Any]:
    """Return what is told of a disclosure beside its records.

    Parameters
    ----------
    part, at
        What the entry says of it: name, k, what is counted and told; and its number among the parts.
    numbers
        The table of what is published of every group, and of the zones that it is of.
    publish
        Which numbers the release was asked to tell.
    """
    counted: Counted = "travellers" if part["counted"] == "travellers" else "trips"
    # Numbers end in the number of their part, and zones, which all parts share, in none.
    least = f"least_{at}"
    both = [numbers[name].to_numpy() for name in (least, f"most_{at}") if name in numbers.column_names]
    return {
        "name": part["name"],
        "trips": numbers[f"trips_{at}"].to_numpy(),
        "travellers": np.stack(both) if both else None,
        "k": part["k"],
        "counted": counted,
        # Entries of before limits were looked at do not speak of the whole.
        "whole": None if part.get("whole") is None else Whole(*part["whole"]),
        # Old entries do not know that a population adds up as trips do.
        "tells_trips": part["tells_trips"] or publish != "travellers",
        # Entries of before there was rounding do not speak of it.
        "rounded": None if part.get("rounded") is None else Rounded(*part["rounded"]),
        "zones": StoredZones({axis: numbers[axis] for axis in AXES if axis in numbers.column_names}),
    }


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
        # In one piece, so that columns are read into one array each.
        parquet.write_table(
            table,
            aside,
            row_group_size=max(table.num_rows, 1),
            compression="zstd",
            use_dictionary=False,
            column_encoding=told,
        )
        digest = file_digest(aside)
    return {"file": name, "sha256": digest}


def read_columns(folder: Path, file: Written, *columns: str) -> Any:
    """Return the table in a file of a ledger, or some columns; raise where it is gone or was changed."""
    import pyarrow as pa
    from pyarrow import parquet

    path = folder.absolute() / DATA / file["file"]
    try:
        if file_digest(path) == file["sha256"]:
            # Without threads: it is quick enough, and a process that was forked off may have none.
            return parquet.read_table(path.absolute(), columns=list(columns) or None, use_threads=False)
    except FileNotFoundError:
        raise _damaged(path, "is missing") from None
    except (OSError, pa.ArrowException):
        raise _damaged(path, "cannot be read") from None
    raise _damaged(path, "was changed")


def _are_all_one(folder: Path, file: Written, column: str) -> bool:
    """Return whether a file that was found whole says that a column holds ones alone."""
    from pyarrow import parquet

    about = parquet.read_metadata(folder.absolute() / DATA / file["file"])
    at = about.schema.names.index(column)
    told = [about.row_group(group).column(at).statistics for group in range(about.num_row_groups)]
    return all(one is not None and one.has_min_max and one.min == one.max == 1 for one in told)


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
