"""Hypothesis profiles: the same examples on every run, or fresh ones to look further."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

pytest_plugins = ["worlds.requests", "worlds.browser"]

QUICK_ENOUGH = [HealthCheck.too_slow, HealthCheck.data_too_large]

settings.register_profile(
    "repeatable", deadline=None, derandomize=True, max_examples=60, suppress_health_check=QUICK_ENOUGH
)
# HYPOTHESIS_PROFILE=explore pytest ... searches anew on every run.
settings.register_profile("explore", deadline=None, max_examples=2000, suppress_health_check=QUICK_ENOUGH)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))
