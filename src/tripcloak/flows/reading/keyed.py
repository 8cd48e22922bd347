"""Keyed digests of records and people: the same record is known again in every reading, by the key alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tripcloak.flows.model import NOBODY, KeyedRecords
from tripcloak.ground.arrays import Ints, to_read
from tripcloak.ground.errors import InternalError

if TYPE_CHECKING:
    import pyarrow as pa

UNTIMED = -(2**63)
"""When a trip began of which nobody knows."""
KEY = 16
"""Bytes of a key of SipHash."""
_PERSON, _POINTS, _ZONES, _AGAIN, _ALL_OF = 1, 2, 3, 4, 5
"""What a digest is of, so that one of a person is never one of a record."""


class RecordDigests:
    """Digests of the records of an input, batch by batch.

    A record is what does not depend on the request: whose it is, both its ends as the input has them, when it
    began, and how many trips it stands for. Equal records are numbered, so that three equal trips are three
    records, and two of them are known again where one is missing.

    Parameters
    ----------
    key
        One key of 16 bytes, or several in a row: the digests are then re-keyed by the others in turn.

    Examples
    --------
    >>> digests, ends = RecordDigests(bytes(range(16))), np.array([1, 1, 2], dtype=np.uint64)
    >>> found = digests.numbered(digests.of_rows((ends, ends), points=False), flow=np.array([0, 0, 1]))
    >>> len(np.unique(found.record)), sorted(found.flow.tolist())
    (3, [0, 0, 1])
    """

    def __init__(self, key: bytes) -> None:
        if not key or len(key) % KEY:
            raise InternalError(f"a key of records has {KEY} bytes, or some times as many")
        self._first, self._later = key[:KEY], [key[at : at + KEY] for at in range(KEY, len(key), KEY)]
        self._people = np.zeros(0, dtype=np.uint64)

    def of_texts(self, texts: pa.Array) -> Ints:
        """Return a digest of every text of an Arrow column; whatever, where there is none."""
        import pyarrow as pa

        from tripcloak.flows.reading._kernels import siphash_texts

        column = texts.cast(pa.large_string())
        _, where, data = column.buffers()
        offsets = np.frombuffer(where, dtype=np.int64)[column.offset : column.offset + len(column) + 1]
        letters = np.frombuffer(data, dtype=np.uint8) if data is not None else np.empty(0, np.uint8)
        return siphash_texts(to_read(letters), offsets, *_halves(self._first))

    def of_people(self, texts: pa.Array, number: Ints) -> Ints:
        """Return the digests of a batch's people, 0 for nobody, and remember them by number.

        Parameters
        ----------
        number
            The number of each row's person, ``NOBODY`` where it has none.
        """
        highest = int(number.max(initial=NOBODY)) + 1
        if highest > len(self._people):
            room = np.zeros(max(highest, 2 * len(self._people)), dtype=np.uint64)
            room[: len(self._people)] = self._people
            self._people = room
        there = number != NOBODY
        digest = np.zeros(len(number), dtype=np.uint64)
        digest[there] = self._people[number[there]]
        # Most people of a batch were in one before.
        new = np.flatnonzero(there & (digest == 0))
        if len(new):
            mark = self.of_texts(texts.take(new))
            digest[new] = self._of_words(np.full(len(mark), _PERSON), mark)
            self._people[number[new]] = digest[new]
        return digest

    def of_each(self, people: pa.Array) -> KeyedRecords:
        """Return one record for each of some people, that of all they did: they are known again as such.

        >>> import pyarrow as pa
        >>> found = RecordDigests(bytes(range(16))).of_each(pa.array(["ana", "ben"]))
        >>> len(np.unique(found.person)), bool(np.any(found.person == found.record))
        (2, False)
        """
        number = np.arange(len(people))
        record = self._of_words(np.full(len(people), _ALL_OF), self.of_people(people, number))
        return self.numbered(record, np.zeros(len(people), dtype=np.int32), number=number)

    def of_rows(
        self,
        ends: tuple[Ints, Ints],
        *,
        points: bool,
        person: Ints | None = None,
        began: Ints | None = None,
        trips: Ints | None = None,
    ) -> Ints:
        """Return a digest of every row; rows in which all of this is equal share one.

        Parameters
        ----------
        ends
            Both ends in 64 bits each: coordinates, or digests of ids.
        """
        rows = len(ends[0])
        columns = (
            np.full(rows, _POINTS if points else _ZONES),
            *ends,
            np.zeros(rows, np.uint64) if person is None else person,
            np.full(rows, UNTIMED) if began is None else began,
            np.ones(rows, np.int64) if trips is None else trips,
        )
        return self._of_words(*columns)

    def numbered(
        self, record: Ints, flow: Ints, *, number: Ints | None = None, trips: Ints | None = None
    ) -> KeyedRecords:
        """Return the records in their order, equal ones told apart by number.

        Parameters
        ----------
        record, flow
            The digest and the flow of every row.
        number
            The number of each row's person.
        """
        from tripcloak.flows.reading._kernels import people_of_records, sort_digests

        record, order = self._told_apart(record, flow)
        whose = None if number is None else np.ascontiguousarray(number, dtype=np.int32)
        person = record if whose is None else people_of_records(record, order, whose, self._people)
        for key in self._later:
            record, person = rekeyed(record, key), rekeyed(person, key)
        if self._later:
            record, again = sort_digests(record)
            person, order = person[again], order[again]
        weight = None if trips is None else trips[order]
        flow = flow[order].astype(np.int32, copy=False)
        return KeyedRecords(record=record, person=person, flow=flow, weight=weight)

    def _told_apart(self, record: Ints, flow: Ints) -> tuple[Ints, Ints]:
        """Return the digests ascending, each once, and the row that each is of."""
        from tripcloak.flows.reading._kernels import sort_digests

        record, order = sort_digests(record)
        while True:
            again = np.append(False, record[1:] == record[:-1])[: len(record)]
            if not again.any():
                return record, order
            in_runs = np.flatnonzero(again | np.append(again[1:], False))
            # Of equal records the first is always that of the lowest flow, whatever the order of rows.
            rows = order[in_runs]
            order[in_runs] = rows[np.lexsort((flow[rows], record[in_runs]))]
            number = np.arange(len(record))
            number -= np.maximum.accumulate(np.where(again, 0, number))
            equal = record[again]
            record[again] = self._of_words(np.full(len(equal), _AGAIN), equal, number[again])
            record, sort = sort_digests(record)
            order = order[sort]

    def _of_words(self, *columns: Any) -> Ints:
        from tripcloak.flows.reading._kernels import siphash_words

        words = np.empty((len(columns), len(columns[0])), dtype=np.uint64)
        for at, column in enumerate(columns):
            words[at] = column if column.dtype == np.uint64 else column.astype(np.int64).view(np.uint64)
        return siphash_words(words, *_halves(self._first))


def point_words(latitude: Ints, longitude: Ints) -> Ints:
    """Return places, in whole 1e-7 degree, as one word each."""
    north, east = (column.astype(np.int64).astype(np.uint64) for column in (latitude, longitude))
    words: Ints = (north << np.uint64(32)) | (east & np.uint64(0xFFFFFFFF))
    return words


def rekeyed(digests: Ints, key: bytes) -> Ints:
    """Return digests under a further key: other digests, by which nobody without it finds the same.

    The key permutes all 64-bit numbers, so that different digests stay different.
    """
    from tripcloak.flows.reading._kernels import permuted_words

    return permuted_words(np.ascontiguousarray(digests, dtype=np.uint64), *_halves(key))


def _halves(key: bytes) -> tuple[np.uint64, np.uint64]:
    return np.uint64(int.from_bytes(key[:8], "little")), np.uint64(int.from_bytes(key[8:16], "little"))
