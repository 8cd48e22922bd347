"""Trying mutants: each in a process of its own, which starts warm and sees a copied source tree."""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import Phase, settings

from mutations.mutants import Mutant

Outcome = Literal["caught", "died", "survived", "undecided"]

WARM = (
    "numpy",
    "scipy.sparse",
    "scipy.spatial",
    "duckdb",
    "pyarrow.parquet",
    "h3",
    "shapely",
    "pyproj",
    "numba",
)
"""What every mutant needs and no mutant changes: imported once, before processes are split off."""

FIRST = 5
"""Tests that are tried before all others: those that caught most mutants of the same module."""

PASSED = (0, 5)
"""What pytest ends with where nothing failed, or there was nothing to run."""

MEMORY = 12 << 30
"""Bytes that a mutant may ask for: one that never stops growing must not take the machine along."""


@dataclass(frozen=True)
class Result:
    """What became of a mutant, and by which test."""

    mutant: Mutant
    outcome: Outcome
    by: str
    seconds: float

    @property
    def caught(self) -> bool:
        """Whether somebody would notice; a test that never ends, or takes its process along, is noticed."""
        return self.outcome in {"caught", "died"}


@dataclass
class Trial:
    """One process at work on a mutant."""

    mutant: Mutant | None
    folder: Path
    began: float
    process: int = 0
    stopped: bool = False


@dataclass
class Bench:
    """Where mutants are tried: so many copies of the source tree as there are jobs.

    Parameters
    ----------
    root
        The root of the project.
    folder
        Where the copies are made.
    tests
        For every module, the files of tests that hold it.
    limit
        Seconds after which a mutant is stopped; it counts as not caught.
    """

    root: Path
    folder: Path
    tests: dict[str, tuple[str, ...]]
    jobs: int = 1
    limit: float = 1800
    package: str = "tripcloak"
    warm: tuple[str, ...] = WARM
    kills: Counter[tuple[str, str]] = field(default_factory=Counter)
    """How often a test caught a mutant of a module: such a test runs first."""

    unsound: set[str] = field(default_factory=set)
    """Tests that fail without any mutation, and are left out."""

    def __post_init__(self) -> None:
        for name in self.warm:
            import_module(name)
        for folder in (self.untouched, *self.copies):
            shutil.copytree(self.root / "src", folder / "src")

    @property
    def copies(self) -> list[Path]:
        """Return the folders that hold a source tree each, in which mistakes are made."""
        return [self.folder / f"copy-{job}" for job in range(self.jobs)]

    @property
    def untouched(self) -> Path:
        """Return the folder whose source tree stays as it is."""
        return self.folder / "untouched"

    def try_all(self, mutants: Iterable[Mutant]) -> Iterator[Result]:
        """Yield what became of each mutant, as they end."""
        waiting, free = iter(mutants), self.copies
        running: list[Trial] = []
        while True:
            while free and (mutant := next(waiting, None)) is not None:
                running.append(self.begin(mutant, free.pop()))
            if not running:
                return
            for trial in [one for one in running if self.ended(one)]:
                running.remove(trial)
                free.append(trial.folder)
                yield self.result(trial)
            time.sleep(0.05)

    def healthy(self, *tests: str) -> bool:
        """Return whether tests pass where nothing is changed: otherwise they prove nothing."""
        trial = self.start(Trial(None, self.untouched, time.monotonic()), [list(tests)])
        os.waitpid(trial.process, 0)
        return self.told(trial)["outcome"] == "survived"

    def begin(self, mutant: Mutant, folder: Path) -> Trial:
        """Start the tests of a mutant."""
        path = folder / "src" / self.package / mutant.module
        path.write_bytes(mutant.applied((self.untouched / "src" / self.package / mutant.module).read_bytes()))
        # Bytecode and compiled kernels are known by the time of their source: no two mutants share one.
        stamp = time.time_ns() // 1000 % 10**9
        os.utime(path, (stamp, stamp))
        trial = Trial(mutant, folder, time.monotonic())
        first = [test for (module, test), _ in self.kills.most_common() if module == mutant.module]
        # Most mutants are caught by a test that caught others: it alone is read before all others are.
        return self.start(trial, [[str(path), *first[:FIRST]], list(self.tests[mutant.module])])

    def start(self, trial: Trial, tests: list[list[str]]) -> Trial:
        (trial.folder / "told.json").unlink(missing_ok=True)
        trial.process = os.fork()
        if trial.process == 0:
            self.work(trial, tests)
        return trial

    def work(self, trial: Trial, tests: list[list[str]]) -> None:
        """Run the tests in this process, write down how it went, and end."""
        os.setsid()
        source, quiet = str(trial.folder / "src"), os.open(os.devnull, os.O_RDWR)
        for stream in range(3):
            os.dup2(quiet, stream)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        os.chdir(self.root)
        os.environ.update(PYTHONPATH=source, HYPOTHESIS_PROFILE="repeatable")
        sys.path.insert(0, source)
        watch, code = Watch(), 0
        options = [
            "-x",
            "-q",
            "--tb=no",
            "-p",
            "no:cacheprovider",
            "-p",
            "no:xdist",
            f"--rootdir={self.root}",
        ]
        options += [f"--deselect={test}" for test in self.unsound]
        for part in tests:
            code = int(pytest.main([*options, f"--basetemp={trial.folder / 'tmp'}", *part], plugins=[watch]))
            if code not in PASSED:
                break
        told = {"outcome": "survived" if code in PASSED else "caught", "by": watch.failed}
        (trial.folder / "told.json").write_text(json.dumps(told))
        os._exit(0)

    def ended(self, trial: Trial) -> bool:
        """Return whether a process has ended; one that is out of time is ended."""
        if os.waitpid(trial.process, os.WNOHANG)[0]:
            return True
        if time.monotonic() - trial.began < self.limit:
            return False
        trial.stopped = True
        os.killpg(trial.process, signal.SIGKILL)
        os.waitpid(trial.process, 0)
        return True

    def told(self, trial: Trial) -> dict[str, Any]:
        """Return what a process wrote down; one that died, as of a test that never ends, wrote nothing."""
        if trial.stopped:
            return {"outcome": "undecided", "by": ""}
        path = trial.folder / "told.json"
        return json.loads(path.read_text()) if path.exists() else {"outcome": "died", "by": ""}

    def result(self, trial: Trial) -> Result:
        assert trial.mutant is not None
        told, module = self.told(trial), trial.mutant.module
        shutil.rmtree(trial.folder / "tmp", ignore_errors=True)
        # With its old time, so that what was compiled of it counts again.
        source = Path("src", self.package, module)
        shutil.copy2(self.untouched / source, trial.folder / source)
        if told["by"].startswith("tests/") and "::" in told["by"]:
            self.kills[module, told["by"]] += 1
        seconds = time.monotonic() - trial.began
        return Result(trial.mutant, told["outcome"], told["by"], round(seconds, 1))


class Watch:
    """A plugin of pytest: remembers which test failed first."""

    def __init__(self) -> None:
        self.failed = ""

    @pytest.hookimpl(trylast=True)
    def pytest_configure(self) -> None:
        """Look for a failing example only; nobody reads the smallest one."""
        phases = (Phase.explicit, Phase.generate)
        settings.register_profile("mutants", settings(), phases=phases)
        settings.load_profile("mutants")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep the first test that fails."""
        if report.failed and not self.failed:
            self.failed = report.nodeid

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Keep the first file that cannot be read."""
        if report.failed and not self.failed:
            self.failed = report.nodeid
