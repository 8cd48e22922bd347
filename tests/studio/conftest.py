"""A studio in memory: the guarded application at a desk whose runs are quick made-up programs."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the studio needs FastAPI: pip install 'tripcloak[studio]'")

from starlette.testclient import TestClient

from tripcloak.studio.app import make_app
from tripcloak.studio.desk import Desk
from tripcloak.studio.previewing import Previewer
from tripcloak.studio.processes import Supervisor
from tripcloak.studio.security import Guard
from tripcloak.studio.workspace import ENDED, Workspace

TOKEN = "a-token-that-nobody-guesses"
PORT = 8321

PROGRAM = """
import json, os, signal, sys, time
from pathlib import Path
argv = sys.argv[1:]
asked = dict(one[2:].split("=", 1) for one in argv if one.startswith("--") and "=" in one)
print(json.dumps({"progress": {"what": "working", "done": 1, "total": 2}}), file=sys.stderr, flush=True)
where = asked.get("where", "")
out = Path(asked.get("out", "nowhere"))
if "out" in asked:
    (out / "release").mkdir(parents=True)
    (out / "private").mkdir()
    (out / "private" / "run.json").write_text("secret")
    (out / "release" / "map.html").write_text("<p>map</p>")
    (out / "release" / "flows.csv").write_text("a,b")
if where == "slow":
    time.sleep(60)
if where == "stubborn":
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    print(json.dumps({"progress": {"what": "deaf", "done": 1, "total": 2}}), file=sys.stderr, flush=True)
    time.sleep(60)
if where == "killed":
    os.kill(os.getpid(), signal.SIGKILL)
if where == "crashed":
    os.kill(os.getpid(), signal.SIGSEGV)
if where == "gone":
    Path(argv[1]).unlink()
    print("Error: there is no file", file=sys.stderr)
    sys.exit(2)
if where == "wrong":
    print("Warning: odd\\nError: no such column\\nNext: look again.", file=sys.stderr)
    sys.exit(2)
print(json.dumps({"argv": argv}))
"""
"""Stands in for the command line: does at once what its setting ``where`` says."""


@dataclass
class Studio:
    """A studio that can be asked."""

    desk: Desk
    client: TestClient
    raw: Path

    def run(self, where: str = "", command: str = "anonymise", **more: Any) -> int:
        settings = {"where": where} if where else {}
        asked = {"command": command, "input": 1, "settings": settings, **more}
        answer = self.client.post("/api/runs", json=asked)
        assert answer.status_code == 201, answer.text
        number: int = answer.json()["id"]
        return number

    def ended(self, number: int, seconds: float = 20) -> dict[str, Any]:
        return self.until(number, lambda run: run["state"] in ENDED, seconds)

    def until(
        self, number: int, holds: Callable[[dict[str, Any]], bool], seconds: float = 20
    ) -> dict[str, Any]:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            run: dict[str, Any] = self.client.get(f"/api/runs/{number}").json()
            if holds(run):
                return run
            time.sleep(0.02)
        raise AssertionError(f"run {number} is {run}")


def opened(folder: Path, *, at_once: int = 2) -> tuple[Desk, TestClient]:
    workspace = Workspace(folder)
    program = folder.parent / "program.py"
    program.write_text(PROGRAM)
    supervisor = Supervisor(
        workspace, at_once=at_once, program=[sys.executable, "-S", "-E", str(program)], grace=0.5
    )
    desk = Desk(workspace, supervisor, Previewer(), largest_upload=1000)
    guard = Guard(make_app(desk), token=TOKEN, host="127.0.0.1", port=PORT)
    headers = {"Authorization": f"Bearer {TOKEN}"}
    client = TestClient(guard, base_url=f"http://127.0.0.1:{PORT}", headers=headers, follow_redirects=False)
    return desk, client


@pytest.fixture
def studio(tmp_path: Path) -> Iterator[Studio]:
    raw = tmp_path / "my trips.csv"
    raw.write_text("origin,destination\n1,2\n")
    desk, client = opened(tmp_path / "space")
    assert client.post("/api/inputs", json={"path": str(raw)}).json()["id"] == 1
    yield Studio(desk, client, raw)
    desk.supervisor.close()
    desk.workspace.close()
