"""Kills runs of the command line at random moments, and checks what they leave and what the next run makes.

    python -m benchmarks.faults                    # 100 kills of a run on 200,000 trips
    python -m benchmarks.faults --kills 10 --trips 50000 --seed 2

After every kill nothing may lie in the system's temporary folder, and in the output folder nothing but what
is private and, where an earlier run had ended, its whole release. After every few kills a run is let end: it
must release the same bytes as one that was never killed, and leave nothing else. Exits 1 if that is not so.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

FEW = 5
"""Kills between two runs that are let end."""


def main(arguments: list[str]) -> int:
    """Kill, check, and return the exit code."""
    parser = argparse.ArgumentParser(prog="make bench-faults")
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--trips", type=int, default=200_000)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args(arguments)
    dice = random.Random(asked.seed)
    with tempfile.TemporaryDirectory() as home:
        bench = _Bench(Path(home), asked.trips)
        whole = bench.reference()
        taken_up = 0
        for number in range(1, asked.kills + 1):
            taken_up += bench.stages_left()
            moment = dice.uniform(0.2, 1.05) * bench.seconds
            if wrong := bench.killed(moment) or (number % FEW == 0 and bench.ends(whole)):
                print(f"kill {number} after {moment:.2f} s: {wrong}")
                return 1
    print(
        f"{asked.kills} kills of a run of {bench.seconds:.1f} s; {taken_up} of the runs after them found "
        "stages. Nothing private outside the output folder, no half release, the same bytes in the end"
    )
    return 0


class _Bench:
    """One request, run again and again in a folder of its own."""

    def __init__(self, home: Path, trips: int) -> None:
        self.out, self.temporary = home / "out", home / "temporary"
        self.temporary.mkdir()
        self.trips, self.seconds = home / "trips.parquet", 0.0
        self.whole: dict[str, bytes] = {}
        _run("synth", "city", "--trips", str(trips), "--out", str(self.trips))

    def reference(self) -> dict[str, bytes]:
        """Return the release of a run that nobody kills."""
        out = self.out.with_name("reference")
        for _ in range(2):
            # Twice: the first one compiles.
            started = time.perf_counter()
            self._start(out).communicate()
            self.seconds = time.perf_counter() - started
        self.whole = _released(out)
        return self.whole

    def killed(self, moment: float) -> str | None:
        """Kill a run after so many seconds, and return what is wrong then."""
        before = _released(self.out)
        process = self._start(self.out)
        try:
            process.communicate(timeout=moment)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.communicate()
        if left := sorted(path.name for path in self.temporary.iterdir()):
            return f"left in the temporary folder: {left}"
        public = sorted(path.name for path in self.out.glob("[!.]*")) if self.out.exists() else []
        if public not in ([], ["private", "release"]) and not any(self.out.glob(".partial-*")):
            return f"parts of a release, and no journal to put them right: {public}"
        now = _released(self.out)
        return None if now in ({}, before, self.whole) else "a half release"

    def ends(self, whole: dict[str, bytes]) -> str | None:
        """Let a run end, and return what is wrong with what it made."""
        code = self._start(self.out).wait()
        if code:
            return f"the next run failed ({code})"
        if _released(self.out) != whole:
            return "the next run released something else"
        left = [path.name for path in self.out.iterdir() if path.name.startswith(".private")]
        return f"the next run left {left}" if left else None

    def stages_left(self) -> bool:
        """Return whether the next run will find something to take up."""
        return any(self.out.glob(".private-work-*/rows/facts.json"))

    def _start(self, out: Path) -> subprocess.Popen[bytes]:
        order = ["anonymise", str(self.trips), "--method", "productcut", "--engine", "parts", "--force"]
        return subprocess.Popen(
            [sys.executable, "-m", "tripcloak.cli", *order, "--out", str(out)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "TMPDIR": str(self.temporary)},
        )


def _released(out: Path) -> dict[str, bytes]:
    folder = out / "release"
    return {path.name: path.read_bytes() for path in folder.iterdir()} if folder.is_dir() else {}


def _run(*arguments: str) -> None:
    subprocess.run([sys.executable, "-m", "tripcloak.cli", *arguments], check=True, capture_output=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
