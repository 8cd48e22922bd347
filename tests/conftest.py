"""What holds for every test: Hypothesis' profiles, shared fixtures, and a collector of garbage kept short."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Generator

import pytest
from hypothesis import HealthCheck, settings

from worlds.depth import ALL_CASES, DEEP, EXAMPLES, PROFILE, deeper

pytest_plugins = ["worlds.requests", "worlds.browser", "worlds.spark"]

# Of several processes of tests each keeps to a processor of its own: engines that would split every tiny
# query among all of them spend a quarter of the whole run on that.
if (worker := os.environ.get("PYTEST_XDIST_WORKER")) and hasattr(os, "sched_setaffinity"):
    ours = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {ours[int(worker.removeprefix("gw")) % len(ours)]})
if worker and sys.platform != "win32":
    from worlds.compiling import compile_in_turn

    compile_in_turn()

QUICK_ENOUGH = [HealthCheck.too_slow, HealthCheck.data_too_large]

# The same examples on every run, or (HYPOTHESIS_PROFILE=explore) many more, drawn anew on every run.
for profile, number in EXAMPLES.items():
    settings.register_profile(
        profile,
        deadline=None,
        derandomize=profile == "repeatable",
        max_examples=number,
        suppress_health_check=QUICK_ENOUGH,
    )
settings.load_profile(PROFILE)


def pytest_configure(config: pytest.Config) -> None:
    """Declare the mark of tests whose cases are much alike."""
    config.addinivalue_line("markers", "one_in(n): only every n-th case is run, all of them in a deep run")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave to deep runs what is marked so; let properties ask for more examples there; put Spark first."""
    left = [] if ALL_CASES else left_to_deep_runs(items)
    if left:
        config.hook.pytest_deselected(items=left)
        items[:] = [item for item in items if item not in set(left)]
    # First, and so all in one of several processes of tests: each would start a Spark of its own.
    items.sort(key=lambda item: "spark" not in getattr(item, "fixturenames", ()))
    properties = {getattr(item, "obj", None) for item in items} if DEEP else set()
    for function in properties:
        # As Hypothesis' own plugin finds them.
        own = getattr(function, "_hypothesis_internal_use_settings", None)
        if own is not None and own.max_examples < EXAMPLES[PROFILE] // 5:
            more = settings(own, max_examples=deeper(own.max_examples))
            function._hypothesis_internal_use_settings = more  # type: ignore[union-attr]


def left_to_deep_runs(items: list[pytest.Item]) -> list[pytest.Item]:
    """Return the cases that are not run on every change: of those of a marked test all but every n-th."""
    cases: dict[tuple[object, ...], list[pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker("one_in"):
            cases.setdefault((item.path, getattr(item, "originalname", item.name)), []).append(item)
    left = []
    for of_one in cases.values():
        (number,) = of_one[0].get_closest_marker("one_in").args  # type: ignore[union-attr]
        left += [item for place, item in enumerate(of_one) if place % number]
    return left


def pytest_report_collectionfinish() -> str | None:
    """Say why cases are deselected."""
    return None if ALL_CASES else "of cases much alike every second or third is run, all by `make test-deep`"


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Set aside for good what importing every module has left in memory.

    That is nearly half a million objects, none of them garbage. Walking them again and again took a fifth of
    the whole run.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.enable()


def pytest_unconfigure() -> None:
    """Take them back: libraries count what is left of them when Python ends, and complain."""
    gc.unfreeze()
