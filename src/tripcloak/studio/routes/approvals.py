"""Approval: the releases that a ledger holds, and what the privacy officer says of one."""

from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field, SecretStr

from tripcloak.ground.documents import parse_json
from tripcloak.ground.errors import InputError
from tripcloak.ground.folders import PRIVATE
from tripcloak.ground.keys import is_locked
from tripcloak.ground.manifest import RECORD
from tripcloak.studio.desk import asked_at_once
from tripcloak.studio.routes.inputs import Number

Folder = Annotated[str, Query(min_length=1, max_length=4000, description="The folder of a ledger.")]


class Judgement(BaseModel):
    """What somebody says of a release."""

    folder: str = Field(min_length=1, max_length=4000)
    release: int = Field(ge=1, le=2**60)
    verdict: Literal["approve", "subject-to-change", "reject"]
    by: str = Field(min_length=1, max_length=200)
    key: str = Field(min_length=1, max_length=4000, description="Path of their private key.")
    comment: str = Field(default="", max_length=4000)
    passphrase: SecretStr | None = Field(
        default=None, max_length=1000, description="What unlocks the key, if it is locked."
    )


router = APIRouter(prefix="/api", tags=["approval"])


@router.get("/ledger")
def ledger(folder: Folder) -> dict[str, Any]:
    """The releases of a ledger, and what was said of each."""
    return asked_at_once(["ledger", "list", _whole(folder), "--json"])


@router.post("/ledger/judgements", status_code=201)
def judge(said: Judgement) -> dict[str, Any]:
    """Approve of a release, ask for a change, or reject it; signed into the ledger."""
    key = Path(_whole(said.key))
    if said.passphrase is None and key.is_file() and is_locked(key):
        raise InputError("the key is locked; give its passphrase, too")
    return asked_at_once(
        [
            "ledger",
            "approve",
            str(said.release),
            f"--ledger={_whole(said.folder)}",
            f"--by={said.by}",
            f"--key={key}",
            f"--verdict={said.verdict}",
            f"--comment={said.comment}",
            "--json",
        ],
        passphrase=None if said.passphrase is None else said.passphrase.get_secret_value(),
    )


@router.get("/ledger/releases/{number}")
def one_release(number: Number, folder: Folder) -> dict[str, Any]:
    """What a release of a ledger promises and does not, whether its files are untouched, and its audit."""
    told = asked_at_once(["ledger", "show", str(number), f"--ledger={_whole(folder)}", "--json"])
    place = Path(str(told.get("folder", "")))
    try:
        record = parse_json((place / PRIVATE / RECORD).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        record = {}
    audit = record.get("audit", {})
    return {
        "changed_files": told.get("changed_files", []),
        "check": asked_at_once(["check", str(place), "--json"]),
        "safe": audit.get("safe"),
        "plain_words": record.get("plain_words", []),
    }


def _whole(path: str) -> str:
    """Return a path that is whole, so that it cannot be taken for a flag."""
    found = Path(path).expanduser()
    if "\0" in path or not found.is_absolute():
        raise InputError(f"give the whole path, such as /home/me/ledger; got {path[:200]!r}")
    return str(found)
