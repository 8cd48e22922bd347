"""tripcloak trajectories attack."""

import re
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tripcloak.cli.options import Given, Inputs, Json, takes
from tripcloak.cli.screen import print_json, progress_on_stderr, show, table
from tripcloak.ground.errors import InputError
from tripcloak.trajectories.keywords import keywords, trajectory_source

if TYPE_CHECKING:
    from tripcloak.trajectories.attacking import AttackRow

ATTACKER = "What the attacker knows"


@takes(lambda: keywords("attack"))
def command(
    given: Given,
    inputs: Inputs,
    release: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="A release made of INPUT, which is then read as it was for that."),
    ] = None,
    kind: Annotated[
        str,
        typer.Option(
            metavar="NAMES",
            help="points, window, places, home-work, location, location-sequence, location-time, "
            "unique-location, location-frequency, location-probability, location-proportion, owner, or all.",
            rich_help_panel=ATTACKER,
        ),
    ] = "points",
    known: Annotated[
        str | None,
        typer.Option(
            "--known",
            "--points",
            metavar="N,N|N..N",
            help="How many samples, places or hours: 4, or 1,2,4, or 1..10; the attack's own if not given "
            "(owner: all).",
            rich_help_panel=ATTACKER,
        ),
    ] = None,
    tolerance: Annotated[
        float,
        typer.Option(
            metavar="SHARE", help="By which numbers of visits may differ.", rich_help_panel=ATTACKER
        ),
    ] = 0.0,
    precision: Annotated[
        str,
        typer.Option(
            metavar="UNIT", help="location-time: times to the hour, day, ...", rich_help_panel=ATTACKER
        ),
    ] = "hour",
    people: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Attack so many people, drawn at random.")
    ] = None,
    draw: Annotated[int, typer.Option(metavar="SEED", help="The same seed draws the same knowledge.")] = 0,
    json: Json = False,
) -> None:
    """Try to find people by what somebody may know of them, before and after a release.

    Shares of people: found for certain, hidden among fewer than 5, and the mean chance of a guess.

    owner asks which of the released trajectories that fit is the person's own, by simple guesses.

    The numbers look at unreleased data: keep them inside.

    [bold]Examples[/bold]

      tripcloak trajectories attack calls.parquet --kind points --known 1..10

      tripcloak trajectories attack calls.parquet --release out --kind points,home-work --json

      tripcloak trajectories attack calls.parquet --release out --kind all --people 1000

      tripcloak trajectories attack calls.parquet --release out --kind owner
    """
    from tripcloak.trajectories.attacking import AttackPlan, all_or_some, attack_trajectories

    plan = AttackPlan(
        kinds=all_or_some([name.strip() for name in kind.split(",")], released=release is not None),
        known=whole_numbers(known),
        tolerance=tolerance,
        precision=precision,
        people=people,
        seed=draw,
    )
    source = trajectory_source(inputs, given)
    with progress_on_stderr() as progress:
        rows = attack_trajectories(source, plan, release=release, memory=given["memory"], progress=progress)
    if json:
        print_json({"attacks": [asdict(row) for row in rows]})
    else:
        _show(rows)


def whole_numbers(text: str | None) -> tuple[int, ...]:
    """Return the numbers of a list or a range; none where nothing was given.

    >>> whole_numbers("1,2,4"), whole_numbers("1..3"), whole_numbers(None)
    ((1, 2, 4), (1, 2, 3), ())
    """
    if text is None:
        return ()
    if match := re.fullmatch(r"\s*(\d{1,4})\s*\.\.\s*(\d{1,4})\s*", text):
        return tuple(range(int(match[1]), int(match[2]) + 1))
    if re.fullmatch(r"\s*\d{1,4}\s*(,\s*\d{1,4}\s*)*", text):
        return tuple(int(part) for part in text.split(","))
    raise InputError(f"--known takes whole numbers such as 4, 1,2,4 or 1..10; got {text!r}")


def _show(rows: "tuple[AttackRow, ...]") -> None:
    lines = [(row.kind, _known(row), *_found(row)) for row in rows]
    show(table("What attackers find", ("attack", "known", "found", "among fewer than 5", "mean risk"), lines))
    if any(row.after is not None for row in rows):
        show("Left of the arrow: among the original trajectories; right of it: among the released ones.")
    for row in rows:
        if row.after is not None and "named" in row.after:
            _show_guesses(row, row.after["named"])


def _known(row: "AttackRow") -> str:
    return f"{'all' if row.knowledge is None else row.knowledge} {row.unit}"


def _show_guesses(row: "AttackRow", named: dict[str, float]) -> None:
    best = max((name for name in named if name != "blind"), key=lambda name: named[name])
    of_whom = f"{row.kind}, {_known(row)} known"
    show(f"{of_whom}: a blind guess among those that fit names {named['blind']:.1%} of people.")
    show(f"{of_whom}: the best simple guess ({best}) names {named[best]:.1%} of people.")


def _found(row: "AttackRow") -> list[str]:
    before, after = (None if found is None else _shares(found) for found in (row.before, row.after))
    if before is None or after is None:
        return before or [f"→ {share}" for share in after or ()]
    return [f"{one} → {other}" for one, other in zip(before, after, strict=True)]


def _shares(found: dict[str, Any]) -> list[str]:
    return [f"{found['unique']:.1%}", f"{found['fewer_than']['5']:.1%}", f"{found['mean_risk']:.3f}"]
