"""tripcloak methods, on flows and on trajectories."""

from typing import Any

from tripcloak.cli.options import Json
from tripcloak.cli.screen import print_json, show, table
from tripcloak.flows.methods.registry import METHODS
from tripcloak.ground.options import Option
from tripcloak.ground.registry import Registry
from tripcloak.trajectories.methods.registry import TRAJECTORY_METHODS


def command(json: Json = False) -> None:
    """List the methods, on flows and on trajectories, where they come from, and their own options.

    [bold]Example[/bold]

      tripcloak methods
    """
    if json:
        print_json({"methods": _listed(METHODS), "trajectories": _listed(TRAJECTORY_METHODS)})
    else:
        _show("Methods", METHODS)
        _show("Methods on trajectories", TRAJECTORY_METHODS)


def on_trajectories(json: Json = False) -> None:
    """List the methods on trajectories, what each promises, and its own options.

    [bold]Example[/bold]

      tripcloak trajectories methods
    """
    if json:
        print_json({"methods": _listed(TRAJECTORY_METHODS)})
    else:
        _show("Methods", TRAJECTORY_METHODS)


def _listed(registry: Registry[Any]) -> list[dict[str, Any]]:
    return [
        {
            "method": name,
            **{fact: registry.fact(name, fact) for fact in _facts(registry)},
            "parameters": {one.name: one.default for one in registry.options(name) if not one.same_result},
            "options": [_described(one) for one in registry.options(name)],
        }
        for name in registry
    ]


def _facts(registry: Registry[Any]) -> tuple[str, ...]:
    # What flows are promised is for the request to say, and not for the method.
    return ("summary", "source", "promise") if registry is TRAJECTORY_METHODS else ("summary", "source")


def _described(one: Option) -> dict[str, Any]:
    return {
        "name": one.name,
        "flag": one.flag,
        "kind": one.kind,
        "default": one.default,
        "values": list(one.values),
        "help": one.help,
        "if_not_given": one.told_default,
    }


def _show(title: str, registry: Registry[Any]) -> None:
    facts = _facts(registry)
    methods = [(name, *(registry.fact(name, fact) for fact in facts)) for name in registry]
    heads = {"summary": "what it does", "source": "source", "promise": "promise"}
    show(table(title, ("method", *(heads[fact] for fact in facts)), methods, numbers=False))
    rows = [
        (name if one is first else "", f"{one.flag} {one.metavar}", one.told_default, one.words)
        for name in registry
        for first in registry.options(name)[:1]
        for one in registry.options(name)
    ]
    columns = ("method", "option", "default", "what it means")
    show(table("Their own options", columns, rows, numbers=False))
