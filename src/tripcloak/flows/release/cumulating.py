"""Cumulative numbers of a series: sums of what its periods published, and of nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tripcloak.flows.release.naming import NAMES
from tripcloak.flows.release.tables import POINTS
from tripcloak.ground.errors import InputError
from tripcloak.ground.manifest import public_part
from tripcloak.ground.spelling import called, spelt

if TYPE_CHECKING:
    import pyarrow as pa

CUMULATIVE = ("cumulative.csv", "cumulative.parquet")
"""The public files of a series that add its periods up."""


def cumulative_table(folders: Mapping[str, Path]) -> pa.Table:
    """Return every flow's numbers from the first period until each of them, added up.

    They are sums of published numbers, so that they tell nothing that these do not. A flow that was withheld
    in a period is missing in its sums: ``periods`` says how many periods are in one.

    Parameters
    ----------
    folders
        Period to the folder of its release, or its public part, in the order of time.
    """
    import pyarrow as pa
    from pyarrow import parquet

    places = [public_part(folder).absolute() for folder in folders.values()]
    found = [parquet.read_table(place.absolute() / "flows.parquet") for place in places]
    axes = [name for name in ("time", "origin", "destination") if name in found[0].column_names]
    units = adds_up([name for name in found[0].column_names if name not in (*axes, *POINTS, *NAMES)])
    until: list[pa.Table] = []
    for number, name in enumerate(folders):
        together = pa.concat_tables([one.select([*axes, *units]) for one in found[: number + 1]])
        sums = together.group_by(axes, use_threads=False).aggregate(
            [*((unit, "sum") for unit in units), (units[0], "count")]
        )
        sums = sums.select([*axes, *(f"{unit}_sum" for unit in units), f"{units[0]}_count"])
        sums = sums.rename_columns([*axes, *units, "periods"]).sort_by([(axis, "ascending") for axis in axes])
        until.append(sums.add_column(0, "until", pa.array([name] * len(sums), pa.string())))
    return pa.concat_tables(until).combine_chunks()


def adds_up(columns: Sequence[str]) -> list[str]:
    """Return the numbers of flows that may be added up over periods; never travellers, who come again.

    >>> adds_up(["trips", "travellers"])
    ['trips']
    """
    units = [name for name in columns if name != "travellers"]
    if not units:
        raise InputError(
            f"{called('cumulative')} adds up trips, and travellers of one period may travel in the next; "
            f"publish trips as well ({spelt('publish')})"
        )
    return units
