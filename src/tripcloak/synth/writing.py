"""A made-up city written to a Parquet file, whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from tripcloak.errors import InputError
from tripcloak.synth.city import City
from tripcloak.synth.records import city_schema

# Few distinct values a row group: a dictionary pays. Elsewhere it costs time and is thrown away.
_DICTIONARY = ["person_id", "weight", "age", "sex"]


def write_city(city: City, path: Path, progress: Callable[[int, int], None] | None = None) -> None:
    """Write the trips of a made-up city to a Parquet file; returns nothing.

    The rows go to a hidden file beside ``path``, which takes its name only when complete. After a failure
    or an interruption neither is there, and a file that ``path`` named before is untouched.

    Parameters
    ----------
    city
        The city.
    path
        Where the file shall be; its folder must exist. A file of that name is replaced.
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
    ...     write_city(City(trips=500), Path(folder) / "city.parquet")
    ...     pq.read_metadata(Path(folder) / "city.parquet").num_rows
    500
    """
    if path.is_dir():
        raise InputError("output: expected the name of a Parquet file, found a folder; add a file name")
    if not path.parent.is_dir():
        raise InputError("output: the folder for the file does not exist; make it first or choose another")
    aside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        _write_rows(city, aside, progress)
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)


def _write_rows(city: City, path: Path, progress: Callable[[int, int], None] | None) -> None:
    import pyarrow.parquet as pq

    done = 0
    with pq.ParquetWriter(path, city_schema(), compression="snappy", use_dictionary=_DICTIONARY) as writer:
        for batch in city.batches():
            writer.write_batch(batch)
            done += batch.num_rows
            if progress is not None:
                progress(done, city.trips)
