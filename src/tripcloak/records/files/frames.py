"""Frame: a table that is in memory already, as one more kind of input beside files."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from tripcloak.ground.errors import InputError, TripcloakError
from tripcloak.ground.given_paths import path_of_address
from tripcloak.records.files.databases.fetching import fetch, fetched
from tripcloak.records.files.distant import bring, is_distant
from tripcloak.records.files.standard_input import STANDARD_INPUT, is_spooled, spooled_input

if TYPE_CHECKING:
    import pyarrow as pa


class LoadedFrame(NamedTuple):
    """Columns of a frame as Arrow, and what a reader should know about how they were taken."""

    table: pa.Table
    notes: tuple[str, ...] = ()


class Frame:
    """A table in memory: its column names, and the columns as Arrow when they are asked for.

    It stands where a path could stand. What is shown or written down of it says what it was, and never
    a value: a release made from it is checked against the same frame, or against a file of the same rows.

    Parameters
    ----------
    names
        The columns, each different from the others whatever the case.
    load
        Gives some of the columns as an Arrow table, as often as it is called.
    kind
        What it is, such as ``a data frame``.
    hint
        What to know where a needed column is not found.

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = pa.table({"lat": [48.85], "lon": [2.35]})
    >>> frame = Frame(table.column_names, lambda names: LoadedFrame(table.select(names)))
    >>> frame
    <a data frame of 2 columns>
    >>> frame.load(["lon"]).table.column_names
    ['lon']
    """

    def __init__(
        self,
        names: Sequence[str],
        load: Callable[[list[str]], LoadedFrame],
        *,
        kind: str = "a data frame",
        hint: str = "",
    ) -> None:
        self.names = tuple(names)
        self.kind = kind
        self.hint = hint
        self._load = load

    def __str__(self) -> str:
        n = len(self.names)
        return f"{self.kind} of {n:,} {'column' if n == 1 else 'columns'}"

    def __repr__(self) -> str:
        return f"<{self}>"

    def load(self, names: Iterable[str]) -> LoadedFrame:
        """Return these columns as Arrow, or raise an error that quotes no data."""
        wanted = set(names)
        kind = ""
        try:
            return self._load([name for name in self.names if name in wanted])
        except TripcloakError:
            raise
        except MemoryError:
            raise InputError(f"{self.kind} does not fit in memory as Arrow; write it to Parquet") from None
        except Exception as error:
            # Its words may quote cells.
            kind = type(error).__name__
        raise InputError(f"{self.kind} could not be read ({kind}); write it to Parquet and give the path")


Input: TypeAlias = str | Frame
"""What a source reads: the path of a file, a glob, a folder, or a table in memory."""


def checked_inputs(given: object) -> tuple[Input, ...]:
    """Return inputs as a source holds them, or raise an error that says what was given but shows none of it.

    Examples
    --------
    >>> checked_inputs("trips.csv")
    ('trips.csv',)
    >>> checked_inputs([{"secret": 48.8566}])
    Traceback (most recent call last):
    ...
    tripcloak.InputError: an input is a path or a table; got a dict
    """
    several = given if isinstance(given, (list, tuple)) else (given,)
    for one in several:
        if not isinstance(one, (str, os.PathLike, Frame)):
            raise InputError(f"an input is a path or a table; got a {type(one).__name__}")
    inputs = tuple(one if isinstance(one, Frame) else _settled(str(one)) for one in several)
    if not inputs or not all(isinstance(one, Frame) or one for one in inputs):
        raise InputError("no input was given: name at least one file, glob or folder")
    return inputs


def _settled(path: str) -> str:
    """Return a path that other processes can read too: what is piped in or fetched lies in a file by then."""
    if path == STANDARD_INPUT:
        return str(spooled_input())
    path = path if Path(path).exists() else path_of_address(path) or path
    return bring(path) if is_distant(path) else fetch(path) or path


def input_name(one: Input) -> str:
    """Return what messages call an input: the name of its file, or what kind of table it is.

    >>> input_name("data/trips.csv")
    'trips.csv'
    """
    if isinstance(one, Frame):
        return str(one)
    taken = fetched(one)
    if taken is not None:
        return taken.address
    return "standard input" if is_spooled(one) else Path(one).name


def files_among(inputs: Iterable[Input]) -> list[Path]:
    """Return the paths among inputs."""
    return [Path(one) for one in inputs if isinstance(one, str)]
