"""tripcloak describe."""

from typing import TYPE_CHECKING, Annotated

import typer

from tripcloak.cli.options import Json, TripInput, takes_input
from tripcloak.cli.screen import cleaning_rows, number, print_json, progress_on_stderr, show, table

if TYPE_CHECKING:
    from tripcloak.flows.describe import Description


@takes_input
def command(
    given: TripInput,
    k: Annotated[float, typer.Option("--k", metavar="K", help="The k to look at.")] = 10,
    json: Json = False,
) -> None:
    """Tell what is in a file, how much of it is below k at each height, and what is realistic.

    The numbers look at unreleased data: keep them inside.

    [bold]Examples[/bold]

      tripcloak describe trips.parquet

      tripcloak describe trips.parquet --hierarchy h3:9 --k 20 --json
    """
    from tripcloak.flows.describe import describe

    with progress_on_stderr() as progress:
        description = describe(given.source, given.zoning, k=k, memory=given.memory, progress=progress)
    if json:
        print_json(description.to_dict())
    else:
        _show(description)


def _show(description: "Description") -> None:
    facts = [(name, number(value)) for name, value in description.numbers.items()]
    show(table("What is in it", ("", "number"), [*cleaning_rows(description.cleaning), *facts]))
    show("Columns: " + ", ".join(f"{role} = {column}" for role, column in description.columns.items()))
    for note in description.notes:
        show(f"Note: {note}")
    units = description.units
    rows = [
        (str(level.height), number(level.pairs), *(f"{level.below[unit]:.1%}" for unit in units))
        for level in description.levels
    ]
    title = f"Share of the trips in flows below k = {description.k:g}, all zones at one height"
    show(table(title, ("height", "flows", *(f"below k {unit}" for unit in units)), rows))
    show(*description.advice)
