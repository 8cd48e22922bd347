"""Approval: the releases that a ledger holds, and what the privacy officer says of one."""

from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from tripcloak.ground.errors import InputError
from tripcloak.studio.desk import asked_at_once

Folder = Annotated[str, Query(min_length=1, max_length=4000, description="The folder of a ledger.")]


class Judgement(BaseModel):
    """What somebody says of a release."""

    folder: str = Field(min_length=1, max_length=4000)
    release: int = Field(ge=1, le=2**60)
    verdict: Literal["approve", "subject-to-change", "reject"]
    by: str = Field(min_length=1, max_length=200)
    key: str = Field(min_length=1, max_length=4000, description="Path of their private key.")
    comment: str = Field(default="", max_length=4000)


router = APIRouter(prefix="/api", tags=["approval"])


@router.get("/ledger")
def ledger(folder: Folder) -> dict[str, Any]:
    """The releases of a ledger, and what was said of each."""
    return asked_at_once(["ledger", "list", _whole(folder), "--json"])


@router.post("/ledger/judgements", status_code=201)
def judge(said: Judgement) -> dict[str, Any]:
    """Approve of a release, ask for a change, or reject it; signed into the ledger."""
    return asked_at_once(
        [
            "ledger",
            "approve",
            str(said.release),
            f"--ledger={_whole(said.folder)}",
            f"--by={said.by}",
            f"--key={_whole(said.key)}",
            f"--verdict={said.verdict}",
            f"--comment={said.comment}",
            "--json",
        ]
    )


def _whole(path: str) -> str:
    """Return a path that is whole, so that it cannot be taken for a flag."""
    found = Path(path).expanduser()
    if "\0" in path or not found.is_absolute():
        raise InputError(f"give the whole path, such as /home/me/ledger; got {path[:200]!r}")
    return str(found)
