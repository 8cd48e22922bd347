"""tripcloak presets, tripcloak rules."""

from typing import Any

from tripcloak.cli.options import Json
from tripcloak.cli.screen import print_json, show, table


def command(json: Json = False) -> None:
    """List the public formats that are read as they are published, and what each becomes.

    Most files need no preset: columns are found by their usual names, and `tripcloak describe` says as what.

    [bold]Examples[/bold]

      tripcloak presets

      tripcloak describe yellow_tripdata_2024-01.parquet --preset nyc-tlc --zones taxi_zones.geojson
    """
    from tripcloak.records.presets import PRESETS
    from tripcloak.records.presets.listing import listed

    found = [listed(preset) for preset in PRESETS.values()]
    if json:
        print_json({"presets": found})
    else:
        _show(found)


def _show(found: list[dict[str, Any]]) -> None:
    rows = [(one["preset"], one["reads"], ", ".join(one["files"])) for one in found]
    show(table("Public formats (--preset)", ("preset", "what it reads", "files like"), rows, numbers=False))
    becomes = [
        (
            one["preset"],
            " or ".join(one["forms"]),
            one["id_is"] if "person" in one["columns"] else "no ids",
            ", ".join(f"{role} = {names[0]}" for role, names in one["columns"].items()),
        )
        for one in found
    ]
    heads = ("preset", "a row is", "an id is", "columns, by the first of their names")
    show(table("What each becomes", heads, becomes, numbers=False))
    zoned = [(one["preset"], one["zones"], ", ".join(one["zone_ids"])) for one in found if one["zones"]]
    show(table("Zones to give (--zones)", ("preset", "zones", "their ids"), zoned, numbers=False))


def rules(json: Json = False) -> None:
    """List the public rules that --rule knows: what each asks for, and where it comes from.

    A rule sets options, and no more; what else a release promises, and what not, does not depend on it.

    [bold]Examples[/bold]

      tripcloak rules

      tripcloak anonymise trips.parquet --rule cnil-10 --out out
    """
    from tripcloak.cli.rules import RULES, spelt_out

    if json:
        rows = [{"rule": name, **one._asdict(), "options": dict(one.options)} for name, one in RULES.items()]
        print_json({"rules": rows})
        return
    told = [(name, one.words, spelt_out(one.options)) for name, one in RULES.items()]
    show(table("Rules (--rule)", ("rule", "what it asks for", "as options"), told, numbers=False))
    for name, one in RULES.items():
        show(f"{name}: {one.source}\n  {one.address}")
