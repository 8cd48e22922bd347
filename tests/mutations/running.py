"""Trying mutants: each in a process of its own, which starts warm, sees a copied source tree, and runs tests.

First every file of tests is run once without any mistake, to see which lines each test runs. A mutant then
meets only the tests that run its line: first those that caught its neighbours, and the quickest of each file.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import Phase, settings

from mutations.mutants import Mutant
from mutations.reach import Reach, Trace, digest

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
    "hypothesis.extra.numpy",
)
"""What every mutant needs and no mutant changes: imported once, before processes are split off."""

NEAR, QUICK = 6, 3
"""Tests that are tried before all others: those that caught the nearest mutants of the module, and the
quickest, each of another file."""

PATIENCE = (60, 10)
"""Seconds of a processor that tests may take with a mistake in them, and how often as long as without."""

PASSED = (0, 5)
"""What pytest ends with where nothing failed, or there was nothing to run."""

MEMORY = 12 << 30
"""Bytes that a mutant may ask for: one that never stops growing must not take the machine along."""


@dataclass(frozen=True)
class Result:
    """What became of a mutant, by which test, and after how many seconds of a processor."""

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
    """One process at work on a mutant, or on a file of tests without any."""

    folder: Path
    mutant: Mutant | None = None
    file: str = ""
    began: float = field(default_factory=time.monotonic)
    process: int = 0
    seconds: float = 0
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
    caught: dict[str, list[tuple[int, str]]] = field(default_factory=lambda: defaultdict(list))
    """By module, the lines of mutants that were caught, and the tests that did."""

    unsound: set[str] = field(default_factory=set)
    """Tests that fail without any mutation, and are left out."""

    reach: Reach = field(init=False)

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

    def see(self, reach: Reach, modules: Iterable[str]) -> bool:
        """See what the tests of some modules run, where that is not known yet; return whether they run."""
        shared = [path for path in (self.root / "tests").rglob("*.py") if not path.name.startswith("test_")]
        shared = [path for path in shared if path.parent != Path(__file__).parent]
        ground = [*(self.root / "src").rglob("*.py"), *shared]
        files = sorted({file for module in modules for file in self.tests[module]})
        keys = {file: digest([*ground, self.root / file]) for file in files}
        waiting = [file for file in files if not reach.known(file, keys[file])]
        for trial in self.each(partial(self.trace, file) for file in waiting):
            told = self.told(trial)
            print(f"seen what {trial.file} runs ({trial.seconds:.0f} s)", flush=True)
            if not told.get("seconds"):
                return False
            reach.keep(trial.file, keys[trial.file], told)
        self.reach = reach
        return True

    def try_all(self, mutants: Iterable[Mutant]) -> Iterator[Result]:
        """Yield what became of each mutant, as they end."""
        for trial in self.each(partial(self.begin, mutant) for mutant in mutants):
            yield self.result(trial)

    def each(self, beginning: Iterable[Callable[[Path], Trial]]) -> Iterator[Trial]:
        """Begin one after the other, as many at a time as there are jobs; yield them as they end."""
        waiting, free = iter(beginning), self.copies
        running: list[Trial] = []
        while True:
            while free and (begin := next(waiting, None)) is not None:
                running.append(begin(free.pop()))
            if not running:
                return
            for trial in [one for one in running if self.ended(one)]:
                running.remove(trial)
                free.append(trial.folder)
                shutil.rmtree(trial.folder / "tmp", ignore_errors=True)
                yield trial
            time.sleep(0.05)

    def healthy(self, *tests: str) -> bool:
        """Return whether tests pass where nothing is changed: otherwise they prove nothing."""
        trial = self.start(Trial(self.untouched), [list(tests)])
        os.waitpid(trial.process, 0)
        return self.told(trial)["outcome"] == "survived"

    def trace(self, file: str, folder: Path) -> Trial:
        """Start a file of tests without any mistake, to see what it runs."""
        trace = Trace(self.root, folder / "src" / self.package, self.tests)
        return self.start(Trial(folder, file=file), [[file]], trace)

    def begin(self, mutant: Mutant, folder: Path) -> Trial:
        """Start the tests of a mutant."""
        path = folder / "src" / self.package / mutant.module
        source = (self.untouched / "src" / self.package / mutant.module).read_bytes()
        path.write_bytes(mutant.applied(source))
        # Bytecode and compiled kernels are known by the time of their source: no two mutants share one.
        stamp = time.time_ns() // 1000 % 10**9
        os.utime(path, (stamp, stamp))
        tests = self.reach.of(mutant, source, self.tests[mutant.module])
        examples = [str(path)] if b">>>" in source else []
        return self.start(Trial(folder, mutant), [examples, *self.ordered(mutant, tests)])

    def ordered(self, mutant: Mutant, tests: list[str]) -> list[list[str]]:
        """Return the tests that probably catch a mutant, and the others, those of a file together."""
        files: dict[str, list[str]] = defaultdict(list)
        for test in tests:
            files[test.partition("::")[0]].append(test)
        near = sorted(self.caught[mutant.module], key=lambda one: abs(one[0] - mutant.line))
        first = list(dict.fromkeys(test for _, test in near if test in set(tests)))[:NEAR]
        first += [quickest for quickest, *_ in files.values() if quickest not in first][:QUICK]
        each = {file: self.seconds_each(own) for file, own in files.items()}
        rest = [test for file in sorted(files, key=each.__getitem__) for test in files[file]]
        return [first, [test for test in rest if test not in set(first)]]

    def seconds_each(self, tests: list[str]) -> float:
        """Return what a test of a file takes where all of them run: what they share is run once."""
        seconds = [self.reach.seconds[test] for test in tests]
        return (sum(seconds) - (len(tests) - 1) * min(seconds)) / len(tests)

    def start(self, trial: Trial, tests: list[list[str]], trace: Trace | None = None) -> Trial:
        (trial.folder / "told.json").unlink(missing_ok=True)
        trial.process = os.fork()
        if trial.process == 0:
            self.work(trial, [part for part in tests if part], trace)
        return trial

    def work(self, trial: Trial, tests: list[list[str]], trace: Trace | None) -> None:
        """Run the tests in this process, write down how it went, and end."""
        os.setsid()
        source, quiet = str(trial.folder / "src"), os.open(os.devnull, os.O_RDWR)
        for stream in range(3):
            os.dup2(quiet, stream)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))
        os.chdir(self.root)
        os.environ.update(PYTHONPATH=source, HYPOTHESIS_PROFILE="repeatable")
        sys.path.insert(0, source)
        with trace.running() if trace else nullcontext():
            told = self.run(trial, tests, trace)
        (trial.folder / "told.json").write_text(json.dumps(trace.told() if trace else told))
        os._exit(0)

    def run(self, trial: Trial, tests: list[list[str]], trace: Trace | None) -> dict[str, str]:
        """Return what became of a mutant: one part of the tests after the other, until a test fails."""
        watch, code = Watch(), 0
        options = ["-q", "--tb=no", "-p", "no:cacheprovider", "-p", "no:xdist", f"--rootdir={self.root}"]
        if (settled := self.root / "pyproject.toml").exists():
            # The examples of a copy lie outside of the project, and are run as those inside are.
            options.append(f"--config-file={settled}")
        options += [f"--deselect={test}" for test in self.unsound]
        for part in tests:
            watch.wanted = {test: place for place, test in enumerate(part) if "::" in test}
            if trial.mutant is not None:
                self.bound(part)
            files = dict.fromkeys(test.partition("::")[0] for test in part)
            plugins = [watch] if trace is None else [watch, trace]
            given = [*options, *(["-x"] if trace is None else []), f"--basetemp={trial.folder / 'tmp'}"]
            code = int(pytest.main([*given, *files], plugins=plugins))
            if code not in PASSED:
                break
        return {"outcome": "survived" if code in PASSED else "caught", "by": watch.failed}

    def bound(self, tests: list[str]) -> None:
        """Let tests take no more of a processor than some times what they need: a loop may never end."""
        least, often = PATIENCE
        spent = resource.getrusage(resource.RUSAGE_SELF)
        needed = sum(self.reach.seconds.get(test, 0) for test in tests)
        limit = int(spent.ru_utime + spent.ru_stime + least + often * needed)
        resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.getrlimit(resource.RLIMIT_CPU)[1]))

    def ended(self, trial: Trial) -> bool:
        """Return whether a process has ended; one that is out of time is ended."""
        if time.monotonic() - trial.began > self.limit:
            trial.stopped = True
            os.killpg(trial.process, signal.SIGKILL)
        process, _, spent = os.wait4(trial.process, 0 if trial.stopped else os.WNOHANG)
        trial.seconds = spent.ru_utime + spent.ru_stime
        return process != 0

    def told(self, trial: Trial) -> dict[str, Any]:
        """Return what a process wrote down; one that died, as of a test that never ends, wrote nothing."""
        if trial.stopped:
            return {"outcome": "undecided", "by": ""}
        path = trial.folder / "told.json"
        return json.loads(path.read_text()) if path.exists() else {"outcome": "died", "by": ""}

    def result(self, trial: Trial) -> Result:
        assert trial.mutant is not None
        told, module = self.told(trial), trial.mutant.module
        # With its old time, so that what was compiled of it counts again.
        source = Path("src", self.package, module)
        shutil.copy2(self.untouched / source, trial.folder / source)
        result = Result(trial.mutant, told["outcome"], told["by"], round(trial.seconds, 1))
        self.remember(result)
        return result

    def remember(self, result: Result) -> None:
        """Let a test that caught a mutant run first for its neighbours."""
        self.caught[result.mutant.module].append((result.mutant.line, result.by))


class Watch:
    """A plugin of pytest: remembers which test failed first."""

    def __init__(self) -> None:
        self.failed = ""
        self.wanted: dict[str, int] = {}

    @pytest.hookimpl(trylast=True)
    def pytest_configure(self) -> None:
        """Look for a failing example only; nobody reads the smallest one."""
        phases = (Phase.explicit, Phase.generate)
        settings.register_profile("mutants", settings(), phases=phases)
        settings.load_profile("mutants")

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Keep to the tests that are asked for, in their order."""
        if self.wanted:
            items[:] = [item for item in items if item.nodeid in self.wanted]
            items.sort(key=lambda item: self.wanted[item.nodeid])

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep the first test that fails."""
        if report.failed and not self.failed:
            self.failed = report.nodeid

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Keep the first file that cannot be read."""
        if report.failed and not self.failed:
            self.failed = report.nodeid
