"""tripcloak crate."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from tripcloak.cli.check import Release
from tripcloak.cli.options import Force
from tripcloak.cli.screen import show


def command(
    release: Release,
    out: Annotated[Path, typer.Option(metavar="DIR", help="A new folder for the crate.")],
    title: Annotated[str, typer.Option(metavar="TEXT", help="What the dataset is called.")],
    licence: Annotated[str, typer.Option(metavar="URL", help="The address of its licence.")],
    publisher: Annotated[str, typer.Option(metavar="NAME", help="Who publishes it.")],
    contact: Annotated[str, typer.Option(metavar="E-MAIL", help="Whom to ask.")],
    description: Annotated[str, typer.Option(metavar="TEXT", help="What it is, in sentences.")] = "",
    date: Annotated[
        str | None, typer.Option(metavar="DAY", help="The day it is published; today if not given.")
    ] = None,
    period: Annotated[
        str, typer.Option(metavar="DAY/DAY", help="First and last day that the data are about.")
    ] = "",
    language: Annotated[
        str, typer.Option(metavar="CODE", help="The language of title and description, as two letters.")
    ] = "en",
    force: Force = False,
) -> None:
    """Pack a release for catalogues: with RO-Crate, mobilityDCAT-AP, Croissant and a text for citations.

    DIR/release is the public part as it is, and the metadata lie beside it. What you do not say is read from
    the release.

    [bold]Examples[/bold]

      tripcloak crate out --title 'Trips in May' --licence https://creativecommons.org/licenses/by/4.0/
      --publisher 'City of Example' --contact data@example.org --out crate
    """
    from tripcloak.exporting.crate import Details, write_crate

    details = Details(
        title=title,
        licence=licence,
        publisher=publisher,
        contact=contact,
        description=description,
        period=period,
        language=language,
        date=date or datetime.now(UTC).date().isoformat(),
    )
    show(f"Wrote {write_crate(release, out, details, force=force)}")
