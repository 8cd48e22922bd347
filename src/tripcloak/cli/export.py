"""tripcloak export."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tripcloak.cli.check import Release
from tripcloak.cli.options import Force, Json
from tripcloak.cli.screen import print_json, show, table
from tripcloak.exporting.formats import FORMATS
from tripcloak.ground.errors import InputError

if TYPE_CHECKING:
    from tripcloak.exporting.export import Exported

To = Annotated[
    str | None,
    typer.Option("--to", metavar="FORMAT", help=f"One of {', '.join(FORMATS)}.", show_default=False),
]
Out = Annotated[
    str | None,
    typer.Option(
        "--out",
        metavar="FILE",
        help="A file; a folder for hive and flowmap, postgresql://user@host/name#schema for postgresql.",
        show_default=False,
    ),
]
Formats = Annotated[
    bool, typer.Option("--formats", metavar="", help="List the formats, and what each is, and do no more.")
]


def command(
    release: Annotated[
        Path | None, typer.Argument(metavar="RELEASE", help=Release.__metadata__[0].help)
    ] = None,
    to: To = None,
    out: Out = None,
    formats: Formats = False,
    force: Force = False,
    json: Json = False,
) -> None:
    """Write a release in the format of another tool: what it says, and nothing else.

    Needs the public folder alone. Its files must have the digests that the manifest states.

    [bold]Examples[/bold]

      tripcloak export out --to gpkg --out flows.gpkg

      tripcloak export out --to omx --out flows.omx

      tripcloak export out --to postgresql --out postgresql://ana@localhost/city#open_data

      tripcloak export --formats
    """
    from tripcloak.exporting.export import export_release

    if formats:
        rows = [(name, one.of, one.words) for name, one in FORMATS.items()]
        if json:
            print_json({"formats": [{"format": name, "of": of, "words": words} for name, of, words in rows]})
        else:
            show(table("Formats", ("format", "of", "what it is"), rows, numbers=False))
        return
    if release is None or to is None or out is None:
        raise InputError(
            "export needs a release, a format and a place: "
            "`tripcloak export RELEASE --to gpkg --out flows.gpkg`"
        )
    made = export_release(release, to, out, force=force)
    if json:
        print_json(made.to_dict())
    else:
        show_exports([made])


def show_exports(exported: "Iterable[Exported]") -> None:
    """Say what was written, and where."""
    for one in exported:
        what = "samples" if FORMATS[one.format].of == "trajectories" else "flows"
        show(f"Wrote {one.rows:,} {what} as {one.format}: {one.path}")
