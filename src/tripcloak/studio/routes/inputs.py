"""Inputs: named by path or sent, and the settings that there are for them."""

from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from fastapi import Path as PathParameter
from pydantic import BaseModel, Field

from tripcloak.ground.errors import InputError, MissingFileError
from tripcloak.studio.routes.at_desk import AtDesk
from tripcloak.studio.settings import as_json, methods_of, options_of
from tripcloak.studio.uploads import receive
from tripcloak.studio.workspace import StudioInput

Wing = Literal["trips", "trajectories"]
Command = Literal["describe", "anonymise", "compare", "audit"]
Before = Annotated[int | None, Query(ge=1, le=2**60, description="Only what is older than this number.")]
Limit = Annotated[int, Query(ge=1, le=200, description="How many at most.")]


Number = Annotated[int, PathParameter(ge=1, le=2**60)]
NOT_TAKEN: dict[int | str, dict[str, Any]] = {
    408: {"description": "No byte arrived for too long."},
    413: {"description": "The file is larger than may be sent."},
}
BYTES = {"requestBody": {"required": True, "content": {"application/octet-stream": {}}}}
"""What is sent is a file as it is, which is read as it arrives."""


class NamedInput(BaseModel):
    """A file or folder on the machine that the studio runs on."""

    path: str = Field(min_length=1, max_length=4000)
    wing: Wing = "trips"


class Asked(BaseModel):
    """A choice of settings for an input."""

    input: int = Field(ge=0, le=2**60)
    command: Command = "anonymise"
    settings: dict[str, Any] = Field(default_factory=dict)
    rows: int | None = Field(default=None, ge=0, le=2**60)
    person: str | None = Field(default=None, max_length=1000)


router = APIRouter(prefix="/api", tags=["inputs"])


@router.get("/settings/{wing}/{command}")
def settings(wing: Wing, command: Command) -> dict[str, Any]:
    """Every setting of a command: name, meaning, kind, values, default; and the methods."""
    return {
        "options": [as_json(one) for one in options_of(wing, command)],
        "methods": methods_of(wing),
    }


@router.get("/inputs")
def list_inputs(desk: AtDesk, before: Before = None, limit: Limit = 50) -> dict[str, Any]:
    """A page of inputs, the newest first."""
    found = desk.workspace.inputs(before=before, limit=limit)
    return {
        "inputs": [told(one) for one in found],
        "before": found[-1].id if len(found) == limit else None,
    }


@router.post("/inputs", status_code=201)
def name_input(named: NamedInput, desk: AtDesk) -> dict[str, Any]:
    """Take a file or folder by its path."""
    if "\0" in named.path:
        raise InputError("that is no path")
    path = Path(named.path).expanduser()
    if not path.is_absolute():
        raise InputError("give the whole path of the file, such as /home/me/trips.parquet or ~/trips.parquet")
    if not path.exists():
        raise MissingFileError(f"there is no file {path.name} in that folder; check the path")
    return told(desk.workspace.add_input(path.resolve(), wing=named.wing))


@router.get("/inputs/{number}")
def one_input(number: Number, desk: AtDesk) -> dict[str, Any]:
    """One input."""
    return told(desk.input(number))


@router.put("/uploads/{name}", status_code=201, responses=NOT_TAKEN, openapi_extra=BYTES)
async def upload(name: str, request: Request, desk: AtDesk, wing: Wing = "trips") -> dict[str, Any]:
    """Send a file: its bytes are the body."""
    size = request.headers.get("content-length", "")
    path = await receive(
        desk.workspace.folder / "uploads",
        name,
        request.stream(),
        size=int(size) if size.isdigit() else None,
        largest=desk.largest_upload,
    )
    return told(desk.workspace.add_input(path, wing=wing, uploaded=True))


def told(one: StudioInput) -> dict[str, Any]:
    """Return an input as plain values."""
    return {
        "id": one.id,
        "name": one.name,
        "path": one.path,
        "wing": one.wing,
        "uploaded": one.uploaded,
        "added": one.added,
        "there": one.there,
    }
