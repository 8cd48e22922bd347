"""tripcloak check."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tripcloak.cli.options import Force, Json
from tripcloak.cli.screen import print_json, progress_on_stderr, show, table
from tripcloak.flows.options import COMPARED_ZONES
from tripcloak.ground.errors import InputError

if TYPE_CHECKING:
    from tripcloak.receiving.check import ReleaseCheck

Release = Annotated[
    Path, typer.Argument(metavar="RELEASE", help="The public folder of a release, or what holds it.")
]
Html = Annotated[
    Path | None, typer.Option("--html", metavar="FILE", help="Write the page to a file as well.")
]


Key = Annotated[
    Path | None,
    typer.Option("--key", metavar="PUB", help="The publisher's public key, by which it must be signed."),
]


ZonesFrom = Annotated[
    Path | None,
    typer.Option("--zones-from", metavar="DIR", help=COMPARED_ZONES.words),
]


def command(
    release: Release,
    key: Key = None,
    zones_from: ZonesFrom = None,
    html: Html = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Check a release that you were given: is it untouched, what does it promise, and what not.

    Needs the public folder alone, of flows or of trajectories, under any name. What only the raw data can
    show, `tripcloak audit` checks.

    Of a series (`tripcloak series`) every release is checked, and that all are in its zones.

    Exits 1 when the release was touched or is broken, or is not signed by the key that was given.

    [bold]Examples[/bold]

      tripcloak check release

      tripcloak check downloads/flows-2024 --html check.html

      tripcloak check release --key publisher.pub --json

      tripcloak check june/release --zones-from may/release
    """
    from tripcloak.flows.release.keeping import periods_of
    from tripcloak.ground.keys import read_public_key
    from tripcloak.receiving.check import check_release

    if periods_of(release):
        if key is not None or html is not None or zones_from is not None:
            raise InputError(f"{release} holds a series; check its releases one by one with these options")
        _check_series(release, json=json)
        return
    public = None if key is None else read_public_key(key)
    with progress_on_stderr() as progress:
        found = check_release(release, key=public, earlier=zones_from, progress=progress)
    if html is not None:
        _write(html, found, force=force)
    if json:
        print_json(found.to_dict())
    else:
        _show(found)
    if not found.untouched:
        raise typer.Exit(1)


def _check_series(folder: Path, *, json: bool) -> None:
    """Check every release of a series, and the files that they share."""
    from tripcloak.receiving.page import STATES
    from tripcloak.receiving.series import check_series

    with progress_on_stderr() as progress:
        found = check_series(folder, progress=progress)
    rows = [(one.rule, STATES[one.state], one.words) for one in found.findings]
    if json:
        print_json(found.to_dict())
    else:
        show(
            found.sentence(),
            "",
            table(f"Check of {folder}", ("rule or period", "", "what was found"), rows, numbers=False),
        )
    if not found.untouched:
        raise typer.Exit(1)


def _write(path: Path, found: "ReleaseCheck", *, force: bool) -> None:
    from tripcloak.ground.folders import write_page
    from tripcloak.receiving.page import check_page

    write_page(path, check_page(found), force=force)


def _show(found: "ReleaseCheck") -> None:
    from tripcloak.receiving.page import STATES

    show(found.sentence())
    for heading, sentences in found.sections():
        show("", heading, *(f"  {words}" for words in sentences))
    rows = [(one.rule, STATES[one.state], one.words) for one in found.findings]
    show("", table(f"Check of {found.folder}", ("rule", "", "what was found"), rows, numbers=False))
    broken = [one for one in found.findings if not one.ok]
    if broken:
        show("Broken:", *(f"  {one.rule}: {one.words}" for one in broken), found.sentence())
