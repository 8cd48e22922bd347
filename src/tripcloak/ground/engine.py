"""The DuckDB connection: bounded memory, a private place to spill, and errors that quote no data."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tripcloak.ground.errors import InputError, InternalError, TripcloakError
from tripcloak.ground.memory import parse_size
from tripcloak.ground.spelling import spelt
from tripcloak.ground.waiting import waiting_folder

if TYPE_CHECKING:
    import duckdb

STOPS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""The signals that ask a program to stop."""


@contextmanager
def connect(
    memory: str | int | None = None, spill_directory: Path | None = None, threads: int | None = None
) -> Iterator[duckdb.DuckDBPyConnection]:
    """Give a connection with a memory limit, a private spill folder and no way to fetch extensions.

    Ctrl-C ends whatever the engine is doing and raises KeyboardInterrupt.

    Parameters
    ----------
    memory
        Limit in bytes or such as ``1GB``; DuckDB's own default (most of the machine) if not given.
    spill_directory
        Where a folder for what does not fit in memory is made; only its owner can read it and it
        goes away with the connection. By default it is where all waits.
    threads
        Number of threads; all cores if not given.

    Examples
    --------
    >>> with connect("512MB", threads=1) as con:
    ...     con.execute("select 6 * 7").fetchall()
    [(42,)]
    """
    import duckdb

    limit = parse_size(memory) if isinstance(memory, str) else memory
    if threads is not None and threads < 1:
        raise InputError("the number of threads must be 1 or more")
    if spill_directory is not None and not spill_directory.is_dir():
        raise InputError("the folder to spill to does not exist; make it first or choose another")
    config: dict[str, Any] = {
        "preserve_insertion_order": False,
        "autoload_known_extensions": False,
        "autoinstall_known_extensions": False,
    }
    if limit is not None:
        config["memory_limit"] = f"{limit}B"
    if threads is not None:
        config["threads"] = threads
    with (
        waiting_folder(spill_directory) as spill,
        duckdb.connect(config={**config, "temp_directory": spill}) as con,
        _ended_by_signals(con),
    ):
        con.execute("SET TimeZone = 'UTC'")
        _draw_no_bar(con)
        yield con


def _draw_no_bar(con: duckdb.DuckDBPyConnection) -> None:
    """Keep the engine from drawing a progress bar of its own on stdout, in a notebook or at a prompt.

    In a notebook without ipywidgets there is none, and the engine refuses to change even that.
    """
    ((drawn,),) = con.execute("SELECT current_setting('enable_progress_bar')").fetchall()
    if drawn:
        con.execute("SET enable_progress_bar = false")


@contextmanager
def _ended_by_signals(con: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """Cut queries short when the program is asked to stop.

    Left to itself the engine may not notice before its query is done: the main thread waits for others
    in compiled code, where Python cannot answer a signal. A thread of our own can tell the engine.
    """
    import duckdb

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    told, tell = os.pipe()
    os.set_blocking(tell, False)
    before = signal.set_wakeup_fd(tell, warn_on_full_buffer=False)
    watch = threading.Thread(target=_watch, args=(told, before, con), daemon=True)
    try:
        _start(watch)
        yield
    except duckdb.InterruptException:
        raise KeyboardInterrupt from None
    except RuntimeError as error:
        # Where the engine does notice, it makes an error of it that nobody would expect.
        raise KeyboardInterrupt if str(error) == "Query interrupted" else error from None
    finally:
        signal.set_wakeup_fd(before, warn_on_full_buffer=before < 0)
        os.close(tell)
        if watch.ident is not None:
            watch.join()
        os.close(told)


def _start(thread: threading.Thread) -> None:
    """Start a thread; where its stack does not fit, that is said as of everything else that does not fit."""
    try:
        thread.start()
    except RuntimeError as error:
        raise MemoryError(str(error)) from None


def _watch(told: int, before: int, con: duckdb.DuckDBPyConnection) -> None:
    """Wait for signals and pass them on to who waited for them before; end what the engine is doing."""
    while number := os.read(told, 1):
        if before >= 0:
            os.write(before, number)
        if number[0] in STOPS:
            con.interrupt()


def close_to_files(con: duckdb.DuckDBPyConnection, files: Iterable[str]) -> None:
    """Let a connection read these files, and what it has already, and nothing else from now on.

    Examples
    --------
    >>> with connect() as con:
    ...     close_to_files(con, ["/data/trips.csv"])
    ...     con.execute("select * from '/data/others.csv'")
    Traceback (most recent call last):
    ...
    _duckdb.PermissionException: Permission Error: Cannot access file ...
    """
    ((is_open,),) = con.execute("SELECT current_setting('enable_external_access')").fetchall()
    if is_open:
        listed = ", ".join("'" + file.replace("'", "''") + "'" for file in files)
        con.execute(f"SET allowed_paths = [{listed}]")
        con.execute("SET enable_external_access = false")


@contextmanager
def plain_errors(what: str = "the input", *, has_condition: bool = True) -> Iterator[None]:
    """Turn errors of the engine into InputErrors that quote no data.

    DuckDB's own messages carry lines and cells of the file, so none of their words are passed on,
    and the original error is not chained.

    Parameters
    ----------
    what
        What was being read.
    has_condition
        Whether the caller gave an SQL condition; without one, wrong SQL is our own bug.

    Examples
    --------
    >>> with connect() as con, plain_errors("trips.csv"):
    ...     con.execute("select 'secret'::int")
    Traceback (most recent call last):
    ...
    tripcloak.InputError: trips.csv: the condition given with where=... does not fit the columns...
    """
    import duckdb
    import pyarrow as pa

    text = ""
    try:
        yield
    except duckdb.InterruptException:
        raise
    except (duckdb.Error, pa.ArrowException) as error:
        text = f"{error} "
    except OSError as error:
        # Arrow passes on the engine's errors as OSErrors; those of the system have a number.
        if error.errno is not None:
            raise
        text = f"{error} "
    if text:
        raise _plain_error(what, text, has_condition) from None


def _condition() -> str:
    return (
        f"the condition given with {spelt('where')} does not fit the columns; it must be an SQL condition on "
        "columns of the input. Columns of CSV files are text: compare numbers as try_cast(age as double) > 30"
    )


def _plain_error(what: str, text: str, has_condition: bool) -> TripcloakError:
    """Return an error for the engine's message, of which only the kind is passed on."""
    kind = text.split(" Error", 1)[0]
    if "No space left" in text or "max_temp_directory_size" in text:
        return InputError(f"{what}: the disk is full; free some room or give another folder to spill to")
    if kind == "Out of Memory":
        return InputError(
            f"{what}: the memory limit is too small for this input; raise it ({spelt('memory')})"
        )
    if kind in ("Parser", "Binder", "Catalog", "Conversion", "Out of Range", "Mismatch Type"):
        if has_condition:
            return InputError(f"{what}: {_condition()}")
        return InternalError(f"{what}: wrong SQL was made for this input (a {kind} error of the engine)")
    return InputError(f"{what}: the file could not be read; it may be damaged or not be what its name says")
