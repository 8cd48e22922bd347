"""tripcloak init."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from tripcloak.cli.options import Force
from tripcloak.cli.rules import RULES
from tripcloak.cli.screen import show
from tripcloak.ground.errors import InputError, OutputExistsError
from tripcloak.ground.given_paths import given_path, matching

ZONES = "h3:10"


def command(
    out: Annotated[Path, typer.Option(metavar="FILE", help="The file to write.")] = Path("run.toml"),
    force: Force = False,
) -> None:
    """Write a run.toml by asking: what the input is, what is protected, how fine zones may be, where it goes.

    An empty answer takes what stands in brackets.

    [bold]Examples[/bold]

      tripcloak init

      tripcloak init --out may.toml
    """
    if out.exists() and not force:
        raise OutputExistsError(
            f"{out} is already there; choose another name (--out), or replace it (--force)"
        )
    asked = _answers()
    wing = asked.pop("wing")
    lines = [f"# tripcloak {wing} --config {out.name}"]
    lines += [f"{name} = {json.dumps(value)}" for name, value in asked.items() if value is not None]
    aside = out.with_name(f"{out.name}.partial")
    aside.write_text("\n".join(lines) + "\n", encoding="utf-8")
    aside.replace(out)
    show(f"Wrote {out}. Run it: tripcloak {wing} --config {out}")


def _answers() -> dict[str, Any]:
    """Return the command to run, and its options by name."""
    inputs = _input("Which file, folder or database holds the records?")
    whole = typer.confirm(
        "Are whole trajectories to be released (rather than trips from zone to zone)?", False
    )
    asked: dict[str, Any] = {"inputs": [inputs]}
    if whole:
        k = typer.prompt("How many people must share a trajectory (k)?", 5, type=int)
        asked |= {"wing": "trajectories anonymise", "k": k}
    else:
        listed = "; ".join(f"{name}: {one.words.rstrip('.')}" for name, one in RULES.items())
        rule = typer.prompt(f"A public rule ({listed}), or a number of people of your own?", "10")
        asked |= {"wing": "anonymise", **_protection(rule)}
        asked["hierarchy"] = typer.prompt(
            "The finest zones (h3:10 is some 65 m wide, h3:8 some 460 m)?", ZONES
        )
        asked["suppress"] = typer.prompt("The share of trips that may be withheld?", "10%")
    asked["out"] = typer.prompt("The folder for the release?", "out")
    return asked


def _input(question: str) -> str:
    from tripcloak.records.files.databases.addresses import address_of
    from tripcloak.records.files.distant import is_distant

    given: str = typer.prompt(question)
    if is_distant(given) or address_of(given) is not None:
        return given
    if not (given_path(given).exists() or any(matching(given))):
        raise InputError(f"there is no file {given}; check the path, and start again")
    return given


def _protection(answer: str) -> dict[str, Any]:
    if answer in RULES:
        return {"rule": answer}
    if not answer.isdigit() or int(answer) < 2:
        raise InputError(f"expected one of {', '.join(RULES)}, or a number from 2; got {answer!r}")
    return {"k": int(answer)}
