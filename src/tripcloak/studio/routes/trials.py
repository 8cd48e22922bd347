"""A choice of settings before it is run: the same to copy, and what it would cost."""

from typing import Annotated, Any

from fastapi import APIRouter, Query

from tripcloak.studio.routes.at_desk import AtDesk
from tripcloak.studio.routes.inputs import Asked
from tripcloak.studio.settings import checked

router = APIRouter(prefix="/api", tags=["trials"])


@router.post("/recipes")
def recipe(asked: Asked, desk: AtDesk) -> dict[str, Any]:
    """A choice of settings as command line, TOML, Python and notebook, without running it."""
    of = desk.input(asked.input)
    return desk.recipe(asked.command, of, checked(of.wing, asked.command, asked.settings), None)


Degrees = Annotated[float, Query(ge=-360, le=360)]


@router.get("/towns")
async def towns(west: Degrees, south: Degrees, east: Degrees, north: Degrees, desk: AtDesk) -> dict[str, Any]:
    """The largest towns of an area, where the extra places is there; whose list it is."""
    found = await desk.previewer.ask({"towns": [west, south, east, north]})
    return {"towns": found.get("towns", []), "attribution": found.get("attribution", "")}


@router.post("/preview")
async def preview(asked: Asked, desk: AtDesk) -> dict[str, Any]:
    """What a choice of settings would cost, on a sample of trips or of people."""
    of = desk.input(asked.input)
    settings = checked(of.wing, "anonymise", asked.settings)
    about = {"wing": of.wing, "path": of.path, "rows": asked.rows, "person": asked.person}
    return await desk.previewer.ask({**about, "settings": settings})
