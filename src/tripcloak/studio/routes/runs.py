"""Runs: started, watched, cancelled."""

from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from tripcloak.ground.errors import InputError
from tripcloak.studio.routes.at_desk import AtDesk
from tripcloak.studio.routes.inputs import Before, Command, Limit, Number
from tripcloak.studio.settings import checked


class NewRun(BaseModel):
    """What is to be run."""

    command: Command
    input: int = Field(ge=0, le=2**60)
    settings: dict[str, Any] = Field(default_factory=dict)
    of_run: int | None = Field(default=None, ge=0, le=2**60, description="The run that an audit is of.")


router = APIRouter(prefix="/api", tags=["runs"])


@router.get("/runs")
def list_runs(
    desk: AtDesk,
    before: Before = None,
    limit: Limit = 50,
    input: Annotated[int | None, Query(ge=1, le=2**60, description="Only of this input.")] = None,
    command: Command | None = None,
) -> dict[str, Any]:
    """A page of runs, the newest first."""
    found = desk.workspace.runs(before=before, limit=limit, of_input=input, command=command)
    return {
        "runs": [desk.told(one) for one in found],
        "before": found[-1].id if len(found) == limit else None,
    }


@router.post("/runs", status_code=201)
def start_run(asked: NewRun, desk: AtDesk) -> dict[str, Any]:
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
def one_run(number: Number, desk: AtDesk) -> dict[str, Any]:
    """One run with its progress, its result, and the same as command line, TOML, Python and notebook."""
    return desk.told(desk.run(number), result=True)


@router.post("/runs/{number}/cancel")
def cancel(number: Number, desk: AtDesk) -> dict[str, Any]:
    """Stop a run; nothing half-written is left behind."""
    asked = desk.supervisor.cancel(desk.run(number).id)
    return {"asked": asked}
