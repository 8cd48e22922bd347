"""What holds for every test: Hypothesis' profiles, shared fixtures, and a collector of garbage kept short."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Generator

import pytest
from hypothesis import HealthCheck, settings

from worlds.depth import DEEP, EXAMPLES, PROFILE, deeper

pytest_plugins = ["worlds.requests", "worlds.browser"]

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


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let properties that ask for a number of examples of their own ask for more in a deep run."""
    properties = {getattr(item, "obj", None) for item in items} if DEEP else set()
    for function in properties:
        # As Hypothesis' own plugin finds them.
        own = getattr(function, "_hypothesis_internal_use_settings", None)
        if own is not None and own.max_examples < EXAMPLES[PROFILE] // 5:
            more = settings(own, max_examples=deeper(own.max_examples))
            function._hypothesis_internal_use_settings = more  # type: ignore[union-attr]


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
