"""tripcloak studio."""

import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from tripcloak.cli.screen import show, warn
from tripcloak.ground.errors import InputError
from tripcloak.ground.memory import parse_size


def command(
    demo: Annotated[
        bool, typer.Option("--demo", metavar="", help="Open with a made-up city loaded.")
    ] = False,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", metavar="", help="Print the address only; open no browser.")
    ] = False,
    port: Annotated[
        int | None, typer.Option(metavar="N", help="Port to listen at; 8321 or a free one if not given.")
    ] = None,
    workspace: Annotated[Path, typer.Option(metavar="DIR", help="Folder that keeps inputs and runs.")] = Path(
        "~/tripcloak-studio"
    ),
    max_upload: Annotated[str, typer.Option(metavar="SIZE", help="Largest file that may be sent.")] = "8GB",
    host: Annotated[
        str, typer.Option(metavar="HOST", help="Address to listen at; others than this machine need --token.")
    ] = "127.0.0.1",
    token: Annotated[
        str | None, typer.Option(metavar="SECRET", help="Secret that lets people in.", show_default=False)
    ] = None,
) -> None:
    """Open the studio: the whole road from a file to a checked release, in the browser.

    It listens on this machine alone; nothing leaves it. Ctrl-C ends it; runs are kept in the workspace.

    [bold]Examples[/bold]

      tripcloak studio

      tripcloak studio --demo

      tripcloak studio --workspace project --no-browser --port 8400
    """
    from tripcloak.studio.security import is_loopback
    from tripcloak.studio.server import StudioPlan, serve

    if port is not None and not 0 <= port <= 65535:
        raise InputError(f"--port is a number from 0 to 65535; got {port}")
    plan = StudioPlan(
        workspace=workspace,
        host=host,
        port=port,
        token=token,
        demo=demo,
        largest_upload=parse_size(max_upload),
    )
    if not is_loopback(host):
        warn(
            f"others on the network can reach {host}, and what they send is not encrypted; whoever has the "
            "token sees unreleased numbers. Put a server with TLS in front of it."
        )

    def started(address: str) -> None:
        show(f"The studio is at {address}", "Keep that address to yourself. Ctrl-C ends it.")
        if not no_browser:
            webbrowser.open(address)

    serve(plan, started)
