"""tripcloak trajectories compare."""

from typing import TYPE_CHECKING, Annotated

import typer

from tripcloak.cli.options import Given, Inputs, Json, takes
from tripcloak.cli.screen import number, print_json, progress_on_stderr, show, table
from tripcloak.ground.errors import AuditFailedError
from tripcloak.trajectories.keywords import keywords, trajectory_methods, trajectory_source

if TYPE_CHECKING:
    from tripcloak.comparing.trajectories import TrajectoryRow

COLUMNS = (
    "method",
    "seconds",
    "memory, MB",
    "space error, km",
    "time error, min",
    "created",
    "deleted",
    "promise",
    "smallest support",
    "audit",
)


@takes(lambda: keywords("compare"))
def command(
    given: Given,
    inputs: Inputs,
    markdown: Annotated[
        bool, typer.Option("--markdown", metavar="", help="Print the table as Markdown.")
    ] = False,
    json: Json = False,
) -> None:
    """Run methods one after the other on the same trajectories, measure and audit each.

    Errors are means over kept samples; created and deleted are shares of all samples.

    The numbers look at unreleased data: keep them inside.

    [bold]Examples[/bold]

      tripcloak trajectories compare calls.parquet --methods k-scale,glove,w4m --k 2

      tripcloak trajectories compare calls.parquet --sample-users 2000 --delta 2000 --trash 0.1 --markdown
    """
    from tripcloak.comparing.trajectories import compare_trajectories

    source, chosen = trajectory_source(inputs, given), trajectory_methods(given)
    with progress_on_stderr() as progress:
        found = compare_trajectories(source, chosen, memory=given["memory"], progress=progress)
    ran = [row for row in found.rows if row.reason is None]
    if json:
        print_json(found.to_dict())
    elif markdown:
        lines = [COLUMNS, (":--", *["--:"] * (len(COLUMNS) - 1)), *map(_cells, ran)]
        show("\n".join(f"| {' | '.join(line)} |" for line in lines))
    else:
        # One column a method: a terminal is not wide enough for the other way round.
        head, *rows = zip(COLUMNS, *map(_cells, ran), strict=True)
        people = found.reading.trajectories.n_users
        show(table(f"k = {given['k']} on {number(people)} trajectories", head, rows))
    if not json:
        show(*(f"{row.method} did not run: {row.reason}" for row in found.rows if row.reason is not None))
    if not ran:
        raise AuditFailedError("no method came to a release")


def _cells(row: "TrajectoryRow") -> tuple[str, ...]:
    return (
        row.method,
        *(f"{value:,.1f}" if value is not None else "-" for value in (row.seconds, row.memory_mb)),
        *(f"{value:,.3f}" if value is not None else "-" for value in (row.spatial_km, row.time_minutes)),
        *(f"{value:.1%}" if value is not None else "-" for value in (row.created, row.deleted)),
        row.promise or "-",
        number(row.smallest_support),
        _judgement(row),
    )


def _judgement(row: "TrajectoryRow") -> str:
    from tripcloak.promises import Promise

    return Promise.of_kind(row.promise).held if row.safe and row.promise else "NOT SAFE"
