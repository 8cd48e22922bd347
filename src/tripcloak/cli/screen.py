"""What people see: progress on stderr while it runs, tables when it is done."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from tripcloak.cli.interrupt import INTERRUPT
from tripcloak.ground.progress import Progress, bars_on_stderr, lines_of_json

if TYPE_CHECKING:
    from rich.table import Table

    from tripcloak.ground.keys import SigningKey
    from tripcloak.records.cleaning import CleaningReport
    from tripcloak.records.file_counts import FileRows
    from tripcloak.records.period import Period
    from tripcloak.records.whereabouts import Whereabouts


@contextmanager
def progress_on_stderr() -> Iterator[Progress]:
    """Give a progress callback that draws bars with numbers; silent where stderr is no terminal.

    Every call is also a place to stop at, should somebody have asked the program to. A program that waits
    sets TRIPCLOAK_PROGRESS=json and reads lines of JSON from stderr.
    """
    if os.environ.get("TRIPCLOAK_PROGRESS") == "json":
        lines = lines_of_json()

        def told(what: str, done: int, total: int | None) -> None:
            INTERRUPT.check()
            lines(what, done, total)

        yield told
        return
    if not sys.stderr.isatty():
        yield lambda what, done, total: INTERRUPT.check()
        return
    with bars_on_stderr() as bars:

        def show(what: str, done: int, total: int | None) -> None:
            INTERRUPT.check()
            bars(what, done, total)

        yield show


def print_json(content: dict[str, Any]) -> None:
    """Print one JSON object on stdout."""
    text = json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False)
    with _reader_may_leave():
        print(text, flush=True)


def table(
    title: str, columns: Sequence[str], rows: Sequence[Sequence[str]], *, numbers: bool = True
) -> Table:
    """Return a table; the first column is text, the others are numbers, or text as well."""
    from rich.table import Table

    made = Table(title=title, title_justify="left", title_style="bold")
    for place, name in enumerate(columns):
        made.add_column(name, justify="right" if numbers and place else "left", overflow="fold")
    for row in rows:
        made.add_row(*row)
    return made


def cleaning_rows(cleaning: CleaningReport) -> list[tuple[str, str]]:
    """Return what was read and what was dropped and why, as rows of a table; GPS fixes before trips."""
    stages = [stage for stage in (cleaning.before, cleaning) if stage is not None]
    rows = []
    for stage in stages:
        rows.append((f"{stage.word} read", number(stage.rows)))
        rows += [(f"  {words}", number(dropped)) for words, dropped in stage.table()]
    return rows


def files_table(cleaning: CleaningReport) -> list[Table]:
    """Return a table of what became of the rows of each file, where there are several; the worst first."""
    files = sorted(cleaning.by_file, key=lambda one: one.kept / max(one.rows, 1))
    if len(files) < 2:
        return []
    rows = [(one.name, number(one.rows), number(one.kept), _why(one)) for one in files[:MOST_FILES]]
    if len(files) > MOST_FILES:
        rest = files[MOST_FILES:]
        read, kept = (sum(getattr(one, what) for one in rest) for what in ("rows", "kept"))
        rows.append((f"{len(rest):,} more files", number(read), number(kept), ""))
    return [table("File by file", ("", "read", "used", "dropped because"), rows)]


def taken_columns(
    columns: Mapping[str, str], why: Mapping[str, str], unused: Sequence[str]
) -> list[Table | str]:
    """Return a table of every column that is used, what it was taken for and why, and the others' names."""
    from tripcloak.records.columns import listed
    from tripcloak.records.schema import ROLES

    rows = [(column, ROLES[role].words, why.get(role, "")) for role, column in columns.items()]
    taken = table("What columns were taken for", ("column", "is the", "because"), rows, numbers=False)
    return [taken, *([f"Columns that are not used: {listed(unused)}."] if unused else [])]


MOST_FILES = 20
"""Files that a table shows."""


def _why(file: FileRows) -> str:
    """Return the reasons for which rows of a file were dropped, and how many have no id."""
    from tripcloak.records.cleaning import describe_cleaning

    told = [f"{words}: {number(n)}" for words, n in describe_cleaning(file.dropped)]
    return "; ".join(
        [*told, *([f"kept without an id: {number(file.without_id)}"] if file.without_id else [])]
    )


def cleaning_lines(cleaning: CleaningReport) -> list[str]:
    """Return what became of the rows in lines, the files that lost most first; none where none was lost."""
    stage = cleaning.before or cleaning
    if not stage.dropped:
        return []
    lossy = sorted((one for one in stage.files if one.dropped), key=lambda one: one.kept / one.rows)
    lines = [f"Used {number(stage.kept)} of {number(stage.rows)} {stage.word}. Dropped:"]
    lines += [f"  {one.name}: {_why(one)}" for one in lossy[:MOST_FILES]]
    rest = lossy[MOST_FILES:]
    lost = sum(one.rows - one.kept for one in rest)
    return lines + ([f"  {len(rest):,} more files: {number(lost)} {stage.word}"] if rest else [])


def where_and_when(where: Whereabouts | None, when: Period | None) -> list[str]:
    """Return where and when the trips were made, in a line; nothing where nothing tells."""
    period = when and f"from {when.first.isoformat()} to {when.last.isoformat()}"
    if where is None:
        return [f"The trips are {period}."] if period else []
    return [
        f"The trips are {period}; their middle is {where.near}."
        if period
        else f"The middle of the trips is {where.near}."
    ]


def warn(*items: str) -> None:
    """Print warnings on stderr."""
    tell(*(f"Warning: {item}" for item in items))


def tell(*lines: str) -> None:
    """Print lines on stderr, beside the results."""
    for line in lines:
        print(line, file=sys.stderr, flush=True)


def show(*items: object) -> None:
    """Print tables and text on stdout, text as it is: names of files and columns may look like markup."""
    from rich.console import Console

    class Patient(Console):
        def on_broken_pipe(self) -> None:
            # Rich's own way is to end with 1, which says that the answer is no.
            raise BrokenPipeError

    console = Patient(highlight=False, markup=False, emoji=False)
    with _reader_may_leave():
        for item in items:
            # Text is wrapped by the terminal alone, so that paths can be copied from it.
            console.print(item, soft_wrap=isinstance(item, str))


def show_signed(key: SigningKey | None) -> None:
    """Say that releases were signed, if they were."""
    from tripcloak.ground.signatures import signed_words

    if key is not None:
        words = signed_words(key)
        show(f"{words[0].upper()}{words[1:]}")


@contextmanager
def _reader_may_leave() -> Iterator[None]:
    """Let the reader of our output go away early (`| head`): nothing is wrong then."""
    try:
        yield
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def number(value: float | None) -> str:
    """Return a number for people.

    >>> number(None), number(1234567), number(0.12345), number(1234.5678)
    ('-', '1,234,567', '0.1235', '1,234.57')
    """
    if value is None:
        return "-"
    if float(value).is_integer():
        return f"{int(value):,}"
    return f"{value:,.4f}" if abs(value) < 10 else f"{value:,.2f}"
