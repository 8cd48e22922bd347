"""The application: the page, the HTTP API that it uses, and errors in words."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, PlainTextResponse
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from tripcloak._version import __version__
from tripcloak.ground.errors import InputError, MissingFileError, TripcloakError
from tripcloak.pages.page import COLOURS, asset, filled
from tripcloak.studio.desk import Desk
from tripcloak.studio.routes import approvals, inputs, results, runs, trials
from tripcloak.studio.uploads import UploadError

SCRIPT, STYLES = "built/studio.js", (COLOURS, "studio.css")


class Refused(BaseModel):
    """Why something was not done, and what to do about it."""

    error: str


PLAIN: dict[str, Any] = {"content": {"text/plain": {"schema": {"type": "string"}}}}
REFUSALS: dict[int | str, dict[str, Any]] = {
    400: {"model": Refused, "description": "It cannot be done as asked."},
    401: {"description": "The token is missing, or is another studio's.", **PLAIN},
    403: {"description": "Asked by another page.", **PLAIN},
    404: {"model": Refused, "description": "There is no such input, run or file."},
    422: {"model": Refused, "description": "The request is not understood."},
    500: {"model": Refused, "description": "Our own bug."},
}
"""What any request may be answered with instead."""


def make_app(desk: Desk) -> FastAPI:
    """Return the application that answers at a desk; who may ask is up to :class:`security.Guard`."""

    @asynccontextmanager
    async def lifetime(app: FastAPI) -> AsyncIterator[None]:
        yield
        await desk.previewer.close()

    app = FastAPI(
        title="tripcloak studio",
        version=__version__,
        description="Makes personal mobility data safe to publish, and proves it. "
        "Send the token as `Authorization: Bearer TOKEN`.",
        openapi_url="/api/openapi.json",
        docs_url=None,
        redoc_url=None,
        lifespan=lifetime,
    )
    app.state.desk = desk
    for subject in (inputs, trials, runs, results, approvals):
        app.include_router(subject.router, responses=REFUSALS)
    _answer_in_words(app)
    _add_pages(app, desk)
    return app


def _add_pages(app: FastAPI, desk: Desk) -> None:
    @app.get("/", include_in_schema=False)
    def page() -> HTMLResponse:
        return HTMLResponse(asset("studio.html"))

    @app.get("/studio.js", include_in_schema=False)
    def script() -> PlainTextResponse:
        return PlainTextResponse(asset(SCRIPT), media_type="text/javascript")

    @app.get("/studio.css", include_in_schema=False)
    def style() -> PlainTextResponse:
        return PlainTextResponse("\n".join(map(asset, STYLES)), media_type="text/css")

    @app.get("/api/state", tags=["studio"], responses=REFUSALS)
    def state() -> dict[str, Any]:
        """What this studio is."""
        return {
            "version": __version__,
            "workspace": str(desk.workspace.folder),
            "largest_upload": desk.largest_upload,
            "demo": desk.demo,
        }

    @app.get("/api/docs", include_in_schema=False)
    def docs() -> HTMLResponse:
        # Ours, and not the usual ones, which are fetched from elsewhere.
        return HTMLResponse(filled("studio_api", api=app.openapi()))


def _answer_in_words(app: FastAPI) -> None:
    @app.exception_handler(UploadError)
    async def not_taken(request: Request, error: UploadError) -> JSONResponse:
        # The rest of what is being sent would be taken for the next request.
        return JSONResponse({"error": str(error)}, error.status, headers={"Connection": "close"})

    @app.exception_handler(ClientDisconnect)
    async def gone(request: Request, error: ClientDisconnect) -> JSONResponse:
        return JSONResponse({"error": "the sender went away"}, 400)

    @app.exception_handler(TripcloakError)
    async def in_words(request: Request, error: TripcloakError) -> JSONResponse:
        status = 404 if isinstance(error, MissingFileError) else 400 if isinstance(error, InputError) else 500
        return JSONResponse({"error": str(error)}, status)

    @app.exception_handler(RequestValidationError)
    async def not_understood(request: Request, error: RequestValidationError) -> JSONResponse:
        # What was sent is not repeated: it may be long, or personal.
        wrong = [f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors()]
        return JSONResponse({"error": "; ".join(wrong)}, 422)

    @app.exception_handler(HTTPException)
    async def refused(request: Request, error: HTTPException) -> JSONResponse:
        return JSONResponse({"error": str(error.detail)}, error.status_code, headers=error.headers)

    @app.exception_handler(Exception)
    async def unexpected(request: Request, error: Exception) -> JSONResponse:
        return JSONResponse({"error": f"our own bug: {type(error).__name__}; nothing was lost"}, 500)
