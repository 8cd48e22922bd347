"""tripcloak compare."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tripcloak.cli.options import Force, Given, Inputs, Json, takes
from tripcloak.cli.screen import cleaning_rows, print_json, progress_on_stderr, show, table
from tripcloak.flows.keywords import keywords
from tripcloak.ground.errors import AuditFailedError
from tripcloak.records.keywords import trip_source

if TYPE_CHECKING:
    from tripcloak.comparing.compare import Comparison
    from tripcloak.comparing.rows import ComparisonColumn


FEW = 4
"""So many releases or fewer fit beside each other."""


@takes(lambda: keywords("compare"))
def command(
    given: Given,
    inputs: Inputs,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder for compare.html, .md, .csv and .json.", show_default=False),
    ] = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Run methods side by side on the same trips, measure and audit all, and recommend one.

    The numbers look at unreleased data: keep them inside.

    [bold]Examples[/bold]

      tripcloak compare trips.parquet --k 10 --suppress 0.1 --out out

      tripcloak compare trips.parquet --methods twincut,odkanon --k 5,10,20 --suppress 0,0.05,0.1 --out out

      tripcloak compare trips.parquet --epsilon 1 --time-limit 60s --jobs 2 --json
    """
    from tripcloak.comparing.compare import ComparisonPlan, compare
    from tripcloak.comparing.files import refuse_if_compared, write_comparison

    if out is not None:
        refuse_if_compared(out, force=force)
    plan = ComparisonPlan.of(trip_source(inputs, given), given)
    with progress_on_stderr() as progress:
        found = compare(plan, progress)
        if out is not None:
            write_comparison(out, found, force=force)
    if json:
        print_json({**found.to_dict(), "out": None if out is None else str(out)})
    else:
        _show(found, out)
    if not any(row.ran for row in found.rows):
        raise AuditFailedError("no method came to a release; the table says why")


def _show(found: "Comparison", out: Path | None) -> None:
    from tripcloak.comparing.files import headline
    from tripcloak.comparing.rows import INTERNAL, full_name

    records = [row.record() for row in found.rows]
    ran = [record for record in records if record["ran"]]
    show(table("What was read", ("", "value"), cleaning_rows(found.cleaning)))
    for note in found.notes:
        show(f"Note: {note}")
    if ran:
        (_show_beside if len(ran) <= FEW else _show_below)(ran)
    for row in found.rows:
        if not row.ran:
            show(f"{full_name(row.record(), records)} did not run: {row.reason}")
        elif row.note:
            show(f"{full_name(row.record(), records)}: {row.note}")
    # All that is said of one request; of a sweep, what to use and why.
    told = None if len(found.choices) == 1 else 1
    for choice in found.choices:
        show("", headline(choice, found.input["id_is"]), *(f"  {words}" for words in choice.words[:told]))
    show("", INTERNAL)
    if out is not None:
        show(f"Open {out / 'compare.html'}; the same is in compare.md, compare.csv and compare.json.")


def _show_below(ran: Sequence[Mapping[str, Any]]) -> None:
    """Show one row a release, in as many tables as the terminal is too narrow for one."""
    from rich.console import Console

    from tripcloak.comparing.rows import LOSS, RELEASE, asked_columns

    asked, room = asked_columns(ran), Console().width - 2
    releases = [column for column in RELEASE if column.key != "wall_s"]
    for title, columns in (("What is lost", LOSS), ("The releases", releases)):
        taken = list(asked)
        for column in columns:
            if len(taken) > len(asked) and sum(_width(one, ran) for one in (*taken, column)) > room:
                show(_rows(title, taken, ran))
                taken = list(asked)
            taken.append(column)
        show(_rows(title, taken, ran))


def _width(column: "ComparisonColumn", ran: Sequence[Mapping[str, Any]]) -> int:
    from tripcloak.comparing.rows import short

    return 2 + max(len(column.name), *(len(short(column, one[column.key])) for one in ran))


def _rows(title: str, columns: "Sequence[ComparisonColumn]", ran: Sequence[Mapping[str, Any]]) -> object:
    from rich import box
    from rich.table import Table

    from tripcloak.comparing.rows import short

    made = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD)
    made.padding = (0, 1, 0, 0)
    for column in columns:
        made.add_column(column.name, justify="left" if column.form == "text" else "right", no_wrap=True)
    for record in ran:
        made.add_row(*(short(column, record[column.key]) for column in columns))
    return made


def _show_beside(ran: Sequence[Mapping[str, Any]]) -> None:
    """Show one column a release and one row a measure, with what it means."""
    from tripcloak.comparing.rows import LOSS, RELEASE, asked_columns, written

    first, *others = asked_columns(ran)
    rows = [
        (column.name, column.words, *(written(column, record[column.key]) for record in ran))
        for column in (*others, *LOSS, *RELEASE)
    ]
    names = (written(first, record[first.key]) for record in ran)
    show(table("Side by side", ("", "what it is", *names), rows))
