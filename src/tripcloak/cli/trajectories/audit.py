"""tripcloak trajectories audit."""

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
    k: Annotated[
        int | None, typer.Option("--k", help="The k that was ordered, if it should be at least this.")
    ] = None,
    memory: Memory = None,
    json: Json = False,
) -> None:
    """Check a release of trajectories against the raw input, independently of the method that made it.

    The smallest support, trajectories that hold all samples of a person, must reach k.

    Exits 1 and names the rule when one does not hold.

    [bold]Example[/bold]

      tripcloak trajectories audit out --against calls.parquet

      tripcloak trajectories audit out --against calls.parquet --k 5 --json
    """
    from tripcloak.trajectories.checking import audit_trajectories_against

    with progress_on_stderr() as progress:
        report = audit_trajectories_against(folder, tuple(against), k=k, memory=memory, progress=progress)
    if json:
        print_json(report.to_dict())
    else:
        rows = [
            (finding.rule, "ok" if finding.ok else "BROKEN", finding.words) for finding in report.findings
        ]
        show(table(f"Audit of {folder}", ("rule", "", "what was found"), rows, numbers=False))
        show(f"Smallest support, over all people: {number(report.smallest_support)} released trajectories.")
        show("Safe: every rule holds." if report.safe else "NOT SAFE: do not publish.")
    if not report.safe:
        raise typer.Exit(1)
