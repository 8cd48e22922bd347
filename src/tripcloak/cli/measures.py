"""tripcloak measures, of flows and of trajectories; metrics is another name of it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tripcloak.cli.options import (
    Against,
    Folder,
    Given,
    Json,
    holds_trajectories,
    refuse_options_of_flows,
    takes,
)
from tripcloak.cli.screen import number, print_json, progress_on_stderr, show, table
from tripcloak.flows.keywords import keywords
from tripcloak.trajectories.keywords import keywords as trajectory_keywords

SPREAD = ("mean", "q05", "median", "q95")


@takes(lambda: keywords("measures"))
def command(given: Given, folder: Folder, against: Against, json: Json = False) -> None:
    """Measure what a release is still good for, against the raw input.

    DIR holds a release of flows or of trajectories; its manifest says which.

    The numbers look at unreleased data: keep them inside.

    [bold]Examples[/bold]

      tripcloak measures out --against trips.parquet

      tripcloak measures out --against calls.parquet --json
    """
    _measure(given, folder, against, json=json)


@takes(lambda: keywords("measures"))
def metrics(given: Given, folder: Folder, against: Against, json: Json = False) -> None:
    """Another name of measures.

    The numbers look at unreleased data: keep them inside.

    [bold]Example[/bold]

      tripcloak metrics out --against trips.parquet --json
    """
    _measure(given, folder, against, json=json)


@takes(lambda: trajectory_keywords("measures"))
def of_trajectories(given: Given, folder: Folder, against: Against, json: Json = False) -> None:
    """Measure what a release of trajectories is still good for, as `tripcloak measures` does.

    The numbers look at unreleased data: keep them inside.

    [bold]Example[/bold]

      tripcloak trajectories measures out --against calls.parquet --json
    """
    _measure_trajectories(given, folder, against, json=json)


def _measure(given: Given, folder: Path, against: list[str], *, json: bool) -> None:
    if holds_trajectories(folder):
        refuse_options_of_flows(folder, given, trajectory_keywords("measures"))
        _measure_trajectories(given, folder, against, json=json)
        return
    from tripcloak.flows.checking import measure_against

    with progress_on_stderr() as progress:
        measures = measure_against(
            folder, tuple(against), volume=given["volume"], memory=given["memory"], progress=progress
        )
    if json:
        print_json({"measures": measures, "metrics": measures})
    else:
        rows = [(name, number(value)) for name, value in measures.items()]
        show(table(f"Measures of {folder}", ("measure", "value"), rows))


def _measure_trajectories(given: Given, folder: Path, against: list[str], *, json: bool) -> None:
    from tripcloak.trajectories.checking import measure_trajectories_against

    with progress_on_stderr() as progress:
        measures = measure_trajectories_against(
            folder, tuple(against), memory=given["memory"], progress=progress
        )
    if json:
        print_json({"measures": measures, "metrics": measures})
        return
    found = list(_flat(measures))
    spread = [(name, *(number(value[part]) for part in SPREAD)) for name, value in found if _is_spread(value)]
    show(table(f"Measures of {folder}", ("measure", *SPREAD), spread))
    rest = [(name, _told(value)) for name, value in found if not _is_spread(value)]
    show(table("Further measures", ("measure", "value"), rest))


def _flat(measures: dict[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    """Give measures within measures by their path; how values are spread counts as one."""
    for name, value in measures.items():
        if isinstance(value, dict) and not _is_spread(value):
            yield from _flat(value, f"{above}{name} ")
        else:
            yield f"{above}{name}".replace("_", " "), value


def _is_spread(value: Any) -> bool:
    return isinstance(value, dict) and set(SPREAD) <= set(value)


def _told(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(_told, value))
    return number(value) if value is None or isinstance(value, (int, float)) else str(value)
