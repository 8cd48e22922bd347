"""tripcloak plot."""

from pathlib import Path
from typing import Annotated

import typer

from tripcloak.cli.check import Release
from tripcloak.cli.options import Force
from tripcloak.cli.screen import show


def command(
    release: Release,
    out: Annotated[Path, typer.Option(metavar="FILE", help="A file that ends in .png, .svg or .pdf.")],
    kind: Annotated[
        str, typer.Option(metavar="KIND", help="zones, coarseness, flows, support or cdf.")
    ] = "zones",
    force: Force = False,
) -> None:
    """Draw a figure of a release for a publication, with matplotlib.

    zones: both axes, shaded by volume. coarseness: by area. flows: lines. support: how many people or trips
    are behind a flow. cdf: shares of the volume by the area of zones and the length of trips.

    Needs the public folder alone.

    [bold]Examples[/bold]

      tripcloak plot out --out zones.png

      tripcloak plot out --kind cdf --out cdf.pdf
    """
    from tripcloak.api.figures import save_figure

    show(f"Wrote {save_figure(release, kind, out, force=force)}")
