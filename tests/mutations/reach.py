"""Which tests run which lines: seen once, kept while nothing changes, so that a mutant meets only those.

What several tests share (a fixture of a module, a cached property) is run by the first, and counts for
all. What other processes run is not seen, nor are compiled kernels: see :meth:`Reach.of`.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import json
import resource
import sys
import threading
from collections import defaultdict
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from coverage import Coverage

from mutations.mutants import Mutant

STARTING = ("subprocess.Popen", "os.fork", "os.posix_spawn", "os.system")
"""What Python tells its audit hooks where another process begins."""


@dataclass
class Reach:
    """What tests run, and for how many seconds of a processor; kept in a folder, file of tests by file."""

    folder: Path
    seconds: dict[str, float] = field(default_factory=dict)
    lines: dict[str, dict[int, set[str]]] = field(default_factory=dict)
    """By module and line, the tests; those of no line start processes."""
    sound: set[str] = field(default_factory=set)
    """Tests that passed without any mutation."""

    def known(self, file: str, key: str, sources: dict[str, str]) -> bool:
        """Return whether a file of tests was seen as it is now; if so, take that over.

        Of a module that has changed since, a line is run by whom it was run by then, and a new one by whom
        the line before it is: that may miss a test, and never says that a mistake was noticed.
        """
        path = self.path(file)
        told = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        if told.get("key") != key:
            return False
        for module, lines in told["lines"].items():
            if (was := told["sources"][module]) != _named(sources.get(module, "")):
                old = (self.folder / "sources" / was).read_text(encoding="utf-8")
                told["lines"][module] = _moved(lines, old, sources.get(module, ""))
        self.add(told)
        return True

    def keep(self, file: str, key: str, told: dict[str, Any], sources: dict[str, str]) -> None:
        """Write down what a file of tests runs, and take it over."""
        (self.folder / "sources").mkdir(parents=True, exist_ok=True)
        names = {module: _named(sources[module]) for module in told["lines"]}
        for module, name in names.items():
            (self.folder / "sources" / name).write_text(sources[module], encoding="utf-8")
        kept = {"key": key, "sources": names, **told}
        self.path(file).write_text(json.dumps(kept), encoding="utf-8")
        self.add(told)

    def path(self, file: str) -> Path:
        return self.folder / f"{file.replace('/', '.')}.json"

    def add(self, told: dict[str, Any]) -> None:
        self.seconds |= told["seconds"]
        self.sound |= set(told["sound"])
        for module, lines in told["lines"].items():
            held = self.lines.setdefault(module, {})
            for line, tests in lines.items():
                held.setdefault(int(line), set()).update(told["sets"][tests])

    def of(
        self, mutant: Mutant, source: bytes, files: Iterable[str], callers: Iterable[str] = ()
    ) -> list[str]:
        """Return the tests of some files that can notice a mutant, the quickest first.

        Those are the tests that run its statement. A statement of a module or class is run by no test: there
        it is all that run the function whose head it is, or else anything of the module. Where no test is
        seen to run it, it is those that start processes, and of compiled kernels all that call them, or run
        anything of the modules that do, or else all.
        """
        lines = self.lines.get(mutant.module, {})
        inside = {test for test in self.seconds if test.partition("::")[0] in set(files)}
        found: set[str] = set()
        for first, last in spans(source, mutant.line):
            found = set().union(*(lines.get(line, ()) for line in range(first, last + 1))) & inside
            if found:
                break
        if not found and is_compiled(mutant.module):
            calling = [tests for name in callers for line, tests in self.lines.get(name, {}).items() if line]
            calling += [{test for test in inside if test.partition("::")[0] in set(callers)}]
            found = set().union(*calling) & inside or inside
        if not found:
            found = inside & lines.get(0, set())
        return sorted(found, key=lambda test: (self.seconds[test], test))


def is_compiled(module: str) -> bool:
    """Return whether a module holds compiled kernels: one that is called so, or one of a package of them."""
    return "_kernels" in Path(module).with_suffix("").parts


def spans(source: bytes, line: int) -> list[tuple[int, int]]:
    """Return the lines of the statement of a line, or, where importing runs it, of what lies around it."""
    tree = ast.parse(source)
    statements = (node for node in ast.walk(tree) if isinstance(node, ast.stmt))
    around = [one for one in statements if one.lineno <= line <= (one.end_lineno or one.lineno)]
    around.sort(key=lambda one: (one.lineno, one.col_offset))
    inner = around[-1]
    body = getattr(inner, "body", None)
    last = inner.end_lineno or inner.lineno
    head = (inner.lineno, max(body[0].lineno - 1, inner.lineno) if body else last)
    if isinstance(inner, ast.FunctionDef):
        # Its head is run by whoever imports it first, which says nothing of who notices.
        return [(inner.body[0].lineno, last), head]
    if any(isinstance(node, ast.FunctionDef) for node in around):
        return [head]
    return [(1, len(source.splitlines()))]


def _named(source: str) -> str:
    return hashlib.sha256(source.encode()).hexdigest()[:20]


def _moved(lines: dict[str, int], old: str, new: str) -> dict[str, int]:
    """Return what is known of the lines of a module, of those of the module as it is now.

    >>> _moved({"0": 9, "1": 5, "3": 6}, "a\\nb\\nc", "a\\nd\\nb\\nb\\nc\\ne")
    {'0': 9, '1': 5, '2': 5, '3': 5, '5': 6, '6': 6}
    """
    matching = SequenceMatcher(None, old.splitlines(), new.splitlines(), autojunk=False)
    moved = {"0": lines["0"]} if "0" in lines else {}
    for kind, start, stop, first, last in matching.get_opcodes():
        for at in range(first, last):
            was = start + at - first if kind == "equal" else min(start + at - first, stop - 1)
            told = lines.get(str(was + 1))
            if told is None and kind != "equal":
                told = moved.get(str(at))
            if told is not None:
                moved[str(at + 1)] = told
    return moved


def digest(paths: Iterable[Path]) -> str:
    """Return what changes with any of some files."""
    return hashlib.sha256(b"\0".join(path.read_bytes() for path in sorted(paths))).hexdigest()


class Trace:
    """A plugin of pytest: sees which lines of some modules each test runs, and for how long."""

    def __init__(self, root: Path, package: Path, modules: Iterable[str]) -> None:
        self.root, self.package, self.modules = str(root), package, tuple(modules)
        include = [str(package / module) for module in self.modules]
        self.coverage = Coverage(data_file=None, config_file=False, include=include, messages=False)
        self.open = [""]
        self.numbers = count()
        self.uses: dict[str, set[str]] = defaultdict(set)
        self.tests: list[str] = []
        self.spent: dict[str, float] = {}
        self.inner = [0.0]
        self.failed: set[str] = set()
        self.starting: set[str] = set()

    @contextmanager
    def running(self) -> Iterator[None]:
        """See everything that is run from here on, also through caches."""
        functools.cached_property = self.shared_property()  # type: ignore[misc,assignment]
        functools.lru_cache = self.shared_function()  # type: ignore[assignment]
        sys.addaudithook(lambda event, _: self.starting.add(self.open[-1]) if event in STARTING else None)
        self.coverage.start()
        yield
        self.coverage.stop()

    @contextmanager
    def within(self, name: str) -> Iterator[None]:
        """Count what is run for one test, or for one thing that tests share."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        began = _spent()
        self.open.append(name)
        self.inner.append(0.0)
        self.coverage.switch_context(name)
        try:
            yield
        finally:
            self.open.pop()
            self.coverage.switch_context(self.open[-1])
            took = _spent() - began
            self.spent[name] = took - self.inner.pop()
            self.inner[-1] += took

    def shared_property(self) -> type[property]:
        """Return a kind of property that is computed once, for all that ask for it."""
        trace, cached = self, functools.cached_property

        class Shared(property):
            def __new__(cls, function: Callable[[Any], Any]) -> Any:
                return super().__new__(cls) if trace.own(function) else cached(function)

            def __init__(self, function: Callable[[Any], Any]) -> None:
                super().__init__(lambda instance: trace.asked(function, instance))
                self.func = function

        return Shared

    def asked(self, function: Callable[[Any], Any], instance: Any) -> Any:
        """Return the value of such a property, which whoever asks for it uses from now on."""
        kept, own = instance.__dict__, function.__name__
        if own not in kept:
            kept[f" {own}"] = f"{function.__qualname__} {next(self.numbers)}"
            with self.within(kept[f" {own}"]):
                kept[own] = function(instance)
        # What somebody put there by hand is nobody's.
        if f" {own}" in kept:
            self.uses[self.open[-1]].add(kept[f" {own}"])
        return kept[own]

    def shared_function(self) -> Callable[..., Any]:
        """Return a decorator of functions that are called once for all that ask for the same."""
        cached = functools.lru_cache

        def decorate(*given: Any, **named: Any) -> Any:
            if given and callable(given[0]):
                return decorate()(given[0])
            return lambda function: self.kept(function, cached(*given, **named))

        return decorate

    def kept(self, function: Any, cached: Callable[..., Any]) -> Any:
        """Return such a function, whose results whoever asks for them uses from now on."""
        if not self.own(function):
            return cached(function)

        @cached
        def first(*given: Any, **named: Any) -> tuple[str, Any]:
            name = f"{function.__qualname__} {next(self.numbers)}"
            with self.within(name):
                return name, function(*given, **named)

        @functools.wraps(function)
        def asked(*given: Any, **named: Any) -> Any:
            name, value = first(*given, **named)
            self.uses[self.open[-1]].add(name)
            return value

        return asked

    def own(self, function: Any) -> bool:
        """Return whether a function is one of the project."""
        homes = (f"{self.root}/src", f"{self.root}/tests", str(self.package))
        code = getattr(function, "__code__", None)
        return code is not None and code.co_filename.startswith(homes)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """See what a test runs, and what of it others run as well."""
        self.tests.append(item.nodeid)
        with self.within(item.nodeid):
            told = yield
        info = getattr(item, "_fixtureinfo", None)
        shared = info.name2fixturedefs.values() if info else ()
        self.uses[item.nodeid] |= {_name(fixture) for fixtures in shared for fixture in fixtures}
        return told

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any) -> Generator[None, object, object]:
        """See what is run once for several tests."""
        with nullcontext() if fixturedef.scope == "function" else self.within(_name(fixturedef)):
            return (yield)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep the tests that fail."""
        if report.failed:
            self.failed.add(report.nodeid)

    def told(self) -> dict[str, dict[str, Any]]:
        """Return what was seen, file of tests by file."""
        used = {test: self.used(test) for test in self.tests}
        users: dict[str, set[str]] = defaultdict(set)
        for test, names in used.items():
            for name in names:
                users[name].add(test)
        reached = {module: self.reached(module, users) for module in self.modules}
        files = dict.fromkeys(test.partition("::")[0] for test in self.tests)
        return {file: self.told_of(file, used, reached) for file in files}

    def reached(self, module: str, users: dict[str, set[str]]) -> dict[int, set[str]]:
        """Return by whom each line of a module is run; those of no line start processes."""
        seen = self.coverage.get_data().contexts_by_lineno(str(self.package / module))
        lines = {0: self.starting, **seen}
        return {line: set().union(*(users[name] for name in names)) for line, names in lines.items()}

    def told_of(
        self, file: str, used: dict[str, set[str]], reached: dict[str, dict[int, set[str]]]
    ) -> dict[str, Any]:
        """Return what was seen of one file; lines that the same tests run share one list of them."""
        own = {test for test in used if test.partition("::")[0] == file}
        sets: dict[tuple[str, ...], int] = {}
        lines: dict[str, dict[int, int]] = {}
        for module, seen in reached.items():
            for line, everybody in seen.items():
                if tests := tuple(sorted(everybody & own)):
                    lines.setdefault(module, {})[line] = sets.setdefault(tests, len(sets))
        # Whoever runs alone runs what is shared as well.
        seconds = {test: round(sum(self.spent.get(one, 0.0) for one in used[test]), 3) for test in own}
        sound = sorted(own - self.failed)
        return {"seconds": seconds, "sound": sound, "sets": list(sets), "lines": lines}

    def used(self, test: str) -> set[str]:
        """Return a test and all that it uses, through one another."""
        found, waiting = {test}, [test]
        while waiting:
            more = self.uses[waiting.pop()] - found
            found |= more
            waiting += more
        return found


def _name(fixture: Any) -> str:
    return f"fixture {fixture.baseid}::{fixture.argname}"


def _spent() -> float:
    """Return the seconds of a processor that this process and those it started have taken."""
    spent = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in spent)
