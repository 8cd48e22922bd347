"""tripcloak trajectories methods."""

from dataclasses import fields
from typing import Any

from tripcloak.cli.options import Json
from tripcloak.cli.screen import print_json, show, table


def command(json: Json = False) -> None:
    """List the methods on trajectories, what each promises, and its own parameters.

    [bold]Example[/bold]

      tripcloak trajectories methods
    """
    listed = listed_methods()
    if json:
        print_json({"methods": listed})
    else:
        show_methods("Methods", listed)


def listed_methods() -> list[dict[str, Any]]:
    """Return every method on trajectories with its summary, source, promise and parameters."""
    from tripcloak.trajectories.methods.registry import TRAJECTORY_METHODS

    return [
        {
            "method": name,
            "summary": method.summary,
            "source": method.source,
            "promise": method.makes.kind,
            "parameters": {f.name: f.default for f in fields(method) if f.name not in {"k", "jobs"}},
        }
        for name, method in TRAJECTORY_METHODS.items()
    ]


def show_methods(title: str, listed: list[dict[str, Any]]) -> None:
    """Show methods on trajectories as a table."""
    rows = [
        (
            one["method"],
            one["summary"],
            one["source"],
            one["promise"],
            "\n".join(
                f"{name}: {'not set' if default is None else default}"
                for name, default in one["parameters"].items()
            ),
        )
        for one in listed
    ]
    columns = ("method", "what it does", "source", "promise", "parameters")
    show(table(title, columns, rows, numbers=False))
