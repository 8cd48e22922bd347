"""The survey's other methods on trajectories: what each costs for many people, and for ten times as many."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.lines import Line
from benchmarks.measuring import calls, trajectory_task

MOST, TIMES = 60.0, 12
"""CPU seconds for 10,000 people, and how often as many for ten times the people."""
SIZES = {10_000: MOST, 100_000: TIMES * MOST}
WIDE = {"k": 5, "cell": 1000, "interval": 14400, "withheld": 0.3}
"""Calls are hours apart: fewer would share narrower cells and slots."""
METHODS: tuple[tuple[str, Mapping[str, Any]], ...] = (
    ("grid", WIDE),
    ("grid", {**WIDE, "partition": "individual"}),
    ("grid", {**WIDE, "partition": "irregular"}),
    ("grid", {"k": 5, "cells": "h3", "interval": 14400, "withheld": 0.3}),
    ("k-m", {"k": 5, "m": 2, "cell": 1000, "interval": 86400}),
    ("mix-zones", {"k": 5, "width": 5000, "longest": 28800}),
    ("dummies", {}),
    ("safepath", {"epsilon": 1}),
    ("dptd", {"epsilon": 1}),
    ("dptd", {"epsilon": 1, "variant": "published"}),
    ("adatrace", {"epsilon": 1}),
    ("locations", {"epsilon": 1}),
)


def survey(
    folder: Path,
    sizes: Mapping[int, float] = SIZES,
    methods: Sequence[tuple[str, Mapping[str, Any]]] = METHODS,
) -> Iterator[Line]:
    """Yield the CPU seconds of every method on made-up calls, 144 of everybody, against their limits."""
    for method, options in methods:
        for users, limit in sizes.items():
            found = trajectory_task("solve", str(calls(folder, users)), method, json.dumps(options)).json()
            told = ", ".join(f"{name} {value}" for name, value in options.items())
            what = f"{method}, {found['users']:,} people, {told or 'as it comes'}"
            remark = f"{found['samples']:,} samples; {found['released']:,} released"
            yield Line(what, found["cpu_s"], limit, "CPU s", found["peak_mb"], remark)
