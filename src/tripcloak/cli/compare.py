"""tripcloak compare."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tripcloak.cli.anonymise import seconds
from tripcloak.cli.options import Json, TripInput, numbers, takes_input
from tripcloak.cli.screen import cleaning_rows, print_json, progress_on_stderr, show, table
from tripcloak.ground.errors import AuditFailedError

if TYPE_CHECKING:
    from tripcloak.comparing.columns import ComparisonColumn
    from tripcloak.comparing.compare import Comparison


COMPARED, RUN = "What is compared", "How it runs"
FEW = 4
"""So many releases or fewer fit beside each other."""


@takes_input
def command(
    given: TripInput,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder for compare.html, .md, .csv and .json.", show_default=False),
    ] = None,
    methods: Annotated[
        str,
        typer.Option(
            metavar="NAMES",
            help="Methods separated by commas, or all; see `tripcloak methods`.",
            rich_help_panel=COMPARED,
        ),
    ] = "all",
    k: Annotated[
        str,
        typer.Option(
            "--k",
            metavar="K,K",
            help="Smallest support of a released flow; several separated by commas.",
            rich_help_panel=COMPARED,
        ),
    ] = "10",
    unit: Annotated[
        str | None,
        typer.Option(
            metavar="UNIT",
            help="What k counts: trips, travellers or population, or several separated by commas.",
            rich_help_panel=COMPARED,
        ),
    ] = None,
    k_population: Annotated[
        str | None,
        typer.Option(
            metavar="K",
            help="Smallest population of a released flow: a number, or auto for k times the mean weight. "
            "Without --unit it is asked for beside k.",
            rich_help_panel=COMPARED,
        ),
    ] = None,
    suppress: Annotated[
        str,
        typer.Option(
            metavar="SHARE,SHARE",
            help="Share of the volume that may be withheld; several separated by commas.",
            rich_help_panel=COMPARED,
        ),
    ] = "0.1",
    epsilon: Annotated[
        float | None,
        typer.Option(
            metavar="EPSILON",
            help="For methods of differential privacy, which do not run without.",
            rich_help_panel=COMPARED,
        ),
    ] = None,
    time_limit: Annotated[
        str, typer.Option(metavar="TIME", help="For each method: 60s, 5min.", rich_help_panel=RUN)
    ] = "5min",
    jobs: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Methods that run at a time; one a core, as memory allows, if not given.",
            rich_help_panel=RUN,
        ),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace a comparison that is already there.")
    ] = False,
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
    plan = ComparisonPlan(
        source=given.source,
        zoning=given.zoning,
        methods=None if methods.strip() == "all" else _names(methods),
        ks=tuple(numbers("--k", k)),
        limits=tuple(numbers("--suppress", suppress)),
        units=() if unit is None else _names(unit),
        k_population=k_population,
        epsilon=epsilon,
        time_limit=seconds(time_limit),
        jobs=jobs,
        memory=given.memory,
    )
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


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(","))


def _show(found: "Comparison", out: Path | None) -> None:
    from tripcloak.comparing.columns import INTERNAL, full_name
    from tripcloak.comparing.files import headline

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
        show("", headline(choice), *(f"  {words}" for words in choice.words[:told]))
    show("", INTERNAL)
    if out is not None:
        show(f"Open {out / 'compare.html'}; the same is in compare.md, compare.csv and compare.json.")


def _show_below(ran: Sequence[Mapping[str, Any]]) -> None:
    """Show one row a release, in as many tables as the terminal is too narrow for one."""
    from rich.console import Console

    from tripcloak.comparing.columns import LOSS, RELEASE, asked_columns

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
    from tripcloak.comparing.columns import short

    return 2 + max(len(column.name), *(len(short(column, one[column.key])) for one in ran))


def _rows(title: str, columns: "Sequence[ComparisonColumn]", ran: Sequence[Mapping[str, Any]]) -> object:
    from rich import box
    from rich.table import Table

    from tripcloak.comparing.columns import short

    made = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD)
    made.padding = (0, 1, 0, 0)
    for column in columns:
        made.add_column(column.name, justify="left" if column.form == "text" else "right", no_wrap=True)
    for record in ran:
        made.add_row(*(short(column, record[column.key]) for column in columns))
    return made


def _show_beside(ran: Sequence[Mapping[str, Any]]) -> None:
    """Show one column a release and one row a measure, with what it means."""
    from tripcloak.comparing.columns import LOSS, RELEASE, asked_columns, written

    first, *others = asked_columns(ran)
    rows = [
        (column.name, column.words, *(written(column, record[column.key]) for record in ran))
        for column in (*others, *LOSS, *RELEASE)
    ]
    names = (written(first, record[first.key]) for record in ran)
    show(table("Side by side", ("", "what it is", *names), rows))
