"""Cell suppression and audit by G-Confid (Statistics Canada), run by the Python of its own environment.

python suppression_tasks.py suppress FLOWS.csv LEVELS K   # what it would publish of the true tables
python suppression_tasks.py audit FLOWS.csv LEVELS K      # what it can solve for in tables laid of bricks
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

import gconfid
import numpy as np
import pandas as pd


def main(task: str, path: str, levels: int, k: int) -> dict[str, float]:
    """Return what a task finds in the flows of a file."""
    flows = pd.read_csv(path, dtype={"origin": str, "destination": str})
    return {"suppress": suppress, "audit": audit}[task](flows, levels, k)


def suppress(flows: pd.DataFrame, levels: int, k: int) -> dict[str, float]:
    """Return how many cells are left when no small one can be solved for, and how many small ones are safe.

    Least is asked of it: that a small cell is not known exactly.
    """
    cells = true_cells(flows, levels)
    trips = np.concatenate([flows["trips"], cells.groupby("cell")["trips"].sum()])
    small = trips < k
    incell = pd.DataFrame(
        {
            "CellId": np.arange(1.0, len(trips) + 1),
            "TotalNoise": trips.astype(float),
            "Sensitivity": np.where(small, 1.0, 0.0),
            "Status": np.where(small, "S", "V"),
            "Type": "C",
        }
    )
    constraints = _constraints(cells["cell"].to_numpy(), cells["flow"].to_numpy(), len(flows))
    started = time.process_time()
    asked = gconfid.Suppression(
        incell=incell,
        inconstraint=constraints,
        outsuppress="pandas",
        cost_function1="Constant",
        cost_function2="Constant",
        trace=False,
    )
    spent = time.process_time() - started
    found = asked.outsuppress.sort_values("CellId")
    told = _audited(found.drop(columns="NetVariation"), constraints)
    return {
        "cpu_s": spent,
        "cells": len(trips),
        "small": int(small.sum()),
        "published": int((found["OutStatus"] == "P").sum()),
        "protected": _protected(told, k),
    }


def audit(flows: pd.DataFrame, levels: int, k: int) -> dict[str, float]:
    """Return how many small cells of the true tables cannot be solved for from the tables of the file."""
    cells = true_cells(flows, levels)
    sizes = cells.groupby("cell")["trips"].sum()
    few = sizes.index[sizes < k]
    small = cells[cells["cell"].isin(few)]
    number = {cell: at for at, cell in enumerate(few)}
    member = [small["cell"].map(number).to_numpy()]
    flow = [small["flow"].to_numpy()]
    trips = [flows["trips"].to_numpy(), sizes[few].to_numpy()]
    status = [np.where(flows["released"] > 0, "P", "X"), np.full(len(few), "X")]
    for name in [name for name in flows if name.startswith("table")]:
        counted = np.flatnonzero(flows[name] > 0)
        of_cell = flows[name].to_numpy()[counted] - 1
        sums = np.bincount(of_cell, flows["trips"].to_numpy()[counted])
        member.append(of_cell + sum(len(one) for one in trips[1:]))
        flow.append(counted)
        trips.append(sums)
        status.append(np.full(len(sums), "P"))
    every = np.concatenate(trips).astype(float)
    incell = pd.DataFrame(
        {
            "CellId": np.arange(1.0, len(every) + 1),
            "TotalNoise": every,
            "Sensitivity": np.where(every < k, 1.0, 0.0),
            "OutStatus": np.concatenate(status),
        }
    )
    started = time.process_time()
    told = _audited(incell, _constraints(np.concatenate(member), np.concatenate(flow), len(flows)))
    return {"cpu_s": time.process_time() - started, "protected": _protected(told, k), "solved": _solved(told)}


def true_cells(flows: pd.DataFrame, levels: int) -> pd.DataFrame:
    """Return the cell of every flow in each table: a row a flow and table, cells numbered from 0."""
    depth = len(flows["origin"].iloc[0]) - 1
    sides = {
        side: [flows[side].str[: 1 + depth - level] for level in range(levels + 1)]
        for side in ("origin", "destination")
    }
    nowhere = pd.Series("", index=flows.index)
    tables = [*((one, nowhere) for one in sides["origin"]), *((nowhere, one) for one in sides["destination"])]
    tables += [(sides["origin"][level], sides["destination"][level]) for level in range(1, levels + 1)]
    tables.append((nowhere, nowhere))
    parts = [
        pd.DataFrame({"table": at, "o": o, "d": d, "flow": flows.index, "trips": flows["trips"]})
        for at, (o, d) in enumerate(tables)
    ]
    every = pd.concat(parts, ignore_index=True)
    every["cell"] = every.groupby(["table", "o", "d"]).ngroup()
    return every[["cell", "flow", "trips"]]


def _constraints(cell: Any, flow: Any, first: int) -> pd.DataFrame:
    """Return that the flows of a cell add up to it; cells are numbered after the flows."""
    cells = np.unique(cell)
    return pd.DataFrame(
        {
            "ConstraintId": np.concatenate([cell, cells]) + 1.0,
            "CellId": np.concatenate([flow, cells + first]) + 1.0,
            "Coefficient": np.concatenate([np.ones(len(cell), int), -np.ones(len(cells), int)]),
        }
    )


def _audited(incell: pd.DataFrame, constraints: pd.DataFrame) -> pd.DataFrame:
    """Return the least and the greatest value of every cell that is not published.

    G-Confid 2.0.4 looks at nothing where no sum has exactly two such cells, so that such a pair is added.
    """
    cell, constraint = incell["CellId"].max() + 1, constraints["ConstraintId"].max() + 1
    two = incell.iloc[:2].assign(CellId=[cell, cell + 1], TotalNoise=1.0, Sensitivity=1.0, OutStatus="X")
    pair = pd.DataFrame({"ConstraintId": constraint, "CellId": two["CellId"], "Coefficient": [1, -1]})
    asked = gconfid.Auditing(
        incell=pd.concat([incell, two], ignore_index=True),
        inconstraint=pd.concat([constraints, pair], ignore_index=True),
        outaudit="pandas",
        lb_factor=0.0,
        ub_factor=2.0,
        trace=False,
    )
    return asked.outaudit[asked.outaudit["CellId"] < cell]


def _solved(told: pd.DataFrame) -> int:
    return int((told["MaxMinusMin"] < 1e-5).sum())


def _protected(told: pd.DataFrame, k: int) -> int:
    return int(((told["TotalNoise"] < k) & (told["MaxMinusMin"] >= 1e-5)).sum())


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))))
