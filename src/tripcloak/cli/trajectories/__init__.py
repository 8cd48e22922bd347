"""tripcloak trajectories: the commands on whole trajectories, by name."""

import typer

from tripcloak.cli.trajectories import (
    anonymise,
    attack,
    audit,
    compare,
    describe,
    measures,
    methods,
    trips,
)

app = typer.Typer(no_args_is_help=True, rich_markup_mode="rich")


@app.callback()
def root() -> None:
    """Make whole trajectories safe to publish: who was where and when, each hidden among k.

    In goes a table of fixes, check-ins or calls: person, time, place.

    Out come generalised samples, boxes in space and time, under fresh pseudonyms.

    [bold]Examples[/bold]

      tripcloak trajectories describe calls.parquet

      tripcloak trajectories anonymise calls.parquet --method k-scale --k 5 --out out

      tripcloak trajectories audit out --against calls.parquet
    """


app.command("anonymise")(anonymise.command)
app.command("audit")(audit.command)
app.command("describe")(describe.command)
app.command("measures")(measures.command)
app.command("attack")(attack.command)
app.command("compare")(compare.command)
app.command("trips")(trips.command)
app.command("methods")(methods.command)
