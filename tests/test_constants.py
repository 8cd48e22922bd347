"""Numbers that promises, releases and auditors are held to: changed on purpose, and then here too.

Other tests take most of them from the module, so that they would follow any mistake.
"""

from __future__ import annotations

import ast
from datetime import datetime
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

MONDAY = datetime(1969, 12, 29)
LINES: dict[str, dict[str, Any]] = {
    "ground.manifest": {"FORMAT": 3, "READ_BY": {1: "0.1", 2: "0.2"}, "DEEPEST": 16},
    "ground.masking": {"FEW": 10},
    # What Linux calls the folder that paths begin in, and the wish to exchange two of them.
    "ground.moving": {"_HERE": -100, "_EXCHANGE": 2},
    "promises.dominance": {"MOST": 1_000_000},
    "promises.hidden": {"MOST_TIMES": 10},
    "promises.ldiversity": {"MOST": 2_147_483_648},
    "flows.release._kernels": {"_HALF": 32},
    "flows.release.bricks": {"NONE": -1},
    "flows.release.largest": {"ENOUGH": 20},
    "flows.release.laying": {"PARTS": 3},
    "hierarchy.place_names": {"MOST_TOWNS": 40},
    "flows.release.rounding": {"MOST": 1_000_000},
    "flows.release.tables": {"POINT_DIGITS": 7},
    "flows.release.withheld": {"LADDER": (1, 2, 5, 10, 20, 50), "_HAIR": Fraction("1e-12")},
    "flows.audit.areas": {
        "_AXIS_KM": 6378.137,
        "_FLATTENING": 1 / 298.257223563,
        "_E2": 0.0066943799901413165,
    },
    "flows.audit.box_grid": {
        "STEPS": tuple(int(f"{digit}{'0' * power}") for power in range(1, 9) for digit in (1, 2, 5)),
        "FILE_STEP": 1000,
        "WIDTH_IN_TILES": 3,
        "ENOUGH": 3,
        "LIMITS": (90_000_000, 180_000_000),
    },
    "flows.audit.boxes": {"MICRO": 1_000_000, "RADIUS_KM": 6371.0072, "SLACK": 1e-6, "DEGREES": 1e-8},
    "flows.audit.calendar": {
        "HOUR": 60,
        "PART": 360,
        "DAY": 1440,
        "WEEK": 10_080,
        "FOLDS": {"day": 1440, "week": 10_080, "2weeks": 20_160},
        "_FIRST": {"day": datetime(1970, 1, 1), "week": MONDAY, "2weeks": MONDAY},
    },
    "flows.audit.cells": {"UNIONS": {"06": 1, "23": 1, "45": 1, "145": 2, "0236": 2}, "STEPS": 3},
    "flows.audit.centres": {"ROUNDING": 0.00501},
    "flows.audit.matrix.tables": {"EVERYWHERE": -1},
    "flows.audit.noise": {
        "GOLDEN": 0x9E3779B97F4A7C15,
        "BITS": 0xFFFFFFFFFFFFFFFF,
        "TRIALS": 6,
        "WELL_ABOVE": 4,
    },
    "flows.audit.outlines": {"FARTHEST": 7, "PIECES": (16, 10, 6, 4, 2)},
    "flows.audit.raw": {"WITHHELD": 0},
    "flows.audit.rules.counted": {"OVERLAP_SECONDS": 600, "OVERLAPPING": 0.25},
    "flows.audit.totals": {"PARTS": 3},
    "trajectories.release.degrees": {
        "DECIMALS": 6,
        "LATTICE": 65,
        "STRIDES": 16,
        "LEAST": 100_000.0,
        "POLAR": 80.0,
    },
    "trajectories.release.guess": {"TRIED": 1000, "MANY": 100, "BAND": 10},
    "trajectories.release.published": {"DIGITS": 16},
    "trajectories.release.writing": {"MOST": 200_000},
    "trajectories.audit.evidence": {"MICRO": 1_000_000},
    "trajectories.audit.promise": {"LARGE": 9_007_199_254_740_992},
    "trajectories.audit.rules.manifest": {
        "LONG": 30,
        "MANY": 16,
        "TRIED": 1000,
        "FEW": 10,
        "BAND": 10,
        "HUNDRED": 100,
        "ENOUGH": 10,
    },
}


@pytest.mark.parametrize("name", LINES)
def test_numbers_are_those_that_were_decided(name: str) -> None:
    module = import_module(f"tripcloak.{name}")
    found = {constant: getattr(module, constant) for constant in LINES[name]}
    assert found == LINES[name]
    # Set once more, as importing does, so that whoever looks sees which test runs these lines.
    again = dict(vars(module))
    exec(compile(_assignments(module, set(LINES[name])), str(module.__file__), "exec"), again)
    assert {constant: again[constant] for constant in LINES[name]} == LINES[name]


def _assignments(module: Any, names: set[str]) -> ast.Module:
    """Return the statements of a module that set these names."""
    tree = ast.parse(Path(module.__file__).read_text(encoding="utf-8"))
    tree.body = [one for one in tree.body if _set_by(one) & names]
    return tree


def _set_by(statement: ast.stmt) -> set[str]:
    if not isinstance(statement, ast.Assign | ast.AnnAssign):
        return set()
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    return {node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)}
