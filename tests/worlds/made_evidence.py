"""Evidence for rules of the audit of flows: a few rows in memory, where a release would hold many files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import duckdb

from tripcloak.flows.audit.evidence import FlowEvidence, column_names
from tripcloak.flows.audit.promise import AuditRequest, StatedPromise, read_promise

PEOPLE = {"kind": "k-anonymity", "k": 3, "unit": "travellers", "id_is": "person"}
TRIPS = {"kind": "k-anonymity", "k": 3, "unit": "trips"}
WEIGHTS = {"kind": "k-anonymity", "k": 3, "unit": "population"}


def stated(promise: Mapping[str, Any], **facts: Any) -> StatedPromise:
    """Return a promise as a manifest would state it."""
    told = {"promise": promise, "homogeneous": True, "hierarchy": {"spec": "h3:9"}, "volume": "trips"}
    return read_promise({**told, "parameters": {"suppression_limit": 0.1}, **facts})


@cache
def _engine() -> duckdb.DuckDBPyConnection:
    """Return one engine for all: temporary tables are those of its cursors."""
    return duckdb.connect(config={"threads": 1})


class MadeEvidence:
    """Stands in for the evidence of a folder: tables by name, each a list of rows under named columns."""

    keep, value, rows, arrays = FlowEvidence.keep, FlowEvidence.value, FlowEvidence.rows, FlowEvidence.arrays
    columns, thresholds = FlowEvidence.columns, FlowEvidence.thresholds
    ordered = FlowEvidence.ordered

    def __init__(
        self,
        promise: StatedPromise,
        order: AuditRequest | None = None,
        facts: Mapping[str, Any] | None = None,
    ) -> None:
        self.con = _engine().cursor()
        self.promise, self.request, self.facts = promise, order or AuditRequest(), dict(facts or {})
        self._tables: dict[str, tuple[str, ...]] = {}
        self.loaded: list[str] = []

    def load(self, part: str) -> None:
        self.loaded.append(part)

    def table(self, name: str, columns: str, rows: Sequence[Sequence[Any]]) -> MadeEvidence:
        """Add a table; columns are given with their types, as in SQL."""
        self.con.execute(f"create or replace temp table {name} ({columns})")
        if rows:
            self.con.executemany(f"insert into {name} values ({', '.join('?' * len(rows[0]))})", rows)
        self._tables[name] = column_names(self.con, name)
        return self


def made(
    promise: Mapping[str, Any] = PEOPLE, order: AuditRequest | None = None, facts: Any = None, **stating: Any
) -> Any:
    return MadeEvidence(stated(promise, **stating), order, facts)


FLOWS = "origin varchar, destination varchar, trips bigint, travellers bigint"
RECOUNT = (
    "pair bigint, origin varchar, destination varchar, trips bigint, travellers bigint, population double"
)


def released(case: Any, flows: Sequence[Sequence[Any]], withheld: tuple[int, int] = (0, 0)) -> Any:
    """Give a case flows of origin, destination, trips and travellers, whose recount is what they tell."""
    case.table("audit_flows", FLOWS, flows)
    rows = [(at, *flow, float(flow[2])) for at, flow in enumerate(flows, start=1)]
    return case.table("audit_recount", RECOUNT, [(0, None, None, *withheld, float(withheld[0])), *rows])
