"""Text tables that a spreadsheet opens without running what stands in them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

FORMULA = r"^'*[=+\-@\t\r\n＝＋－＠]"
"""How a text begins that a spreadsheet takes for a formula, or that was guarded against that already."""


def write_csv(table: pa.Table, path: Path) -> None:
    """Write a table as comma-separated text, with an apostrophe before what would be run as a formula.

    A spreadsheet then shows the text and runs nothing. Taking one apostrophe away where a text begins with
    some and then one of ``=``, ``+``, ``-``, ``@``, tab or a line break gives back every text as it was.

    Examples
    --------
    >>> import pyarrow as pa, tempfile
    >>> path = Path(tempfile.mkdtemp(), "flows.csv")
    >>> write_csv(pa.table({"origin": ["=1+1", "'=1+1", "a-b"], "trips": [10, 11, 12]}), path)
    >>> print(path.read_text())
    "origin","trips"
    "'=1+1",10
    "''=1+1",11
    "a-b",12
    <BLANKLINE>
    """
    import pyarrow as pa
    from pyarrow import compute, csv

    for place, field in enumerate(table.schema):
        if pa.types.is_string(field.type):
            texts = table.column(place)
            risky = compute.match_substring_regex(texts, FORMULA)
            if compute.any(risky).as_py():
                guarded = compute.binary_join_element_wise("'", texts, "")
                table = table.set_column(place, field, compute.if_else(risky, guarded, texts))
    csv.write_csv(table, path, csv.WriteOptions(quoting_style="needed"))
