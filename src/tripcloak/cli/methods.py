"""tripcloak methods."""

from dataclasses import fields

from tripcloak.cli.options import Json
from tripcloak.cli.screen import print_json, show, table


def command(json: Json = False) -> None:
    """List the methods, where they come from, and their own parameters."""
    from tripcloak.algorithms import METHODS, Algorithm

    shared = {f.name for f in fields(Algorithm)}
    listed = [
        {
            "method": name,
            "summary": method.summary,
            "source": method.source,
            "parameters": {f.name: f.default for f in fields(method) if f.name not in shared},
        }
        for name, method in METHODS.items()
    ]
    if json:
        print_json({"methods": listed})
        return
    for entry in listed:
        own = [(name, str(default)) for name, default in entry["parameters"].items()]  # type: ignore[attr-defined]
        show(
            table(f"{entry['method']}: {entry['summary']} ({entry['source']})", ("parameter", "default"), own)
        )
