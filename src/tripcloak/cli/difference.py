"""tripcloak difference."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tripcloak.cli.options import Json, Memory
from tripcloak.cli.screen import print_json, progress_on_stderr, show, table

if TYPE_CHECKING:
    from tripcloak.ledger.difference import Difference

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
    typer.Option("--public", help="Look at the public parts alone, as readers can: no raw data is needed."),
]


def command(
    releases: Releases,
    against: Against = None,
    public: Public = False,
    k: K = None,
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

    [bold]Examples[/bold]

      tripcloak difference may june

      tripcloak difference all women men --json

      tripcloak difference out-2024 out-2024-without-erased --against trips.parquet

      tripcloak difference may/release june/release
    """
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
