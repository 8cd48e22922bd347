"""The desk: all that the answers to requests need, in one place."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tripcloak.ground.documents import parse_json
from tripcloak.ground.errors import InputError, MissingFileError
from tripcloak.ground.keys import PASSPHRASE
from tripcloak.studio.previewing import Previewer
from tripcloak.studio.processes import Supervisor, result_of
from tripcloak.studio.recipes import command_line, notebook, python, toml
from tripcloak.studio.uploads import LARGEST
from tripcloak.studio.workspace import Run, StudioInput, Workspace


@dataclass(frozen=True)
class Desk:
    """A workspace, who runs what waits in it, and who previews."""

    workspace: Workspace
    supervisor: Supervisor
    previewer: Previewer
    largest_upload: int = LARGEST
    demo: bool = False

    def input(self, number: int) -> StudioInput:
        """Return an input, or raise where there is none of this number."""
        found = self.workspace.input(number)
        if found is None:
            raise MissingFileError(f"there is no input {number} in this workspace")
        return found

    def run(self, number: int) -> Run:
        """Return a run, or raise where there is none of this number."""
        found = self.workspace.run(number)
        if found is None:
            raise MissingFileError(f"there is no run {number} in this workspace")
        return found

    def told(self, run: Run, *, result: bool = False) -> dict[str, Any]:
        """Return a run as plain values, with its progress, and if asked for with what it found."""
        of = self.input(run.input)
        facts = {
            "id": run.id,
            "command": run.command,
            "wing": run.wing,
            "input": run.input,
            "input_name": of.name,
            "settings": run.settings,
            "of_run": run.of_run,
            "state": run.state,
            "words": run.words,
            "made": run.made,
            "ended": run.ended,
            "seconds": run.seconds,
            "progress": self.supervisor.progress(run.id) or {},
        }
        if not result:
            return facts
        found = result_of(self.workspace.run_folder(run.id)) if run.state in ("done", "failed") else None
        if run.command == "anonymise" and isinstance(found, dict):
            from tripcloak.reporting.measured import measured_rows

            facts["measured"] = measured_rows(found.get("measures", {}))
        return {**facts, "result": found, "recipe": self.recipe(run.command, of, run.settings, run.id)}

    def recipe(
        self, command: str, of: StudioInput, settings: dict[str, Any], run: int | None
    ) -> dict[str, Any]:
        """Return the same run as a command line, a TOML file, Python and a notebook."""
        out = "out" if run is None else f"run-{run}"
        given: Any = (of.wing, command, of.path, settings)
        return {
            "command": command_line(*given, out=out, release=out),
            "toml": toml(*given, out=out),
            "python": python(*given, out=out),
            "notebook": notebook(*given, out=out),
        }


def asked_at_once(
    arguments: Sequence[str], *, seconds: float = 120.0, passphrase: str | None = None
) -> dict[str, Any]:
    """Return what a short command prints as JSON; its own words are the error where it says no.

    Parameters
    ----------
    arguments
        What follows ``tripcloak`` on the command line.
    passphrase
        What unlocks a private key; it stands in no list of processes.
    """
    secret = {} if passphrase is None else {PASSPHRASE: passphrase}
    try:
        done = subprocess.run(
            [sys.executable, "-m", "tripcloak.cli", *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            env={**os.environ, **secret},
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise InputError(f"no answer within {seconds:g} seconds; ask again on the command line") from None
    if done.returncode != 0:
        # What to type next is of no use to whoever looks at a page.
        lines = done.stderr.partition("\nNext: ")[0].splitlines()
        said = [line for line in lines if line.strip()]
        raise InputError(" ".join(said).removeprefix("Error: ") or f"it ended with code {done.returncode}")
    found: dict[str, Any] = parse_json(done.stdout)
    return found
