"""The server: one workspace, one port, one token, and an end in good order."""

from __future__ import annotations

import socket
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tripcloak.ground.errors import InputError
from tripcloak.ground.extras import needing
from tripcloak.studio.security import is_loopback, new_token

USUAL_PORT = 8321
DEMO_TRIPS = 20_000


@dataclass(frozen=True, kw_only=True)
class StudioPlan:
    """Where a studio works and listens."""

    workspace: Path
    host: str = "127.0.0.1"
    port: int | None = None
    token: str | None = None
    demo: bool = False
    largest_upload: int

    def __post_init__(self) -> None:
        if not is_loopback(self.host) and self.token is None:
            raise InputError(
                f"others can reach {self.host}; give a secret of your own with --token, or leave out --host"
            )
        if self.token is not None and len(self.token) < 16:
            raise InputError("a token of fewer than 16 letters is guessed too easily; give a longer one")


def serve(plan: StudioPlan, started: Callable[[str], None]) -> None:
    """Serve until somebody ends it; say the address, with the token, once it answers.

    Parameters
    ----------
    started
        Called with the address.
    """
    with needing("studio", "the studio"):
        import uvicorn

        from tripcloak.studio.app import make_app
    from tripcloak.studio.desk import Desk
    from tripcloak.studio.previewing import Previewer
    from tripcloak.studio.processes import Supervisor
    from tripcloak.studio.security import Guard
    from tripcloak.studio.workspace import Workspace

    workspace = Workspace(plan.workspace)
    try:
        listening = listen(plan.host, plan.port)
        port, token = listening.getsockname()[1], plan.token or new_token()
        supervisor = Supervisor(workspace)
        try:
            if plan.demo:
                add_demo(workspace)
            desk = Desk(workspace, supervisor, Previewer(), plan.largest_upload, plan.demo)
            guarded: Any = Guard(make_app(desk), token=token, host=plan.host, port=port)
            # No lines on who asked for what: addresses hold names of files.
            config = uvicorn.Config(
                guarded,
                log_level="warning",
                access_log=False,
                server_header=False,
                timeout_graceful_shutdown=3,
            )
            shown = "127.0.0.1" if plan.host in ("0.0.0.0", "::") else plan.host
            shown = f"[{shown}]" if ":" in shown else shown
            address = f"http://{shown}:{port}/?token={token}"
            announcing(config, lambda: started(address)).run([listening])
        finally:
            supervisor.close()
    finally:
        workspace.close()


def announcing(config: Any, tell: Callable[[], None]) -> Any:
    """Return a server that says when it answers."""
    import uvicorn

    class Announcing(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            tell()

    return Announcing(config)


def listen(host: str, port: int | None) -> socket.socket:
    """Return a socket that listens: at the port that is asked for, or the usual one, or any that is free."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for asked in [port] if port is not None else [USUAL_PORT, 0]:
        listening = socket.socket(family, socket.SOCK_STREAM)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((host, asked))
            listening.listen(128)
        except OSError as error:
            listening.close()
            reason = error.strerror or type(error).__name__
        else:
            return listening
    raise InputError(
        f"cannot listen at {host}, port {port or USUAL_PORT}: {reason}; choose another with --port"
    )


def add_demo(workspace: Any) -> None:
    """Add the made-up city to a workspace."""
    from tripcloak.synth import City, write_city

    home = workspace.folder / "demo"
    home.mkdir(exist_ok=True, mode=0o700)
    if not (home / "city.parquet").exists():
        write_city(City(trips=DEMO_TRIPS, seed=1), home / "city.parquet")
    workspace.add_input(home / "city.parquet", wing="trips")
