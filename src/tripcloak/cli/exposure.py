"""tripcloak exposure."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tripcloak.cli.options import Json, TripInput, takes_input
from tripcloak.cli.screen import number, print_json, progress_on_stderr, show, table
from tripcloak.flows.protection import asked_promise
from tripcloak.ground.errors import InputError

if TYPE_CHECKING:
    from tripcloak.fairness.exposure import Exposure, Thresholds
    from tripcloak.flows.methods import FlowMethod
    from tripcloak.flows.model import ODMatrix


@takes_input
def command(
    given: TripInput,
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
    levels: Annotated[int | None, typer.Option(help="odkanon: heights its filter looks up.")] = None,
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
    from tripcloak.fairness.exposure import cross_exposure, refuse_taken, write_exposures
    from tripcloak.flows.reading.matrix import read_matrix

    if unit not in (None, "travellers", "trips"):
        raise InputError(f"--unit says what a participant is: travellers or trips; got {unit!r}")
    asked_promise(k, "population", k_population=k_population)
    chosen = _methods(methods, suppress, levels)
    if out is not None:
        refuse_taken(out, force=force)
    with progress_on_stderr() as progress:
        matrix = read_matrix(given.source, given.zoning, memory=given.memory, progress=progress).trips.matrix
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


def _methods(names: str, suppress: float, levels: int | None) -> "list[FlowMethod]":
    from tripcloak.flows.methods import find_method

    chosen = [find_method(name) for name in dict.fromkeys(name.strip() for name in names.split(","))]
    noisy = [one.name for one in chosen if one.noisy]
    if noisy:
        raise InputError(f"{', '.join(noisy)}: noise knows no k; name methods of k-anonymity (--methods)")
    own: dict[str, Any] = {} if levels is None else {"levels": levels}
    made = [
        one(suppression_limit=suppress, **(own if "levels" in one.__dataclass_fields__ else {}))
        for one in chosen
    ]
    if own and not any("levels" in one.__dataclass_fields__ for one in chosen):
        raise InputError("--levels is an option of odkanon, which is not among --methods")
    return made


def _thresholds(matrix: "ODMatrix", k: float, unit: str | None, k_population: str) -> "Thresholds":
    from tripcloak.fairness.exposure import Thresholds

    population = asked_promise(k, "population", k_population=k_population).resolve(matrix).thresholds
    ((counted, people),) = asked_promise(k, unit).resolve(matrix).thresholds.items()
    return Thresholds(k=people, unit=counted, population=population["population"])


def _show(exposures: "list[Exposure]", thresholds: "Thresholds") -> None:
    from tripcloak.fairness.exposure import MEASURES

    needs = f"{number(thresholds.k)} {thresholds.unit} or {number(thresholds.population)} population"
    columns = ("method", "protecting", "flows", f"fewest {thresholds.unit}", "least population")
    show(table(f"Who is exposed: flows below {needs}", columns, [_sides(one) for one in exposures]))
    for side in ("participants", "population"):
        rows = [
            (one.method, one.target, *(_measure(one.measures[side][name]) for name in MEASURES))
            for one in exposures
            if one.measures
        ]
        if rows:
            show(table(f"Measured on the {side}", ("method", "protecting", *MEASURES), rows))
    for one in exposures:
        if one.failure is not None:
            show(f"{one.method}, protecting {one.target}: {one.failure}")
    show("Computed from data that is not released: not for publication.")


def _sides(one: "Exposure") -> tuple[str, ...]:
    if one.participants is None or one.population is None:
        return (one.method, one.target, *("-",) * 3)
    sides = [
        f"{side.smallest:,.0f}" + (f" ({side.below:,} below, -{side.furthest:.0%})" if side.below else "")
        for side in (one.participants, one.population)
    ]
    return (one.method, one.target, number(one.groups), *sides)


def _measure(value: float | None) -> str:
    if value is None:
        return "-"
    if abs(value) >= 1e6:
        return f"{value:.1e}"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
