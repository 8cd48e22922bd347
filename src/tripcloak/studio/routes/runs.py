"""Runs: started, watched, cancelled, looked at, downloaded."""

from typing import Any

from fastapi import APIRouter
from fastapi.responses import FileResponse, JSONResponse
from pydantic import BaseModel, Field

from tripcloak.ground.errors import InputError, MissingFileError
from tripcloak.studio.desk import Desk, asked_at_once
from tripcloak.studio.routes.inputs import Asked, Before, Command, Limit
from tripcloak.studio.security import SHOWN_POLICY
from tripcloak.studio.settings import checked
from tripcloak.studio.shown import shown_file, zipped
from tripcloak.studio.workspace import disk_in_words


class NewRun(BaseModel):
    """What is to be run."""

    command: Command
    input: int = Field(ge=0, le=2**60)
    settings: dict[str, Any] = Field(default_factory=dict)
    of_run: int | None = Field(default=None, ge=0, le=2**60, description="The run that an audit is of.")


def runs_router(desk: Desk) -> APIRouter:
    """Return what can be asked about runs."""
    router = APIRouter(prefix="/api", tags=["runs"])

    @router.get("/runs")
    def list_runs(
        before: Before = None, limit: Limit = 50, input: int | None = None, command: Command | None = None
    ) -> dict[str, Any]:
        """A page of runs, the newest first."""
        found = desk.workspace.runs(before=before, limit=limit, of_input=input, command=command)
        return {
            "runs": [desk.told(one) for one in found],
            "before": found[-1].id if len(found) == limit else None,
        }

    @router.post("/runs", status_code=201)
    def start_run(asked: NewRun) -> dict[str, Any]:
        """Start a run; it waits for its turn."""
        of = desk.input(asked.input)
        settings = checked(of.wing, asked.command, asked.settings)
        if asked.command == "audit":
            if asked.of_run is None or desk.run(asked.of_run).command != "anonymise":
                raise InputError("an audit is of a run that made a release; name it with of_run")
            if desk.run(asked.of_run).state != "done":
                raise InputError(f"run {asked.of_run} has made no release to audit")
        run = desk.workspace.add_run(asked.command, of.wing, of.id, settings, asked.of_run)
        desk.supervisor.start(run)
        return desk.told(run, result=True)

    @router.get("/runs/{number}")
    def one_run(number: int) -> dict[str, Any]:
        """One run with its progress, its result, and the same as command line, TOML, Python and notebook."""
        return desk.told(desk.run(number), result=True)

    @router.post("/runs/{number}/cancel")
    def cancel(number: int) -> dict[str, Any]:
        """Stop a run; nothing half-written is left behind."""
        asked = desk.supervisor.cancel(desk.run(number).id)
        return {"asked": asked}

    @router.get("/runs/{number}/show/{what}")
    def show(number: int, what: str) -> FileResponse:
        """A page or file of what a run wrote: map, compare, readme, manifest or flows."""
        file = shown_file(desk.workspace.release_folder(desk.run(number).id), what)
        return FileResponse(file, headers={"Content-Security-Policy": SHOWN_POLICY})

    @router.get("/runs/{number}/release.zip")
    def download(number: int) -> FileResponse:
        """The public part of a release as one archive."""
        run = desk.run(number)
        with disk_in_words(desk.workspace.folder):
            archive = zipped(
                desk.workspace.release_folder(run.id), desk.workspace.run_folder(run.id) / "release.zip"
            )
        return FileResponse(archive, filename=f"release-{number}.zip")

    @router.get("/runs/{number}/report.html")
    def report(number: int) -> FileResponse:
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

    @router.get("/runs/{number}/run.ipynb")
    def take_notebook(number: int) -> JSONResponse:
        """The same run as a notebook."""
        run = desk.run(number)
        made = desk.recipe(run.command, desk.input(run.input), run.settings, run.id)["notebook"]
        headers = {"Content-Disposition": f'attachment; filename="run-{number}.ipynb"'}
        return JSONResponse(made, headers=headers)

    @router.post("/recipes")
    def recipe(asked: Asked) -> dict[str, Any]:
        """A choice of settings as command line, TOML, Python and notebook, without running it."""
        of = desk.input(asked.input)
        return desk.recipe(asked.command, of, checked(of.wing, asked.command, asked.settings), None)

    @router.post("/preview")
    async def preview(asked: Asked) -> dict[str, Any]:
        """What a choice of settings would cost, on a sample of trips."""
        of = desk.input(asked.input)
        settings = checked(of.wing, "anonymise", asked.settings)
        if of.wing != "trips":
            return {"error": "There is no preview of trajectories; run it on few people with sample_users."}
        return await desk.previewer.ask(
            {"path": of.path, "settings": settings, "rows": asked.rows, "person": asked.person}
        )

    return router
