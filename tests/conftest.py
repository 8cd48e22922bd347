"""What holds for every test: Hypothesis' profiles, shared fixtures, and a collector of garbage kept short."""

from __future__ import annotations

import gc
import os
from collections.abc import Generator

import pytest
from hypothesis import HealthCheck, settings

pytest_plugins = ["worlds.requests", "worlds.browser"]

QUICK_ENOUGH = [HealthCheck.too_slow, HealthCheck.data_too_large]

settings.register_profile(
    "repeatable", deadline=None, derandomize=True, max_examples=60, suppress_health_check=QUICK_ENOUGH
)
# HYPOTHESIS_PROFILE=explore pytest ... searches anew on every run.
settings.register_profile("explore", deadline=None, max_examples=2000, suppress_health_check=QUICK_ENOUGH)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))


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
