"""Previews: one warm process that answers what a choice of settings would cost on a sample."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from contextlib import suppress
from typing import Any

LONGEST = 60.0
"""Seconds after which a preview is given up: reading a large input for the first time takes a while."""


class Previewer:
    """Asks the process behind previews, one question at a time, and starts it again should it die."""

    def __init__(self) -> None:
        self._process: asyncio.subprocess.Process | None = None
        self._turn = asyncio.Lock()
        self._newest = 0

    async def ask(self, question: dict[str, Any]) -> dict[str, Any]:
        """Return the answer to a question; one that a newer question has overtaken is not answered."""
        self._newest += 1
        mine = self._newest
        async with self._turn:
            if mine != self._newest:
                return {"overtaken": True}
            try:
                return await asyncio.wait_for(self._answer(question), LONGEST)
            except (TimeoutError, OSError, ValueError):
                await self._end()
                return {"error": "The preview took too long or ran out of memory; the run itself may not."}
            except asyncio.CancelledError:
                await self._end()
                raise

    async def _answer(self, question: dict[str, Any]) -> dict[str, Any]:
        process = await self._running()
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(question).encode() + b"\n")
        await process.stdin.drain()
        line = await process.stdout.readline()
        if not line:
            raise OSError("the process is gone")
        found: dict[str, Any] = json.loads(line)
        return found

    async def _running(self) -> asyncio.subprocess.Process:
        if self._process is None or self._process.returncode is not None:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                "tripcloak.studio.preview_process",
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
                env={**os.environ, "TRIPCLOAK_ENDS_WITH": str(os.getpid())},
                start_new_session=True,
            )
        return self._process

    async def _end(self) -> None:
        if self._process is not None:
            with suppress(ProcessLookupError):
                self._process.kill()
            await self._process.wait()
            self._process = None

    async def close(self) -> None:
        """End the process."""
        await self._end()
