"""tripcloak trajectories compare."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from tripcloak.cli.options import Json
from tripcloak.cli.screen import number, print_json, progress_on_stderr, show, table
from tripcloak.cli.trajectories.options import FixInput, chosen, takes_input, takes_method_options
from tripcloak.ground.errors import AuditFailedError, InputError

if TYPE_CHECKING:
    from tripcloak.comparing.trajectories import TrajectoryRow
    from tripcloak.trajectories.methods.method import TrajectoryMethod

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


@takes_input
@takes_method_options
def command(
    given: FixInput,
    own: dict[str, Any],
    methods: Annotated[
        str, typer.Option(metavar="NAMES", help="Methods separated by commas.")
    ] = "k-scale,glove,w4m",
    k: Annotated[
        int, typer.Option("--k", metavar="K", help="Among how many trajectories each one hides.")
    ] = 2,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print the table as Markdown.")] = False,
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

    chosen = _chosen([name.strip() for name in methods.split(",")], k, own)
    with progress_on_stderr() as progress:
        found = compare_trajectories(given.source, chosen, memory=given.memory, progress=progress)
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
        show(table(f"k = {k} on {number(people)} trajectories", head, rows))
    if not json:
        show(*(f"{row.method} did not run: {row.reason}" for row in found.rows if row.reason is not None))
    if not ran:
        raise AuditFailedError("no method came to a release")


def _chosen(names: list[str], k: int, own: dict[str, Any]) -> list["TrajectoryMethod"]:
    """Return the methods, each with its own among the options; one that is nobody's is an error."""
    from tripcloak.trajectories.methods.registry import find_trajectory_method

    known = {name: set(find_trajectory_method(name).__dataclass_fields__) for name in names}
    for option in own:
        if not any(option in fields for fields in known.values()):
            raise InputError(f"none of {', '.join(names)} has an option --{option.replace('_', '-')}")
    return [chosen(name, k, {o: v for o, v in own.items() if o in known[name]}) for name in names]


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
