"""tripcloak score."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tripcloak.cli.options import Against, Json, Memory
from tripcloak.cli.screen import number, print_json, progress_on_stderr, show, table
from tripcloak.ground.errors import InputError

if TYPE_CHECKING:
    from tripcloak.analysis.scoring import ContestScores


def root() -> None:
    """Score a release on the scale of other people.

    [bold]Example[/bold]

      tripcloak score nist out --against trips.parquet
    """


def nist(
    made: Annotated[
        str, typer.Argument(metavar="MADE", help="A release folder, or a table in the contest's schema.")
    ],
    against: Against,
    areas: Annotated[
        str, typer.Option(metavar="TILES", help="Of a release: the tiles that stand for areas.")
    ] = "h3:7",
    subsamples: Annotated[
        str, typer.Option(metavar="PERCENT,...", help="Subsamples of true individuals to score beside it.")
    ] = "10,40,70",
    memory: Memory = None,
    json: Json = False,
) -> None:
    """Score a release, or synthetic trips, as NIST's temporal map challenge did (sprint 3, Chicago taxis).

    1000 is the truth itself. The contest's three winners had 782, 769 and 767, on data of its own.

    The numbers look at unreleased data: keep them inside.

    [bold]Examples[/bold]

      tripcloak score nist out --against trips.parquet

      tripcloak score nist synthetic.csv --against ground_truth.csv --subsamples 40 --json
    """
    from tripcloak.analysis.scoring import score_release, score_tables

    shares, folder = _percentages(subsamples), Path(made).expanduser()
    with progress_on_stderr() as progress:
        if folder.is_dir():
            found = score_release(
                folder, tuple(against), areas=areas, subsamples=shares, memory=memory, progress=progress
            )
        else:
            found = score_tables((made,), tuple(against), subsamples=shares, memory=memory, progress=progress)
    if json:
        print_json(found.to_dict())
    else:
        _show(found, made)


def _percentages(text: str) -> list[float]:
    try:
        return [float(part) for part in text.replace("%", "").split(",") if part.strip()]
    except ValueError:
        raise InputError(f"--subsamples are percentages such as 10,40,70; got {text!r}") from None


def _show(found: "ContestScores", made: str) -> None:
    rows = [
        (
            row.name,
            f"{row.found.score:.1f}",
            f"{row.found.k_marginal:.4f}",
            f"{row.found.graph:.4f}",
            f"{row.found.conjunctions:.4f}",
            number(row.found.penalised),
            number(row.found.records),
        )
        for row in found.rows
    ]
    columns = ("", "score", "k-marginal", "graph", "conjunctions", "penalised", "records")
    show(table(f"NIST score of {made}", columns, rows))
    show(f"The truth has {found.records:,} records of {found.individuals:,} individuals.")
    for note in found.notes:
        show(f"Note: {note}.")
