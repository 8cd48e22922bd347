"""tripcloak report."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tripcloak.cli.options import Folder, Force, Json
from tripcloak.cli.screen import print_json, show
from tripcloak.ground.errors import InputError

if TYPE_CHECKING:
    from tripcloak.reporting.writing import WrittenReport

Out = Annotated[
    Path | None, typer.Option("--out", metavar="FILE", help="Page to write; DIR/report.html without.")
]
Title = Annotated[str | None, typer.Option("--title", metavar="TEXT", help="Heading of the report.")]
Subtitle = Annotated[str | None, typer.Option("--subtitle", metavar="TEXT", help="Line below the heading.")]
Logo = Annotated[
    Path | None, typer.Option("--logo", metavar="FILE", help="Picture beside the heading: PNG, JPEG or SVG.")
]
Background = Annotated[
    Path | None,
    typer.Option("--background", metavar="FILE", help="GeoJSON lines and polygons to draw below the zones."),
]
PublicOnly = Annotated[
    bool, typer.Option("--public-only", metavar="", help="Write no private report, even if it could be.")
]


def command(
    folder: Folder,
    out: Out = None,
    title: Title = None,
    subtitle: Subtitle = None,
    logo: Logo = None,
    background: Background = None,
    public_only: PublicOnly = False,
    force: Force = False,
    json: Json = False,
) -> None:
    """Write one page that tells everything about a release: verdict, promise, maps, charts, files.

    DIR/report.html may be published, and DIR/report.json holds the same. Where the private part is at hand, a
    second page is written into DIR/private, which shows the original beside the release and must stay inside.

    [bold]Examples[/bold]

      tripcloak report out

      tripcloak report out --title 'Trips in the city, May' --logo logo.png

      tripcloak report downloads/release --out report.html
    """
    from tripcloak.reporting.content import Dressing
    from tripcloak.reporting.writing import write_report

    dressing = Dressing(title=title, subtitle=subtitle, logo=logo, background=background)
    written = write_report(folder, dressing, out=out, private=not public_only, force=force)
    if json:
        print_json({"public": str(written.public), "private": written.private and str(written.private)})
    else:
        show_report(written)


def show_report(written: "WrittenReport") -> None:
    """Say where the pages are, and which one must stay inside."""
    show(f"The report: {written.public.resolve().as_uri()}")
    if written.private is not None:
        show(f"For you alone, with the original beside it: {written.private.resolve().as_uri()}")


def written_report(folder: Path, *, force: bool) -> "WrittenReport":
    """Return where the reports of a release are that was just written, with nothing put on them."""
    from tripcloak.reporting.content import Dressing
    from tripcloak.reporting.writing import write_report

    return write_report(folder, Dressing(), force=force)


def refuse_report(asked: bool) -> None:
    """Raise where a report is asked for and several releases are made."""
    if asked:
        raise InputError(
            "--report is about one release, and one per segment is made here; run tripcloak report on each "
            "of their folders"
        )
