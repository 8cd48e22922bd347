"""What pytest does while mutants are tried: tests are read once, and run where somebody asks for them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from itertools import zip_longest
from pathlib import Path

import pytest
from hypothesis import Phase, settings

from mutations.recoding import Functions


class Session:
    """A plugin of pytest: reads all tests, and instead of running them leaves them to somebody else."""

    def __init__(self, then: Callable[[], None]) -> None:
        self.then, self.watch = then, Watch()
        self.items: dict[str, list[pytest.Item]] = defaultdict(list)
        self.functions = Functions({})

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Keep the tests by their names, and examples by their files; then have the work done."""
        for item in session.items:
            known = item.nodeid if item.nodeid.startswith("tests/") else str(item.path)
            self.items[known].append(item)
        self.then()
        return True

    def use(self, folder: Path) -> None:
        """Have the tests of this process put their files into a folder."""
        folder.mkdir(parents=True, exist_ok=True)
        some = next(iter(self.items.values()))[0]
        some.config._tmp_path_factory._basetemp = folder  # type: ignore[attr-defined]

    def first_failing(self, tests: list[str], running: Path) -> str:
        """Run tests, whole files too, until one fails; return its name. A file says which one is running."""
        chosen = [item for test in tests for item in self.items.get(test, ())]
        for item, following in zip_longest(chosen, chosen[1:]):
            running.write_text(item.nodeid, encoding="utf-8")
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if self.watch.failed:
                return self.watch.failed
        return ""


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
