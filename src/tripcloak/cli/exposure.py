"""tripcloak exposure."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tripcloak.cli.options import Given, Json, takes_input
from tripcloak.cli.protection import criterion
from tripcloak.cli.screen import number, print_json, progress_on_stderr, show, table
from tripcloak.errors import InputError

if TYPE_CHECKING:
    from tripcloak.matrix import ODMatrix
    from tripcloak.workflow.exposure import Exposure, Thresholds

MEASURES = ("G", "C_AVG", "GDM_mean")


@takes_input
def command(
    given: Given,
    methods: Annotated[
        str, typer.Option(metavar="A,B", help="Methods to look at; see `tripcloak methods`.")
    ] = "twincut,odkanon,oigh,mondrian",
    k: Annotated[float, typer.Option("--k", metavar="K", help="Participants in a released flow.")] = 10,
    unit: Annotated[
        str | None,
        typer.Option(metavar="UNIT", help="What a participant is: travellers (if told apart) or trips."),
    ] = None,
    k_population: Annotated[
        str,
        typer.Option(metavar="N", help="Population in a released flow, or auto: k times the mean weight."),
    ] = "auto",
    suppress: Annotated[
        float, typer.Option(metavar="SHARE", help="Share of the volume that may be withheld.")
    ] = 0.1,
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="Folder for the tables, if wanted.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace tables that are already there.")] = False,
    json: Json = False,
) -> None:
    """Tell who is left exposed when participants, the population they stand for, or both are protected.

    For every target: the smallest number reached on either side, how many flows fall below, how far, and
    all measures on both sides. For the data owner; not for publication.

    [bold]Example[/bold]

      tripcloak exposure survey.parquet --k 10 --k-population auto --methods odkanon,twincut
    """
    from tripcloak.algorithms import method
    from tripcloak.workflow.exposure import cross_exposure
    from tripcloak.workflow.exposure_files import write_exposures
    from tripcloak.workflow.reading import read_matrix

    if unit not in (None, "travellers", "trips"):
        raise InputError(f"--unit says what a participant is: travellers or trips; got {unit!r}")
    chosen = [method(name.strip())(suppression_limit=suppress) for name in methods.split(",")]
    with progress_on_stderr() as progress:
        matrix = read_matrix(given.source, given.place, memory=given.memory, progress=progress).trips.matrix
        thresholds = _thresholds(matrix, k, unit, k_population)
        exposures = cross_exposure(matrix, chosen, thresholds, progress=progress)
    facts = {
        "thresholds": {thresholds.unit: thresholds.k, "population": thresholds.population},
        "exposures": [one.to_dict() for one in exposures],
    }
    if out is not None:
        write_exposures(out, facts, force=force)
    if json:
        print_json(facts)
    else:
        _show(exposures, thresholds)
    if all(one.failure is not None for one in exposures):
        raise typer.Exit(1)


def _thresholds(matrix: "ODMatrix", k: float, unit: str | None, k_population: str) -> "Thresholds":
    from tripcloak.workflow.exposure import Thresholds

    population = criterion(k, "population", k_population=k_population).resolve(matrix).thresholds
    ((counted, people),) = criterion(k, unit).resolve(matrix).thresholds.items()
    return Thresholds(k=people, unit=counted, population=population["population"])


def _show(exposures: "list[Exposure]", thresholds: "Thresholds") -> None:
    needs = f"{number(thresholds.k)} {thresholds.unit}, {number(thresholds.population)} population"
    columns = ("method", "target", "flows", thresholds.unit, "below", "population", "below")
    show(table(f"Smallest released flows (safe is: {needs})", columns, [_sides(one) for one in exposures]))
    rows = [
        (one.method, one.target, *(_both(one, name) for name in MEASURES)) for one in exposures if one.metrics
    ]
    show(table("Measured on participants / on the population", ("method", "target", *MEASURES), rows))
    for one in exposures:
        if one.failure is not None:
            show(f"{one.method}, protecting {one.target}: {one.failure}")


def _sides(one: "Exposure") -> tuple[str, ...]:
    if one.participants is None or one.population is None:
        return (one.method, one.target, *("-",) * 5)
    sides: list[str] = []
    for side in (one.participants, one.population):
        short = f"{side.below:,} (-{side.furthest:.0%})" if side.below else "0"
        sides += [f"{side.smallest:,.0f}", short]
    return (one.method, one.target, number(one.groups), *sides)


def _both(one: "Exposure", name: str) -> str:
    return " / ".join(_measure(one.metrics[side][name]) for side in ("participants", "population"))


def _measure(value: float | None) -> str:
    if value is None:
        return "-"
    if abs(value) >= 1e6:
        return f"{value:.1e}"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
