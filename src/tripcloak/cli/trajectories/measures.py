"""tripcloak trajectories measures."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from tripcloak.cli.options import Json, Memory
from tripcloak.cli.screen import number, print_json, progress_on_stderr, show, table

SPREAD = ("mean", "q05", "median", "q95")


def command(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A folder written by anonymise.")],
    against: Annotated[
        list[str], typer.Option(metavar="INPUT", help="The raw input (repeatable; files, globs, folders).")
    ],
    memory: Memory = None,
    json: Json = False,
) -> None:
    """Measure what a release of trajectories is still good for, against the raw input.

    The numbers look at unreleased data: keep them inside.

    [bold]Example[/bold]

      tripcloak trajectories measures out --against calls.parquet --json
    """
    from tripcloak.trajectories.checking import measure_trajectories_against

    with progress_on_stderr() as progress:
        measures = measure_trajectories_against(folder, tuple(against), memory=memory, progress=progress)
    if json:
        print_json({"measures": measures, "metrics": measures})
    else:
        found = list(_flat(measures))
        spread = [
            (name, *(number(value[part]) for part in SPREAD)) for name, value in found if _is_spread(value)
        ]
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
