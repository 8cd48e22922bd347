"""tripcloak difference."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tripcloak.cli.options import Json, Memory
from tripcloak.cli.screen import print_json, progress_on_stderr, show, table
from tripcloak.ground.errors import InputError
from tripcloak.ground.manifest import read_manifest
from tripcloak.ground.options import Option, share

if TYPE_CHECKING:
    from tripcloak.ledger.difference import Difference
    from tripcloak.trajectories.linking import LinkedReleases

RISK = Option(name="risk", help="Share of people who may be matched first.")
SHOWN = 5
"""Facts that are shown with all their numbers; JSON has every one."""

Releases = Annotated[
    list[Path],
    typer.Argument(metavar="RELEASE...", help="Two folders written by anonymise, or more; or public parts."),
]
Against = Annotated[
    list[str] | None,
    typer.Option(
        metavar="INPUT", help="Where the raw input of all of them lies now, if not where each was read from."
    ),
]
K = Annotated[
    int | None,
    typer.Option("--k", metavar="K", help="Look for facts about fewer people; the smallest k promised."),
]


Public = Annotated[
    bool,
    typer.Option(
        "--public", metavar="", help="Look at the public parts alone, as readers can: no raw data is needed."
    ),
]


Risk = Annotated[
    str | None,
    typer.Option(
        metavar="SHARE",
        help="Of trajectories: exit 1 where more people than this share are matched first, such as 5%.",
    ),
]


def command(
    releases: Releases,
    against: Against = None,
    public: Public = False,
    k: K = None,
    risk: Risk = None,
    memory: Memory = None,
    json: Json = False,
) -> None:
    """Attack several releases of the same people: what follows by adding and subtracting their numbers.

    Each release may be safe and all together still tell of single people: one made again after somebody was
    erased, one a day longer, one by a smaller k, one of women beside one of all. Every fact comes with the
    published numbers that give it away, and with how many people it is about; never with whom.

    Needs the private parts, and reads the raw input again. Exits 1 when facts are found, or when not all
    that could follow was looked at. With public parts alone it does what a reader can: zones are compared
    by their outlines, and what is proven is told apart from what is likely.

    Of two releases of trajectories it guesses whose trajectory of the one is whose of the other, and tells
    how often that is right: a measured risk.

    [bold]Examples[/bold]

      tripcloak difference may june

      tripcloak difference all women men --json

      tripcloak difference out-2024 out-2024-without-erased --against trips.parquet

      tripcloak difference may/release june/release

      tripcloak difference week-1 week-2 --risk 5%
    """
    if _of_trajectories(releases, against, public, k, risk):
        _link(releases, None if risk is None else share(RISK, risk), json=json)
        return
    from tripcloak.ledger.difference import difference
    from tripcloak.ledger.reader import public_alone, public_difference

    with progress_on_stderr() as progress:
        if public or (not against and public_alone(releases)):
            found: Difference = public_difference(releases, k=k, progress=progress)
        else:
            found = difference(releases, inputs=tuple(against or ()), k=k, memory=memory, progress=progress)
    if json:
        print_json(found.to_dict())
    else:
        show_difference(found)
    if not found.safe:
        raise typer.Exit(1)


def _of_trajectories(
    releases: list[Path], against: list[str] | None, public: bool, k: int | None, risk: str | None
) -> bool:
    """Return whether releases of trajectories are compared, and not flows; an error where both are given."""
    kinds = {read_manifest(folder).get("kind") for folder in releases}
    if len(kinds) > 1:
        raise InputError("releases of flows and of trajectories cannot be compared: give one kind")
    if kinds == {"trajectories"}:
        if len(releases) != 2:
            raise InputError("people of two releases of trajectories are linked: give two folders")
        if against or public or k is not None:
            raise InputError(
                "releases of trajectories are linked by their samples, and the private parts say what is "
                "right: leave out --against, --public and --k"
            )
        return True
    if risk is not None:
        raise InputError("--risk is about people linked between releases of trajectories; leave it out")
    return False


def _link(releases: list[Path], risk: float | None, *, json: bool) -> None:
    """Print how well the people of two releases of trajectories are linked; exit 1 above the risk."""
    from tripcloak.trajectories.linking import link_releases

    with progress_on_stderr() as progress:
        found = link_releases(releases[0], releases[1], progress=progress)
    if json:
        print_json(found.to_dict() | ({} if risk is None else {"limit": risk, "within": found.risk <= risk}))
    else:
        show(found.words(), "", table("Rank of the right trajectory", ("", *found.names), _ranks(found)))
        if risk is not None and found.risk > risk:
            show("", f"That is more than {risk:.1%}: do not publish both, but all at once.")
    if risk is not None and found.risk > risk:
        raise typer.Exit(1)


def _ranks(found: "LinkedReleases") -> list[tuple[str, ...]]:
    """Return the rows of a table: how far from the top right trajectories are."""
    told = [links.summary() for links in found.ways]
    rows = []
    for n in told[0]["within"]:
        shares = [one["within"].get(n) for one in told]
        name = "first" if n == "1" else f"among the first {n}"
        rows.append((name, *("-" if share is None else f"{share:.1%}" for share in shares)))
    rows.append(("first, by chance", *(f"{one['chance']:.2%}" for one in told)))
    middle = (f"{one['rank']['50%']:,.0f} of {one['candidates']:,}" for one in told)
    return [*rows, ("rank, half of the people", *middle)]


def show_difference(found: "Difference") -> None:
    """Print the verdict, where facts come from, and some of them with their numbers."""
    from tripcloak.ledger.facts import IN_WORDS

    show(found.words(), *filter(None, [found.left_out()]))
    if not len(found.facts):
        return
    kinds = [(IN_WORDS[kind], f"{n:,}") for kind, n in found.facts.by_kind().items() if n]
    show("", table("What follows", ("fact", "found"), kinds))
    rows = [(names, f"{n:,}", f"{people:,}") for names, n, people in found.between()]
    show("", table("From which releases", ("releases", "facts", "people in the largest"), rows))
    show("", "Some of them, with the numbers that give them away:")
    for fact in found.facts.found[:SHOWN]:
        show(f"  {found.certificate(fact)}, of {found.about(fact)}")
    if len(found.facts) > SHOWN:
        show(f"  and {len(found.facts) - SHOWN:,} more (--json has all)")
    show(
        "",
        "Do not publish these together. Keep the zones of the first release (--zones-from), or let a ledger "
        "find a release that adds no fact (tripcloak anonymise --ledger DIR).",
    )
