"""Starts the command line and turns errors into words and exit codes."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from tripcloak.cli.interrupt import INTERRUPT
from tripcloak.ground.ending import end_with
from tripcloak.ground.errors import InputError, InternalError, TripcloakError
from tripcloak.ground.sparing import load_sparingly
from tripcloak.ground.spelling import spelt_as_flags
from tripcloak.records.files.databases.fetching import forget_fetched
from tripcloak.records.files.standard_input import forget_input


def main() -> None:
    """Run the command line; exit 0 done, 1 the answer is no, 2 bad usage or input, 3 our own bug."""
    # Whoever started this program as a part of their own, such as the studio, wants it gone with them.
    if (parent := os.environ.pop("TRIPCLOAK_ENDS_WITH", "")).isdigit():
        end_with(int(parent))
    INTERRUPT.watch()
    load_sparingly()
    try:
        code = run()
    except BaseException:
        if INTERRUPT.signal is None:
            raise
        code = 1
    # Asked to stop after all was done: then it is done.
    if INTERRUPT.signal is not None and code != 0:
        INTERRUPT.leave(INTERRUPT.signal)
    sys.exit(code)


def run(arguments: Sequence[str] | None = None) -> int:
    """Return the exit code of a command, after telling on stderr what went wrong.

    Parameters
    ----------
    arguments
        What follows ``tripcloak`` on the command line; that of this process if not given.
    """
    with spelt_as_flags():
        try:
            return _told(sys.argv[1:] if arguments is None else arguments)
        finally:
            forget_input()
            forget_fetched()


def _told(arguments: Sequence[str]) -> int:
    try:
        return _run(arguments)
    except TripcloakError as error:
        return _tell(error, arguments)
    except MemoryError:
        return _tell(InputError(_out_of_memory()), arguments)
    except OSError as error:
        where = f" ({error.filename})" if error.filename else ""
        return _tell(InputError(f"{error.strerror or type(error).__name__}{where}"), arguments)
    except Exception as error:
        if os.environ.get("TRIPCLOAK_DEBUG"):
            raise
        what = f"unexpected {type(error).__name__}; nothing was released"
        return _tell(InternalError(f"{what}. Set TRIPCLOAK_DEBUG=1 and run again to see where"), arguments)


def _out_of_memory() -> str:
    """Return what to do where there is not enough memory."""
    from tripcloak.ground.memory import machine_memory

    half = max(machine_memory() // 2 // 10**6, 200)
    return (
        f"out of memory, and nothing was released. Count trips in parts on disk (--engine parts --memory "
        f"{half}MB, or less where others need memory too), or take coarser tiles, such as --hierarchy h3:8"
    )


def _run(arguments: Sequence[str]) -> int:
    # Typer's own pretty tracebacks print local variables, and those may hold people's data.
    os.environ.setdefault("TYPER_STANDARD_TRACEBACK", "1")
    from tripcloak.cli.app import run_commands

    try:
        run_commands(arguments)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    return 0


def _tell(error: TripcloakError, arguments: Sequence[str]) -> int:
    if INTERRUPT.signal is None:
        from tripcloak.cli.app import split
        from tripcloak.cli.next_steps import next_step

        ours = "This is our own bug. " if isinstance(error, InternalError) else ""
        step = next_step(error, *split(arguments))
        print(f"Error: {ours}{error}", *([f"Next: {step}."] if step else []), sep="\n", file=sys.stderr)
    return error.exit_code
