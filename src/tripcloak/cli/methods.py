"""tripcloak methods."""

from dataclasses import fields

from tripcloak.cli.options import Json
from tripcloak.cli.screen import print_json, show, table
from tripcloak.cli.trajectories.methods import listed_methods, show_methods


def command(json: Json = False) -> None:
    """List the methods, on flows and on trajectories, where they come from, and their own parameters.

    [bold]Example[/bold]

      tripcloak methods
    """
    from tripcloak.flows.methods import METHODS, FlowMethod

    shared = {f.name for f in fields(FlowMethod)}
    own = {
        name: [(f.name, f.default) for f in fields(method) if f.name not in shared]
        for name, method in METHODS.items()
    }
    if json:
        keys = ("method", "summary", "source", "parameters")
        listed = [(name, method.summary, method.source, dict(own[name])) for name, method in METHODS.items()]
        named = [dict(zip(keys, entry, strict=True)) for entry in listed]
        print_json({"methods": named, "trajectories": listed_methods()})
        return
    rows = [(name, method.summary, method.source, _parameters(own[name])) for name, method in METHODS.items()]
    show(table("Methods", ("method", "what it does", "source", "parameters"), rows, numbers=False))
    show_methods("Methods on trajectories", listed_methods())


def _parameters(own: list[tuple[str, object]]) -> str:
    return "\n".join(f"{name}: {'not set' if default is None else default}" for name, default in own)
