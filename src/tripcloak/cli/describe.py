"""tripcloak describe."""

from typing import TYPE_CHECKING

from tripcloak.cli.options import Given, Inputs, Json, takes
from tripcloak.cli.screen import (
    cleaning_rows,
    files_table,
    number,
    print_json,
    progress_on_stderr,
    show,
    table,
    taken_columns,
)
from tripcloak.flows.keywords import keywords, zoning
from tripcloak.records.keywords import trip_source

if TYPE_CHECKING:
    from tripcloak.flows.describe import Description


@takes(lambda: keywords("describe"))
def command(given: Given, inputs: Inputs, json: Json = False) -> None:
    """Tell what is in a file, how much of it is below k at each height, and what is realistic.

    The numbers look at unreleased data: keep them inside.

    [bold]Examples[/bold]

      tripcloak describe trips.parquet

      tripcloak describe trips.parquet --hierarchy h3:9 --k 20 --json
    """
    from tripcloak.flows.describe import describe

    source, zones = trip_source(inputs, given), zoning(given)
    with progress_on_stderr() as progress:
        description = describe(source, zones, k=given["k"], memory=given["memory"], progress=progress)
    if json:
        print_json(description.to_dict())
    else:
        _show(description)


def _show(description: "Description") -> None:
    from tripcloak.promises.counted import called_in_words

    id_is = description.id_is
    facts = [(called_in_words(name, id_is), number(value)) for name, value in description.numbers.items()]
    facts = [*cleaning_rows(description.cleaning), *facts, *_where_and_when(description)]
    show(table("What is in it", ("", "number"), facts))
    show(*files_table(description.cleaning), *(f"Warning: {warning}" for warning in description.warnings))
    show(*taken_columns(description.columns, description.why, description.unused))
    for note in description.notes:
        show(f"Note: {note}")
    units = description.units
    rows = [
        (str(level.height), number(level.pairs), *(f"{level.below[unit]:.1%}" for unit in units))
        for level in description.levels
    ]
    title = f"Share of the trips in flows below k = {description.k:g}, all zones at one height"
    below = (f"below k {called_in_words(unit, id_is)}" for unit in units)
    show(table(title, ("height", "flows", *below), rows))
    show(*description.advice)


def _where_and_when(description: "Description") -> list[tuple[str, str]]:
    """Return where and when it was, and how exact that is, as rows of a table."""
    where, when, rows = description.where, description.when, []
    if where is not None:
        south, west, north, east = where.extent
        rows += [("latitudes", f"{south:.4f} to {north:.4f}"), ("longitudes", f"{west:.4f} to {east:.4f}")]
        rows += [("the middle is", where.near)]
    if when is not None:
        rows += [("from", when.first.isoformat()), ("to", when.last.isoformat())]
        rows += [("times are to the", when.rounded_to)] if when.rounded_to else []
    return rows + ([("fixes are", description.sampling)] if description.sampling else [])
