"""Which segment a raw record belongs to, told in SQL of the auditor's own."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tripcloak.audit.rulebook import BrokenPart
from tripcloak.errors import InputError


def segment_sql(by: Sequence[str], columns: Sequence[str]) -> str:
    """Return SQL for the name of every record's segment.

    Parameters
    ----------
    by
        What parts records: a column each, with the width of bins where it holds numbers.
    columns
        The columns of the view of raw records, where such a column has the prefix ``attr_``.
    """
    parts = []
    for text in by:
        match = re.fullmatch(r"(.+):([1-9][0-9]{0,8})", text)
        column, width = (match[1], int(match[2])) if match else (text, None)
        if f"attr_{column}" not in columns:
            raise InputError(f"the release is parted by {column}, and the raw input was read without it")
        if "'" in column:
            raise BrokenPart("release/manifest.json: a column that parts people must be a plain name")
        value = '"attr_' + column.replace('"', '""') + '"'
        parts.append(f"'{column}=' || {_text(value) if width is None else _bin(value, width)}")
    return " || ', ' || ".join(parts)


def _text(value: str) -> str:
    return (
        f"case when coalesce(trim({value}::varchar), '') = '' then 'unknown' else trim({value}::varchar) end"
    )


def _bin(value: str, width: int) -> str:
    number = f"try_cast({value} as double)"
    low = f"(floor({number} / {width})::bigint * {width})"
    name = f"{low}::varchar" if width == 1 else f"{low} || '-' || ({low} + {width - 1})"
    return f"case when {number} is not null and abs({number}) < 1e15 then {name} else 'unknown' end"
