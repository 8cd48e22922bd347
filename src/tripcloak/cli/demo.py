"""tripcloak demo."""

from pathlib import Path
from typing import Annotated

import typer

from tripcloak.cli.screen import progress_on_stderr, show


def command(
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder for the demo.")] = Path("demo"),
    trips: Annotated[int, typer.Option(help="Number of trips.")] = 200_000,
    seed: Annotated[int, typer.Option(help="The same seed gives the same city.")] = 1,
    force: Annotated[bool, typer.Option("--force", help="Replace a demo that is already there.")] = False,
) -> None:
    """Walk the whole road once: make a city, anonymise it, audit it, leave a map to look at.

    [bold]Example[/bold]

      tripcloak demo --out demo
    """
    from tripcloak.demo import run_demo

    with progress_on_stderr() as progress:
        run_demo(out, trips=trips, seed=seed, force=force, tell=show, progress=progress)
