"""Trying mutants: each in a process of its own, which starts warm, sees a copied source tree, and runs tests.

First every file of tests is run once without any mistake, to see which lines each test runs. A mutant then
meets only the tests that run its line: first those that caught its neighbours, and the quickest of each file,
then all that are cheap, a case of every other one, and then what is left.
"""

from __future__ import annotations

import json
import os
import re
import resource
import shutil
import signal
import sys
import time
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext, redirect_stdout
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from itertools import accumulate
from pathlib import Path
from typing import Any, Literal

import pytest

from mutations.mutants import Mutant
from mutations.reach import Reach, Trace, digest, is_compiled
from mutations.recoding import Functions, changed_functions
from mutations.sessions import Session, Watch
from mutations.trees import synchronise

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

CHEAP = 0.05
"""Seconds of a processor that a test takes at most, on average, in a file all of whose cases come early."""

AT_A_TIME = 6
"""Files of tests that one process sees what they run of."""

PATIENCE = (40, 4)
"""Seconds of a processor that tests may take with a mistake in them, and how often as long as without.

A process that splits off compiles for itself what no test before it called: the first of them is generous,
so that whoever is ended by it is in a loop, and not merely late.
"""

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
    """One process at work on a mutant, or on files of tests without any."""

    folder: Path
    mutant: Mutant | None = None
    files: list[str] = field(default_factory=list)
    began: float = field(default_factory=time.monotonic)
    process: int = 0
    seconds: float = 0
    stopped: bool = False
    interpreted: str = ""
    """The file, or the package of files, whose compiled functions are run as they are written."""
    cut: bool = False
    """Whether tests are left out that would take too long."""


