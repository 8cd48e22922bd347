"""The commands by name, and the command line that is made of those that are asked for."""

from collections.abc import Callable, Sequence
from importlib import import_module
from inspect import cleandoc
from typing import Annotated, Any

import typer

from tripcloak._version import __version__
from tripcloak.cli.arguments import ForgivingCommand, PlainGroup
from tripcloak.cli.options import Command
from tripcloak.ground.options import Option

COMMANDS = {
    "describe": "describe:command",
    "anonymise": "anonymise:command",
    "series": "series:command",
    "audit": "audit:command",
    "check": "check:command",
    "report": "report:command",
    "difference": "difference:command",
    "export": "export:command",
    "crate": "crate:command",
    "plot": "plot:command",
    "measures": "measures:command",
    "score": "score:root",
    "score nist": "score:nist",
    "compare": "compare:command",
    "methods": "methods:command",
    "presets": "presets:command",
    "rules": "presets:rules",
    "init": "init:command",
    "completion": "completion:command",
    "exposure": "exposure:command",
    "reconstruct": "reconstruct:command",
    "analyse": "analyse:command",
    "trajectories": "trajectories:root",
    "trajectories describe": "trajectories:describe",
    "trajectories anonymise": "trajectories:anonymise",
    "trajectories audit": "audit:of_trajectories",
    "trajectories measures": "measures:of_trajectories",
    "trajectories compare": "trajectories:compare",
    "trajectories methods": "methods:on_trajectories",
    "trajectories attack": "trajectories:attack",
    "trajectories trips": "trajectories:trips",
    "ledger": "ledger:root",
    "ledger init": "ledger:init",
    "ledger cap": "ledger:cap",
    "ledger add": "ledger:add",
    "ledger list": "ledger:list_",
    "ledger show": "ledger:show_",
    "ledger check": "ledger:check",
    "ledger verify": "ledger:verify",
    "ledger withdraw": "ledger:withdraw",
    "ledger approve": "ledger:approve",
    "ledger rotate": "ledger:rotate",
    "keygen": "keygen:command",
    "studio": "studio:command",
    "demo": "demo:command",
    "synth": "synth:root",
    "synth city": "synth:city",
    "synth survey": "synth:survey",
    "synth cdr": "synth:cdr",
    "metrics": "measures:metrics",
}
"""Every command, and the function it is; a group stands before its commands."""

SETTINGS: dict[str, Any] = {
    "no_args_is_help": True,
    "add_completion": False,
    "rich_markup_mode": "rich",
    "context_settings": {"help_option_names": ["-h", "--help"]},
}


def run_commands(arguments: Sequence[str]) -> None:
    """Run what follows ``tripcloak`` on the command line; ends with a SystemExit.

    Of all commands only the one that is asked for is built, so that its help comes up quickly.
    """
    name, rest = split(arguments)
    command = listing(name) if below(name) else alone(name)
    command(args=rest, prog_name=f"tripcloak {name}".strip())


def split(arguments: Sequence[str]) -> tuple[str, list[str]]:
    """Return the command that arguments name, if need be a group or nothing, and what is left of them.

    >>> split(["trajectories", "audit", "out"]), split(["trajectories", "--help"]), split(["fly"])
    (('trajectories audit', ['out']), ('trajectories', ['--help']), ('', ['fly']))
    >>> split(["--", "synth", "--", "city", "--", "out"])
    ('synth city', ['--', 'out'])
    """
    name, rest = "", [*arguments]
    while rest and below(name):
        longer = f"{name} {rest[0]}".strip()
        # Before a command, -- only says that no options follow.
        if longer not in COMMANDS and rest[0] != "--":
            break
        name, rest = longer if longer in COMMANDS else name, rest[1:]
    return name, rest


def below(name: str) -> list[str]:
    """Return the last words of the commands right below a name.

    >>> below("synth")
    ['city', 'survey', 'cdr']
    """
    depth = len(name.split())
    words = [command.split() for command in COMMANDS]
    return [own[-1] for own in words if len(own) == depth + 1 and own[:depth] == name.split()]


def listing(name: str) -> typer.Typer:
    """Return what tells of the commands below a name: their names and what each does, and no more."""
    epilog = None if name else EPILOG
    app = typer.Typer(name=name or "tripcloak", cls=PlainGroup, epilog=epilog, **SETTINGS)
    whole: Any = found(name) if name else root
    app.callback(help=in_paragraphs(whole.__doc__))(whole)
    for last in below(name):

        def told() -> None:
            """Do nothing: whoever names a command gets the command itself."""

        told.__doc__ = in_paragraphs(found(f"{name} {last}".strip()).__doc__)
        app.command(last)(told)
    return app


def alone(name: str) -> Any:
    """Return a command line of one command, which is kept for as long as the command has the same options."""
    command = found(name)
    declared = command.declared() if isinstance(command, Command) else ()
    if name not in _KEPT or _KEPT[name][:2] != (command, declared):
        app = typer.Typer(**{**SETTINGS, "no_args_is_help": False})
        app.command(cls=ForgivingCommand, help=in_paragraphs(command.__doc__))(built(name))
        _KEPT[name] = command, declared, typer.main.get_command(app)
    return _KEPT[name][2]


_KEPT: dict[str, tuple[Any, tuple[Option, ...], Any]] = {}


def parameters_of(name: str) -> list[Any]:
    """Return the parameters of a command, as Typer knows them; none where a group of commands is meant.

    >>> [one.opts for one in parameters_of("methods")]
    [['--json']]
    """
    return [] if below(name) else list(alone(name).params)


def in_paragraphs(words: str) -> str:
    """Return a docstring without its line breaks, so that each paragraph fills the lines that there are.

    An empty paragraph after the first keeps Typer from taking the indentation of examples for that of all.

    >>> in_paragraphs("Count trips\\n    and people.\\n\\n      tripcloak count")
    'Count trips and people.\\n\\n\\n\\n  tripcloak count'
    """
    first, *others = cleandoc(words).split("\n\n")
    parts = [first, "", *others] if others else [first]
    return "\n\n".join(part if part.startswith(" ") else " ".join(part.split()) for part in parts)


def built(name: str) -> Callable[..., None]:
    """Return a command as a function that Typer can read."""
    command = found(name)
    function: Callable[..., None] = command.built() if isinstance(command, Command) else command
    return function


def found(name: str) -> Any:
    """Return a command, or what tells of a group of them, from its module."""
    module, _, function = COMMANDS[name].partition(":")
    return getattr(import_module(f"tripcloak.cli.{module}"), function)


def _version(asked: bool) -> None:
    if asked:
        print(f"tripcloak {__version__}")
        raise typer.Exit


def root(
    version: Annotated[
        bool,
        typer.Option("--version", metavar="", callback=_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """Make personal mobility data safe to publish, and prove it."""


EPILOG = (
    "Start here: tripcloak demo. Then: tripcloak describe FILE; tripcloak anonymise FILE --out DIR; "
    "tripcloak audit DIR --against FILE. A release that you were given: tripcloak check DIR. "
    "Whole trajectories: tripcloak trajectories --help."
)
