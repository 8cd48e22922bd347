"""What a run wrote: looked at, and taken away."""

from typing import Any

from fastapi import APIRouter
from fastapi.responses import FileResponse, JSONResponse

from tripcloak.ground.errors import MissingFileError
from tripcloak.studio.desk import asked_at_once
from tripcloak.studio.routes.at_desk import AtDesk
from tripcloak.studio.routes.inputs import Number
from tripcloak.studio.security import SHOWN_POLICY
from tripcloak.studio.shown import shown_file, zipped
from tripcloak.studio.workspace import disk_in_words

router = APIRouter(prefix="/api/runs", tags=["results"])


def of_kind(*kinds: str) -> dict[int | str, dict[str, Any]]:
    """Return how an answer that is a file is told of."""
    file = {"schema": {"type": "string", "format": "binary"}}
    return {200: {"description": "The file.", "content": dict.fromkeys(kinds, file)}}


ANY_FILE = of_kind("text/html", "text/markdown", "text/csv", "application/json")


@router.get("/{number}/show/{what}", response_class=FileResponse, responses=ANY_FILE)
def show(number: Number, what: str, desk: AtDesk) -> FileResponse:
    """A page or file of what a run wrote: map, compare, readme, manifest or flows."""
    file = shown_file(desk.workspace.release_folder(desk.run(number).id), what)
    return FileResponse(file, headers={"Content-Security-Policy": SHOWN_POLICY})


@router.get("/{number}/release.zip", response_class=FileResponse, responses=of_kind("application/zip"))
def download(number: Number, desk: AtDesk) -> FileResponse:
    """The public part of a release as one archive."""
    run = desk.run(number)
    with disk_in_words(desk.workspace.folder):
        archive = zipped(
            desk.workspace.release_folder(run.id), desk.workspace.run_folder(run.id) / "release.zip"
        )
    return FileResponse(archive, filename=f"release-{number}.zip")


@router.get("/{number}/report.html", response_class=FileResponse, responses=of_kind("text/html"))
def report(number: Number, desk: AtDesk) -> FileResponse:
    """The public report of a release as one page, made when it is first asked for."""
    run = desk.run(number)
    page, release = (
        desk.workspace.run_folder(run.id) / "report.html",
        desk.workspace.release_folder(run.id),
    )
    if not (release / "release").is_dir():
        raise MissingFileError("this run has no release to report on")
    if not page.exists():
        asked_at_once(["report", str(release), f"--out={page}", "--public-only", "--json"])
    return FileResponse(
        page, filename=f"report-{number}.html", headers={"Content-Security-Policy": SHOWN_POLICY}
    )


@router.get("/{number}/run.ipynb")
def take_notebook(number: Number, desk: AtDesk) -> JSONResponse:
    """The same run as a notebook."""
    run = desk.run(number)
    made = desk.recipe(run.command, desk.input(run.input), run.settings, run.id)["notebook"]
    headers = {"Content-Disposition": f'attachment; filename="run-{number}.ipynb"'}
    return JSONResponse(made, headers=headers)
