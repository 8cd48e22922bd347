"""Starts the command line and turns errors into words and exit codes."""

from __future__ import annotations

import os
import sys

from tripcloak.errors import InternalError, TripcloakError

INTERRUPTED = 130


def main() -> None:
    """Run the command line; exit 0 done, 1 the answer is no, 2 bad usage or input, 3 our own bug."""
    # Typer's own pretty tracebacks print local variables, and those may hold people's data.
    os.environ.setdefault("TYPER_STANDARD_TRACEBACK", "1")
    from tripcloak.cli.app import app

    try:
        app(standalone_mode=True)
    except TripcloakError as error:
        _tell(error)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        print("\nInterrupted; nothing was left behind.", file=sys.stderr)
        sys.exit(INTERRUPTED)
    except BrokenPipeError:
        # The reader of our output went away (`| head`): nothing is wrong.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except MemoryError:
        print("Error: out of memory; try --memory with a smaller size", file=sys.stderr)
        sys.exit(2)
    except OSError as error:
        where = f" ({error.filename})" if error.filename else ""
        print(f"Error: {error.strerror or type(error).__name__}{where}", file=sys.stderr)
        sys.exit(2)
    except Exception as error:
        if os.environ.get("TRIPCLOAK_DEBUG"):
            raise
        _tell(InternalError(f"unexpected {type(error).__name__}; nothing was released"))
        print("Set TRIPCLOAK_DEBUG=1 and run again to see where.", file=sys.stderr)
        sys.exit(InternalError.exit_code)


def _tell(error: TripcloakError) -> None:
    ours = "This is our own bug. " if isinstance(error, InternalError) else ""
    print(f"Error: {ours}{error}", file=sys.stderr)
