"""tripcloak audit."""

from pathlib import Path
from typing import Annotated

import typer

from tripcloak.cli.options import Json, Memory
from tripcloak.cli.screen import print_json, progress_on_stderr, show, table


def command(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A folder written by anonymise.")],
    against: Annotated[
        list[str], typer.Option(metavar="INPUT", help="The raw input (repeatable; files, globs, folders).")
    ],
    k: Annotated[
        float | None, typer.Option("--k", help="The k that was ordered, if it should be at least this.")
    ] = None,
    known_items: Annotated[
        int | None,
        typer.Option("--m", metavar="M", help="How many known items k was ordered for, if not all."),
    ] = None,
    tiles: Annotated[
        int | None, typer.Option("--l", metavar="L", help="The l that was ordered, on tiles.")
    ] = None,
    places: Annotated[
        int | None, typer.Option("--l-places", metavar="L", help="The l that was ordered, on places.")
    ] = None,
    closeness: Annotated[
        float | None, typer.Option("--t", metavar="T", help="The t that was ordered.")
    ] = None,
    memory: Memory = None,
    json: Json = False,
) -> None:
    """Check a release against the raw input, independently of the method that made it.

    Exits 1 and names the rule when one does not hold.

    [bold]Example[/bold]

      tripcloak audit out --against trips.parquet

      tripcloak audit out --against trips.parquet --k 10 --l 3 --t 0.5
    """
    from tripcloak.flows.checking import audit_against

    asked = {"tiles": tiles, "places": places}
    with progress_on_stderr() as progress:
        report = audit_against(
            folder,
            tuple(against),
            k=k,
            known_items=known_items,
            diversity={what: least for what, least in asked.items() if least is not None},
            closeness=closeness,
            memory=memory,
            progress=progress,
        )
    if json:
        print_json(report.to_dict())
    else:
        rows = [
            (finding.rule, "ok" if finding.ok else "BROKEN", finding.words) for finding in report.findings
        ]
        show(table(f"Audit of {folder}", ("rule", "", "what was found"), rows, numbers=False))
        show("Safe: every rule holds." if report.safe else "NOT SAFE: do not publish.")
    if not report.safe:
        raise typer.Exit(1)
