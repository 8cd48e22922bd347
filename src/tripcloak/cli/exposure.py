"""tripcloak exposure."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tripcloak.cli.options import Force, Given, Inputs, Json, takes
from tripcloak.cli.screen import number, print_json, progress_on_stderr, show, table
from tripcloak.flows.keywords import keywords, zoning
from tripcloak.flows.methods.registry import METHODS, find_method
from tripcloak.flows.protection import asked_promise
from tripcloak.ground.errors import InputError
from tripcloak.records.keywords import trip_source

if TYPE_CHECKING:
    from tripcloak.fairness.exposure import Exposure, Thresholds
    from tripcloak.flows.methods import FlowMethod
    from tripcloak.flows.model import ODMatrix


@takes(lambda: keywords("exposure"))
def command(
    given: Given,
    inputs: Inputs,
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="Folder for the tables, if wanted.")] = None,
    force: Force = False,
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

    k, unit, k_population = given["k"], given["unit"], given["k_population"]
    if unit not in (None, "travellers", "trips"):
        raise InputError(f"--unit says what a participant is: travellers or trips; got {unit!r}")
    asked_promise(k, "population", k_population=k_population)
    source, zones, chosen = trip_source(inputs, given), zoning(given), _methods(given)
    if out is not None:
        refuse_taken(out, force=force)
    with progress_on_stderr() as progress:
        matrix = read_matrix(source, zones, memory=given["memory"], progress=progress).trips.matrix
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
        _show(exposures, thresholds, matrix.id_is)
    if all(one.failure is not None for one in exposures):
        raise typer.Exit(1)


def _methods(given: Given) -> "list[FlowMethod]":
    kinds = {name: find_method(name) for name in given["methods"]}
    noisy = [name for name, kind in kinds.items() if kind.noisy]
    if noisy:
        raise InputError(f"{', '.join(noisy)}: noise knows no k; name methods of k-anonymity (--methods)")
    own = METHODS.own_of_each(kinds, METHODS.asked(given))
    return [kind(suppression_limit=given["suppress"], **own[name]) for name, kind in kinds.items()]


def _thresholds(matrix: "ODMatrix", k: float, unit: str | None, k_population: str) -> "Thresholds":
    from tripcloak.fairness.exposure import Thresholds

    population = asked_promise(k, "population", k_population=k_population).resolve(matrix).thresholds
    ((counted, people),) = asked_promise(k, unit).resolve(matrix).thresholds.items()
    return Thresholds(k=people, unit=counted, population=population["population"])


def _show(exposures: "list[Exposure]", thresholds: "Thresholds", id_is: str) -> None:
    from tripcloak.fairness.exposure import MEASURES
    from tripcloak.promises.counted import called_in_words

    counted = called_in_words(thresholds.unit, id_is)
    needs = f"{number(thresholds.k)} {counted} or {number(thresholds.population)} population"
    columns = ("method", "protecting", "flows", f"fewest {counted}", "least population")
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
