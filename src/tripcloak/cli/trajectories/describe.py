"""tripcloak trajectories describe."""

from collections.abc import Mapping
from typing import Any

from tripcloak.cli.options import Given, Inputs, Json, takes
from tripcloak.cli.screen import cleaning_rows, number, print_json, progress_on_stderr, show, table
from tripcloak.trajectories.keywords import keywords, trajectory_source

QUANTILES = {
    "samples_per_user": "samples of a person",
    "gap_minutes": "minutes from one sample to the next",
    "radius_of_gyration_km": "radius of gyration, km",
}


@takes(lambda: keywords("describe"))
def command(given: Given, inputs: Inputs, json: Json = False) -> None:
    """Tell what is in a table of fixes or check-ins: people, samples, resolution, and what was dropped.

    The numbers look at unreleased data: keep them inside.

    [bold]Examples[/bold]

      tripcloak trajectories describe calls.parquet

      tripcloak trajectories describe checkins.csv --preset foursquare --json
    """
    from tripcloak.trajectories.reading.reading import describe_fixes

    source = trajectory_source(inputs, given)
    with progress_on_stderr() as progress:
        found = describe_fixes(source, memory=given["memory"], progress=progress)
    if json:
        print_json(found.to_dict())
        return
    show(table("What is in it", ("", "value"), [*cleaning_rows(found.cleaning), *_rows(found.facts)]))
    spread = {words: found.facts[name] for name, words in QUANTILES.items() if found.facts[name]}
    if spread:
        shares = tuple(next(iter(spread.values())))
        rows = [(words, *(number(values[share]) for share in shares)) for words, values in spread.items()]
        show(table("How it is spread", ("", *shares), rows))
    for note in found.notes:
        show(f"Note: {note}")


def _rows(facts: Mapping[str, Any]) -> list[tuple[str, str]]:
    sample, period, extent = facts["resolution"], facts["period"], facts["extent_km"]
    rows = [("people", number(facts["users"])), ("samples", number(facts["samples"]))]
    rows += [
        ("a sample lasts", f"{sample['seconds']} s"),
        ("a sample is wide and high", f"{sample['metres']} m"),
    ]
    rows += [] if period is None else [("from, to", ", ".join(period))]
    return rows + ([] if extent is None else [("extent, km", " x ".join(number(side) for side in extent))])