Tell = Callable[[Result], None]
Begin = Callable[[Mutant, Path], Trial]
Start = Callable[[Trial, list[list[str]]], Trial]


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
    most
        Seconds of a processor that the tests of a mutant may take. The slowest are left out beyond that, and
        a mutant that the others let pass is undecided; it counts as not caught.
    """

    root: Path
    folder: Path
    tests: dict[str, tuple[str, ...]]
    jobs: int = 1
    limit: float = 1800
    most: float = 120
    package: str = "tripcloak"
    warm: tuple[str, ...] = WARM
    caught: dict[str, list[tuple[int, str]]] = field(default_factory=lambda: defaultdict(list))
    """By module, the lines of mutants that were caught, and the tests that did."""

    unsound: set[tuple[str, str]] = field(default_factory=set)
    """Tests that fail without any mutation, and are left out, and which file was interpreted, if one was."""

    proven: set[tuple[str, str]] = field(default_factory=set)
    """Tests that pass without any mutation, in the same way."""

    reach: Reach = field(init=False)
    session: Session = field(init=False)

    def __post_init__(self) -> None:
        for name in self.warm:
            import_module(name)
        synchronise(self.root / "src", self.untouched / "src")
        for folder in self.copies:
            synchronise(self.untouched / "src", folder / "src")

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
        sources = {module: self.path(module).read_text(encoding="utf-8") for module in self.tests}
        files = sorted({file for module in modules for file in self.tests[module]})
        keys = {file: digest([self.root / file]) for file in files}
        waiting = [file for file in files if not reach.known(file, keys[file], sources)]
        parts = [waiting[at : at + AT_A_TIME] for at in range(0, len(waiting), AT_A_TIME)]
        for trial in self.each(partial(self.trace, part) for part in parts):
            told = self.told(trial)
            for file in trial.files:
                print(f"seen what {file} runs", flush=True)
                if not told.get(file):
                    return False
                reach.keep(file, keys[file], told[file], sources)
        self.reach = reach
        return True

    def try_all(self, mutants: Iterable[Mutant], told: Tell) -> None:
        """Say what became of each mutant, as they end.

        Those that importing runs, or that are compiled, are tried first, while nothing is imported yet; all
        others in processes that split off once everything is.
        """
        whole, recoded = [], []
        for mutant in mutants:
            (recoded if changed_functions(mutant, self.source(mutant)) else whole).append(mutant)
        self.rounds(whole, self.begin, self.start, told)
        if recoded:
            self.in_session(recoded, told)

    def rounds(self, mutants: list[Mutant], begin: Begin, start: Start, told: Tell) -> None:
        """Try mutants, and those anew that a test caught which fails without any."""
        while mutants:
            again = []
            for trial in self.each(partial(begin, mutant) for mutant in mutants):
                result = self.result(trial)
                if self.stands(trial, result, start):
                    self.remember(result)
                    told(result)
                else:
                    again.append(result.mutant)
            mutants = again

    def stands(self, trial: Trial, result: Result, start: Start) -> bool:
        """Return whether a test that caught a mutant passes without it; of its own examples nobody asks."""
        if not result.by.startswith("tests/") or (result.by, trial.interpreted) in self.proven:
            return True
        if self.healthy(result.by, start=start, interpreted=trial.interpreted):
            self.proven.add((result.by, trial.interpreted))
            return True
        self.unsound.add((result.by, trial.interpreted))
        return False

    def in_session(self, mutants: list[Mutant], told: Tell) -> None:
        """Try mutants where all tests are read already, each by giving functions their mistaken code."""
        modules = {mutant.module: self.source(mutant) for mutant in mutants}
        files = sorted({file for module in modules for file in self.tests[module]})
        examples = [str(self.path(module)) for module, source in modules.items() if b">>>" in source]
        self.enter(self.untouched)
        aloud = redirect_stdout(sys.stdout)

        def then() -> None:
            # Some are imported only where they are used.
            for module in modules:
                import_module(".".join((self.package, *Path(module).with_suffix("").parts)))
            self.session.functions = Functions.found()
            with aloud:
                self.rounds(mutants, self.begin_there, self.start_there, told)

        self.session = Session(then)
        with Path(os.devnull).open("w") as quiet, redirect_stdout(quiet):
            plugins = [self.session, self.session.watch]
            pytest.main([*self.options, "-s", *files, *examples], plugins=plugins)
        assert self.session.items, "no tests were found"

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

    def healthy(self, *tests: str, start: Start | None = None, interpreted: str = "") -> bool:
        """Return whether tests pass where nothing is changed: otherwise they prove nothing."""
        trial = (start or self.start)(Trial(self.untouched, interpreted=interpreted), [list(tests)])
        os.waitpid(trial.process, 0)
        return bool(self.told(trial)["outcome"] == "survived")

    def trace(self, files: list[str], folder: Path) -> Trial:
        """Start files of tests without any mistake, to see what they run."""
        trace = Trace(self.root, folder / "src" / self.package, self.tests)
        return self.start(Trial(folder, files=files), [files], trace)

    def path(self, module: str, folder: Path | None = None) -> Path:
        """Return the file of a module, in a copy or where it stays as it is."""
        return (folder or self.untouched) / "src" / self.package / module

    def source(self, mutant: Mutant) -> bytes:
        """Return the module of a mutant without its mistake."""
        return self.path(mutant.module).read_bytes()

    def begin(self, mutant: Mutant, folder: Path) -> Trial:
        """Start the tests of a mutant."""
        examples = [str(self.path(mutant.module, folder))] if b">>>" in self.source(mutant) else []
        trial = self.planted(mutant, folder)
        return self.start(trial, [examples, *self.ordered(trial)])

    def begin_there(self, mutant: Mutant, folder: Path) -> Trial:
        """Start the tests of a mutant where they are read already."""
        trial, path = self.planted(mutant, folder), str(self.path(mutant.module))
        trial.interpreted = _interpreted(path)
        return self.start_there(trial, [[path], *self.ordered(trial)])

    def planted(self, mutant: Mutant, folder: Path) -> Trial:
        """Write a module with a mistake in it."""
        path = self.path(mutant.module, folder)
        path.write_bytes(mutant.applied(self.source(mutant)))
        # Bytecode and compiled kernels are known by the time of their source: no two mutants share one.
        stamp = time.time_ns() // 1000 % 10**9
        os.utime(path, (stamp, stamp))
        return Trial(folder, mutant)

    def ordered(self, trial: Trial) -> list[list[str]]:
        """Return the tests that probably catch a mutant, and the others, within the time for a mutant."""
        mutant = trial.mutant
        assert mutant is not None
        files: dict[str, list[str]] = defaultdict(list)
        callers = self.callers(mutant.module)
        tests = self.reach.of(mutant, self.source(mutant), self.tests[mutant.module], callers)
        for test in tests:
            file = test.partition("::")[0]
            # A file that cannot be read is unsound as a whole.
            if not {(test, trial.interpreted), (file, trial.interpreted)} & self.unsound:
                files[file].append(test)
        near = sorted(self.caught[mutant.module], key=lambda one: abs(one[0] - mutant.line))
        there = {test for own in files.values() for test in own}
        first = list(dict.fromkeys(test for _, test in near if test in there))[:NEAR]
        first += [quickest for quickest, *_ in files.values() if quickest not in first][:QUICK]
        each = {file: self.seconds_each(own) for file, own in files.items()}
        rest = [test for test in _most_for_its_time(files, each) if test not in set(first)]
        needed = list(accumulate(each[test.partition("::")[0]] for test in rest))
        within = bisect_right(needed, self.most)
        trial.cut = within < len(rest)
        return [first, rest[:within]]

    def callers(self, module: str) -> set[str]:
        """Return the modules, and the files of tests, that import a module of compiled kernels.

        Those of a package call one another, and whoever imports one of them may run them all.
        """
        if not is_compiled(module):
            return set()
        room, _, name = module.removesuffix(".py").replace("/", ".").rpartition(".")
        package = room.endswith("._kernels")
        files = {one: self.path(one) for one in self.tests}
        files |= {one: self.root / one for one in self.tests[module]}
        told = re.compile(
            re.escape(room) + (r"[. ]" if package else rf"(\.{name} import| import .*\b{name}\b)")
        )
        return {one for one, path in files.items() if told.search(path.read_text(encoding="utf-8"))}

    def seconds_each(self, tests: list[str]) -> float:
        """Return what a test of a file takes where all of them run: what they share is run once."""
        seconds = [self.reach.seconds[test] for test in tests]
        return (sum(seconds) - (len(tests) - 1) * min(seconds)) / len(tests)

    def start(self, trial: Trial, tests: list[list[str]], trace: Trace | None = None) -> Trial:
        return self.split(trial, partial(self.work, trial, [part for part in tests if part], trace))

    def start_there(self, trial: Trial, tests: list[list[str]]) -> Trial:
        return self.split(trial, partial(self.work_there, trial, tests))

    def split(self, trial: Trial, work: Callable[[], dict[str, Any]]) -> Trial:
        """Start a process that does its work, writes down how it went, and ends."""
        for name in ("told.json", "running"):
            (trial.folder / name).unlink(missing_ok=True)
        trial.process = os.fork()
        if trial.process == 0:
            os.setsid()
            quiet = os.open(os.devnull, os.O_RDWR)
            for stream in range(3):
                os.dup2(quiet, stream)
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))
            try:
                told = work()
            except BaseException as error:
                # A mistake of the bench, which no test has noticed.
                told = {"outcome": "undecided", "by": repr(error)}
            (trial.folder / "told.json").write_text(json.dumps(told))
            os._exit(0)
        return trial

    def enter(self, folder: Path) -> None:
        """Have this process, and those that it starts, see the source tree of a folder."""
        os.chdir(self.root)
        profile = {"HYPOTHESIS_PROFILE": "repeatable", "TRIPCLOAK_ALL_CASES": "1"}
        os.environ.update(PYTHONPATH=str(folder / "src"), **profile)
        sys.path.insert(0, str(folder / "src"))

    @property
    def options(self) -> list[str]:
        """Return how tests are run."""
        options = ["-q", "--tb=no", "-p", "no:cacheprovider", "-p", "no:xdist", f"--rootdir={self.root}"]
        if (settled := self.root / "pyproject.toml").exists():
            # The examples of a copy lie outside of the project, and are run as those inside are.
            options.append(f"--config-file={settled}")
        return options

    def work(self, trial: Trial, tests: list[list[str]], trace: Trace | None) -> dict[str, Any]:
        """Run the tests in this process; return how it went, or what a trace has seen."""
        self.enter(trial.folder)
        with trace.running() if trace else nullcontext():
            told = self.run(trial, tests, trace)
        return trace.told() if trace else told

    def run(self, trial: Trial, tests: list[list[str]], trace: Trace | None) -> dict[str, str]:
        """Return what became of a mutant: one part of the tests after the other, until a test fails."""
        watch, code = Watch(), 0
        for part in tests:
            watch.wanted = {test: place for place, test in enumerate(part) if "::" in test}
            if trial.mutant is not None:
                self.bound(part)
            files = dict.fromkeys(test.partition("::")[0] for test in part)
            plugins = [watch] if trace is None else [watch, trace]
            given = [*self.options, *(["-x"] if trace is None else []), f"--basetemp={trial.folder / 'tmp'}"]
            code = int(pytest.main([*given, *files], plugins=plugins))
            if code not in PASSED:
                break
        return {"outcome": "survived" if code in PASSED else "caught", "by": watch.failed}

    def work_there(self, trial: Trial, tests: list[list[str]]) -> dict[str, str]:
        """Make the mistake in this process, and run tests until one fails."""
        session, mutant = self.session, trial.mutant
        self.enter(trial.folder)
        session.use(trial.folder / "tmp")
        session.functions.interpret(trial.interpreted)
        if mutant is not None:
            path = str(self.path(mutant.module))
            if not session.functions.recode(mutant, self.source(mutant), path):
                return {"outcome": "undecided", "by": ""}
        for part in tests:
            self.bound(part)
            if by := session.first_failing(part, trial.folder / "running"):
                return {"outcome": "caught", "by": by}
        return {"outcome": "survived", "by": ""}

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
        path, running = trial.folder / "told.json", trial.folder / "running"
        if path.exists():
            return json.loads(path.read_text())
        return {"outcome": "died", "by": running.read_text(encoding="utf-8") if running.exists() else ""}

    def result(self, trial: Trial) -> Result:
        assert trial.mutant is not None
        told, module = self.told(trial), trial.mutant.module
        # With its old time, so that what was compiled of it counts again.
        source = Path("src", self.package, module)
        shutil.copy2(self.untouched / source, trial.folder / source)
        outcome = "undecided" if trial.cut and told["outcome"] == "survived" else told["outcome"]
        return Result(trial.mutant, outcome, told["by"], round(trial.seconds, 1))

    def remember(self, result: Result) -> None:
        """Let a test that caught a mutant run first for its neighbours."""
        self.caught[result.mutant.module].append((result.mutant.line, result.by))


def _most_for_its_time(files: dict[str, list[str]], each: dict[str, float]) -> list[str]:
    """Return tests, the quicker files first: of slow ones one case of every function, and then all others.

    Those of a file stay together, because they share what is made for them.

    >>> files = {one: [f"{one}::t[1]", f"{one}::t[2]", f"{one}::u"] for one in "abc"}
    >>> _most_for_its_time(files, {"a": 2.0, "b": 1.0, "c": 0.01})
    ['c::t[1]', 'c::t[2]', 'c::u', 'b::t[1]', 'b::u', 'a::t[1]', 'a::u', 'b::t[2]', 'a::t[2]']
    """
    begins, goes_on = [], []
    for file in sorted(files, key=each.__getitem__):
        seen: set[str] = set()
        for test in files[file]:
            function = test.partition("[")[0]
            (goes_on if function in seen and each[file] > CHEAP else begins).append(test)
            seen.add(function)
    return begins + goes_on


def _interpreted(path: str) -> str:
    """Return what is run as it is written where a mistake is in this file; of a package of kernels all of it.

    >>> _interpreted("audit/_kernels.py"), _interpreted("ledger/_kernels/groups.py"), _interpreted("sets.py")
    ('audit/_kernels.py', 'ledger/_kernels', '')
    """
    if not is_compiled(path):
        return ""
    return str(Path(path).parent) if Path(path).parent.name == "_kernels" else path
