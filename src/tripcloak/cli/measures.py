"""tripcloak metrics."""

from pathlib import Path
from typing import Annotated

import typer

from tripcloak.cli.options import Json, Memory
from tripcloak.cli.screen import number, print_json, progress_on_stderr, show, table


def command(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A folder written by anonymise.")],
    against: Annotated[
        list[str], typer.Option(metavar="INPUT", help="The raw input (repeatable; files, globs, folders).")
    ],
    volume: Annotated[
        str | None,
        typer.Option(metavar="VOLUME", help="trips or population; what was protected if not given."),
    ] = None,
    memory: Memory = None,
    json: Json = False,
) -> None:
    """Measure what a release is still good for, against the raw input.

    The numbers look at unreleased data: keep them inside.

    [bold]Example[/bold]

      tripcloak metrics out --against trips.parquet --json
    """
    from tripcloak.flows.checking import measure_against

    with progress_on_stderr() as progress:
        measures = measure_against(folder, tuple(against), volume=volume, memory=memory, progress=progress)
    if json:
        print_json({"measures": measures, "metrics": measures})
    else:
        rows = [(name, number(value)) for name, value in measures.items()]
        show(table(f"Measures of {folder}", ("measure", "value"), rows))
