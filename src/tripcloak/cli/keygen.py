"""tripcloak keygen."""

from pathlib import Path
from typing import Annotated

import typer

from tripcloak.cli.options import Json
from tripcloak.cli.screen import print_json, show


def command(
    name: Annotated[Path, typer.Argument(metavar="NAME", help="Where: writes NAME.key and NAME.pub.")],
    passphrase: Annotated[
        bool,
        typer.Option("--passphrase", metavar="", help="Ask for a passphrase for the private key."),
    ] = False,
    json: Json = False,
) -> None:
    """Make a pair of keys (Ed25519) to sign releases with; nothing goes over a network.

    NAME.key signs (--sign) and stays with you; NAME.pub is for those who get releases, by another way than
    the releases themselves.

    A passphrase may also stand in the environment variable TRIPCLOAK_PASSPHRASE, here and later.

    [bold]Examples[/bold]

      tripcloak keygen publisher

      tripcloak anonymise trips.parquet --out out --sign publisher.key

      tripcloak check out/release --key publisher.pub
    """
    import os

    from tripcloak.ground.keys import PASSPHRASE, make_keys

    phrase = os.environ.get(PASSPHRASE)
    if passphrase and phrase is None:
        phrase = typer.prompt("Passphrase", hide_input=True, confirmation_prompt=True, err=True)
    private, public = (name.with_name(f"{name.name}.{ending}") for ending in ("key", "pub"))
    key = make_keys(private, public, passphrase=phrase)
    if json:
        print_json({"private": str(private), "public": str(public), "id": key.id, "locked": bool(phrase)})
        return
    show(
        f"Keep {private} to yourself{'; it is locked' if phrase else ''}. Give {public} to those who check.",
        f"SHA-256 of the public key, to compare by telephone: {key.id}",
    )
