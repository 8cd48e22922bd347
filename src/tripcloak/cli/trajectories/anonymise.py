"""tripcloak trajectories anonymise."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tripcloak.cli.options import Force, Given, Inputs, Json, takes
from tripcloak.cli.screen import cleaning_rows, number, print_json, progress_on_stderr, show, table
from tripcloak.ground.masking import mask_small
from tripcloak.trajectories.keywords import keywords, trajectory_method, trajectory_source

if TYPE_CHECKING:
    from tripcloak.trajectories.anonymise import TrajectoryOutcome


@takes(lambda: keywords("anonymise"))
def command(
    given: Given,
    inputs: Inputs,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder for the release.")],
    force: Force = False,
    json: Json = False,
) -> None:
    """Make a k-anonymous release of trajectories, check it, and write it to a folder.

    Each sample becomes a box in space and time.

    With k-scale and glove, all samples of a person are in k released trajectories or more.

    w4m and nwa promise less, and say so.

    DIR/release may be published; DIR/private must stay inside.

    [bold]Examples[/bold]

      tripcloak trajectories anonymise calls.parquet --k 5 --out out

      tripcloak trajectories anonymise checkins.csv --preset foursquare --method k-scale --out out --json

      tripcloak trajectories anonymise calls.parquet --method w4m --k 2 --delta 2000 --trash 0.1 --out out
    """
    from tripcloak.trajectories.anonymise import TrajectoryRequest, anonymise_trajectories

    request = TrajectoryRequest(
        source=trajectory_source(inputs, given),
        method=trajectory_method(given),
        out=out,
        memory=given["memory"],
        force=force,
        formats=given["formats"],
    )
    with progress_on_stderr() as progress:
        outcome = anonymise_trajectories(request, progress)
    if json:
        print_json(outcome.to_dict())
    else:
        _show(outcome)


def _show(outcome: "TrajectoryOutcome") -> None:
    release, grid = outcome.release, outcome.release.grid
    rows = [
        *cleaning_rows(outcome.reading.cleaning),
        ("people who lost samples in that", mask_small(outcome.reading.cleaning.lacking or 0, zero=True)),
        ("people", number(outcome.trajectories.n_users)),
        ("samples", number(outcome.trajectories.n_samples)),
        ("a sample lasts and spans", f"{grid.seconds} s, {grid.metres} m"),
        ("protected", release.promise.sentence()),
        ("released trajectories", number(release.n_released)),
        ("released samples", number(release.n_boxes)),
        *_measures(outcome.measures),
        ("samples created", number(int(release.created.sum()))),
        ("samples deleted", number(int(release.deleted.sum()))),
        ("audit", release.promise.judgement(number(outcome.audit.smallest_support))),
        ("seconds", ", ".join(f"{what} {spent:.1f}" for what, spent in outcome.seconds.items())),
    ]
    show(table(f"{release.method} on trajectories", ("", "value"), rows))
    for note in outcome.notes:
        show(f"Note: {note}")
    show(f"Publish {outcome.out / 'release'} (open map.html); keep {outcome.out / 'private'} inside.")


def _measures(measures: dict[str, Any]) -> list[tuple[str, str]]:
    return [
        ("space error, mean km", number(measures["spatial_error_km"]["mean"])),
        ("time error, mean minutes", number(measures["time_error_minutes"]["mean"])),
        ("released area, median km2", number(measures["area_km2"]["median"])),
        ("released duration, median minutes", number(measures["duration_minutes"]["median"])),
    ]
