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
            **_facts(registry, name),
            "parameters": {one.name: one.default for one in registry.options(name) if not one.same_result},
            "options": [_described(one) for one in registry.options(name)],
        }
        for name in registry
    ]


def _facts(registry: Registry[Any], name: str) -> dict[str, str]:
    """Return what a method says of itself."""
    facts = {fact: registry.fact(name, fact) for fact in ("summary", "source")}
    # What flows are promised is for the request to say, and not for the method.
    return {**facts, "promise": registry[name].makes.kind} if registry is TRAJECTORY_METHODS else facts


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
    facts = {name: _facts(registry, name) for name in registry}
    methods = [(name, *told.values()) for name, told in facts.items()]
    heads = {"summary": "what it does"}
    columns = ("method", *(heads.get(fact, fact) for fact in next(iter(facts.values()))))
    show(table(title, columns, methods, numbers=False))
    rows = [
        (name if one is first else "", f"{one.flag} {one.metavar}", one.told_default, one.words)
        for name in registry
        for first in registry.options(name)[:1]
        for one in registry.options(name)
    ]
    show(table("Their own options", ("method", "option", "default", "what it means"), rows, numbers=False))
