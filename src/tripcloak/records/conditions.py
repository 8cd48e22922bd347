"""A condition on rows: one test of columns, and nothing that reads elsewhere."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from tripcloak.ground.documents import parse_json
from tripcloak.ground.errors import InputError
from tripcloak.ground.spelling import spelt

if TYPE_CHECKING:
    import duckdb

_QUERY = "SELECT 1 FROM records WHERE ({}\n)"
_PLACES = ("query_location", "query_location_length")
_DEEPEST = 300
_FOREIGN = {
    "SUBQUERY": "holds a query of its own",
    "WINDOW": "looks at other rows",
}


def check_condition(con: duckdb.DuckDBPyConnection, where: str) -> None:
    """Raise if a text is anything but one SQL condition on columns.

    It is the engine's own parser that says what a text is. A condition may stand in the private record of
    a release, which somebody else may have written, so it must not reach other files or tables.

    Examples
    --------
    >>> import duckdb
    >>> with duckdb.connect() as con:
    ...     check_condition(con, "city = 'Paris' and try_cast(age as double) > 30")
    ...     check_condition(con, "city in (select name from 'cities.csv')")
    Traceback (most recent call last):
    ...
    tripcloak.InputError: the condition given with where=... holds a query of its own; it must be one test...
    """
    wrong = _what_is_wrong(con, where)
    if wrong:
        raise InputError(
            f"the condition given with {spelt('where')} {wrong}; it must be one test of columns of the input "
            "and can read no other file or table: put what it needs into a column of the input first"
        )


def _what_is_wrong(con: duckdb.DuckDBPyConnection, where: str) -> str | None:
    if not isinstance(where, str):
        return "is not text"
    if not where.strip():
        return "is empty"
    found, plain = _parsed(con, where), _parsed(con, "true")
    # Nothing but a remark leaves a pair of brackets with nothing between.
    nothing = found is not None and found.condition.get("function_name") == "row"
    if found is None or plain is None or nothing or found.query != plain.query:
        return "is not one SQL condition"
    kinds = {str(node.get("class")) for node in _nodes(found.condition)}
    return next((words for kind, words in _FOREIGN.items() if kind in kinds), None)


class _Parsed(NamedTuple):
    """A query, and the condition taken out of it."""

    query: Any
    condition: Any


def _parsed(con: duckdb.DuckDBPyConnection, where: str) -> _Parsed | None:
    """Return the query around a condition as the engine understands it; None where it understands none."""
    ((text,),) = con.execute("SELECT json_serialize_sql(?::VARCHAR)", [_QUERY.format(where)]).fetchall()
    try:
        tree = parse_json(text, deepest=_DEEPEST)
    except ValueError:
        return None
    statements = tree.get("statements") or []
    if tree.get("error") or len(statements) != 1 or statements[0]["node"]["type"] != "SELECT_NODE":
        return None
    condition = statements[0]["node"].pop("where_clause")
    for node in _nodes(tree):
        for place in _PLACES:
            node.pop(place, None)
    return _Parsed(tree, condition)


def _nodes(tree: Any) -> Iterable[dict[str, Any]]:
    """Yield every node of a tree, step by step: it may be deep."""
    left = [tree]
    while left:
        one = left.pop()
        if isinstance(one, dict):
            yield one
            left.extend(one.values())
        elif isinstance(one, list):
            left.extend(one)
