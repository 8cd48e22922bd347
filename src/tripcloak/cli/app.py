"""The commands, by name."""

from typing import Annotated

import typer

from tripcloak._version import __version__
from tripcloak.cli import (
    analyse,
    anonymise,
    audit,
    compare,
    demo,
    describe,
    exposure,
    measures,
    methods,
    reconstruct,
    synth,
    trajectories,
)

app = typer.Typer(
    name="tripcloak",
    help="Make personal mobility data safe to publish, and prove it.",
    epilog="Start here: tripcloak demo. Then: tripcloak describe FILE; tripcloak anonymise FILE --out DIR; "
    "tripcloak audit DIR --against FILE. Whole trajectories: tripcloak trajectories --help.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(asked: bool) -> None:
    if asked:
        print(f"tripcloak {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Make personal mobility data safe to publish, and prove it."""


app.command("anonymise")(anonymise.command)
app.command("compare")(compare.command)
app.command("audit")(audit.command)
app.command("describe")(describe.command)
app.command("metrics")(measures.command)
app.command("methods")(methods.command)
app.command("exposure")(exposure.command)
app.command("reconstruct")(reconstruct.command)
app.command("analyse")(analyse.command)
app.command("demo")(demo.command)
app.add_typer(trajectories.app, name="trajectories")
app.add_typer(synth.app, name="synth")
