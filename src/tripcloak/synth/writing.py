"""Made-up data written to a Parquet or CSV file, whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from tripcloak.ground.errors import InputError
from tripcloak.synth.cdr import Cdr
from tripcloak.synth.city import City
from tripcloak.synth.records import city_schema
from tripcloak.synth.survey import BLOCK_PEOPLE, Survey

if TYPE_CHECKING:
    import pyarrow as pa

Told = Callable[[int, int], None]

# Few distinct values a row group: a dictionary pays. Elsewhere it costs time and is thrown away.
_DICTIONARY = ("person_id", "weight", "age", "sex", "category")
_DICTIONARY_OF_CALLS = ("user_id", "antenna_id", "lat", "lon")


def write_city(city: City, path: str | Path, progress: Told | None = None) -> None:
    """Write the trips of a made-up city to a file; returns nothing.

    The rows go to a hidden file beside ``path``, which takes its name only when complete. After a failure
    or an interruption neither is there, and a file that ``path`` named before is untouched.

    Parameters
    ----------
    city
        The city.
    path
        Where the file shall be; its folder must exist. A file of that name is replaced. A name that ends
        in ``.csv`` gives CSV, any other Parquet.
    progress
        Called with (trips written, trips in all) now and then, and at the end.

    Raises
    ------
    InputError
        When the folder does not exist or ``path`` is a folder.

    Examples
    --------
    >>> import tempfile
    >>> import pyarrow.parquet as pq
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_city(City(trips=500), f"{folder}/city.parquet")
    ...     pq.read_metadata(f"{folder}/city.parquet").num_rows
    500
    """
    done = 0

    def batches() -> Iterator[pa.RecordBatch]:
        nonlocal done
        for batch in city.batches():
            yield batch
            done += batch.num_rows
            if progress is not None:
                progress(done, city.trips)

    _write_whole(Path(path), city_schema(), batches())


def write_survey(survey: Survey, path: str | Path, progress: Told | None = None) -> None:
    """Write the points or trips of a made-up survey to a file, as :func:`write_city` does; returns nothing.

    Parameters
    ----------
    progress
        Called with (participants done, participants in all) now and then, and at the end.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_survey(Survey(people=3), Path(folder) / "survey.csv")
    ...     (Path(folder) / "survey.csv").read_text().splitlines()[0]
    '"person_id","time","lat","lon","weight","age","sex","category"'
    """

    def batches() -> Iterator[pa.RecordBatch]:
        for number, batch in enumerate(survey.batches(), start=1):
            yield batch
            if progress is not None:
                progress(min(number * BLOCK_PEOPLE, survey.people), survey.people)

    _write_whole(Path(path), survey.schema, batches())


def write_cdr(cdr: Cdr, path: Path, progress: Told | None = None, *, stations: Path | None = None) -> None:
    """Write made-up call detail records to a file, as :func:`write_city` does; returns nothing.

    Parameters
    ----------
    progress
        Called with (users done, users in all) now and then, and at the end.
    stations
        Where a second file with the antennas shall be. There are both files in the end, or neither.

    Raises
    ------
    InputError
        When a folder does not exist, a path is a folder, or both files are the same.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_cdr(Cdr(users=3), Path(folder) / "cdr.csv")
    ...     (Path(folder) / "cdr.csv").read_text().splitlines()[0]
    '"user_id","timestamp","antenna_id","lat","lon"'
    """

    def batches() -> Iterator[pa.RecordBatch]:
        for number, batch in enumerate(cdr.batches(), start=1):
            yield batch
            if progress is not None:
                progress(min(number * cdr.block_users, cdr.users), cdr.users)
        # Written while the calls are still aside: should it fail, they go too.
        if stations is not None:
            antennas = cdr.stations()
            _write_whole(stations, antennas.schema, iter([antennas]))

    if stations is not None:
        _check_path(stations)
        if stations.resolve() == path.resolve():
            raise InputError("stations: expected a file of their own, found that of the calls; rename one")
    _write_whole(path, cdr.schema, batches(), dictionary=_DICTIONARY_OF_CALLS)


def _write_whole(
    path: Path,
    schema: pa.Schema,
    batches: Iterator[pa.RecordBatch],
    dictionary: tuple[str, ...] = _DICTIONARY,
) -> None:
    _check_path(path)
    aside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with _writer(aside, schema, dictionary, csv=path.suffix.lower() == ".csv") as writer:
            for batch in batches:
                writer.write_batch(batch)
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)


def _check_path(path: Path) -> None:
    if path.is_dir():
        raise InputError("output: expected the name of a file, found a folder; add a file name")
    if not path.parent.is_dir():
        raise InputError("output: the folder for the file does not exist; make it first or choose another")


def _writer(
    path: Path, schema: pa.Schema, dictionary: tuple[str, ...], *, csv: bool
) -> pa.csv.CSVWriter | pa.parquet.ParquetWriter:
    if csv:
        from pyarrow.csv import CSVWriter

        return CSVWriter(path.absolute(), schema)
    from pyarrow.parquet import ParquetWriter

    few = [name for name in dictionary if name in schema.names]
    return ParquetWriter(path.absolute(), schema, compression="snappy", use_dictionary=few)
