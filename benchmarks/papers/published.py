"""The published figures, as printed, with the table and section they stand in.

Thesis: P. Armenante, *A greedy generalization method for anonymizing Origin-Destination matrices*,
master's thesis, Politecnico di Torino, 2025. ATG paper: B. Matet, A. Furno, M. Fiore, E. Côme and
L. Oukhellou, *Adaptative generalisation over a value hierarchy for the k-anonymisation of
Origin-Destination matrices*, Transportation Research Part C 154, 2023, 104236.

A measure that a table does not have is absent here, never guessed. Shares are shares (0.1 for 10 %),
times are seconds.
"""

from __future__ import annotations

from typing import NamedTuple


class Table(NamedTuple):
    """One published table: where it stands, on which data, and its figures by method and measure."""

    source: str
    data: tuple[str, ...]
    figures: dict[str, dict[str, float]]


class Sizes(NamedTuple):
    """What a paper tells about one of its data sets; None where it does not."""

    trips: int
    flows: int
    origins: int | None
    destinations: int | None
    safe_flows: float
    safe_volume: float | None
    remark: str


def _thesis(*rows: str) -> dict[str, dict[str, float]]:
    return {
        row.split()[0]: _figures(("C_DM", "C_AVG", "G_observed", "E", "GDM_mean", "cpu_s"), row)
        for row in rows
    }


def _figures(measures: tuple[str, ...], row: str) -> dict[str, float]:
    """Return the figures of one printed row; a dash stands where the table has none."""
    cells = row.split()[1:]
    return {name: float(cell) for name, cell in zip(measures, cells, strict=True) if cell != "-"}


def _averages(*rows: str) -> dict[str, dict[str, float]]:
    return {row.split()[0]: _figures(("G", "E", "D", "cpu_s", "S"), row) for row in rows}


def _detailed(*rows: str) -> dict[str, dict[str, float]]:
    return {row.split()[0]: _figures(("cpu_s", "G", "E", "E_normalised", "S"), row) for row in rows}


THESIS: dict[str, Table] = {
    "paris": Table(
        "thesis, table 5.2, section 5.1",
        ("paris",),
        _thesis(
            "odkanon  5.4e7 13.2 601.8 1.91 933.9 26.4",
            "atg-soft 1.1e8 46.5 6807.6 1.98 7275.0 29.8",
            "oigh     3.6e7 80.5 6869.0 1.99 7345.8 14.3",
            "mondrian 4.0e5 1.3 - - 351.8 7.2",
        ),
    ),
    "turin": Table(
        "thesis, table 5.3, section 5.1",
        ("turin",),
        _thesis(
            "odkanon  4.1e9 77.1 280.1 1.80 691.3 30.6",
            "atg-soft 5.7e10 71.9 3073.8 1.88 1105.4 4.9",
            "oigh     1.2e10 886.7 3328.7 1.97 1721.3 2.5",
            "mondrian 1.2e7 1.2 - - 118.6 2446.1",
        ),
    ),
    "porto": Table(
        "thesis, table 5.4, section 5.1",
        ("porto",),
        _thesis(
            "odkanon  6.2e9 208.1 270.8 1.71 730.9 14.8",
            "atg-soft 9.7e10 41.6 2277.9 1.82 806.9 2.7",
            "oigh     4.2e10 1765.1 2240.3 1.97 3177.3 1.5",
            "mondrian 1.5e7 1.5 - - 81.1 3094.0",
        ),
    ),
}

ATG_SMALL = Table(
    "ATG paper, table 3, section 4.4",
    ("senegal_crop", "nyc", "civ", "senegal"),
    _averages(
        "atg-dual    24.90 1.18 1.14 23 0.0999",
        "atg-soft    40.41 1.76 1.31 9 0.0324",
        "oigh        53.62 1.34 1.30 56 0.0987",
        "glove-sk    444.12 1.10 1.36 358 0.0999",
        "glove       18.70 0.81 0.84 23203 0.0998",
        "mondrian    27.39 0.95 1.02 688 0.0",
        "suppression - 0.33 1.34 - 0.3946",
        "laplace     - 2.88 6.78 - -1.7092",
    ),
)

ATG_LARGE = Table(
    "ATG paper, table 4, section 4.4",
    ("senegal_big", "senegal_split"),
    _averages(
        "atg-dual    19.85 0.72 0.78 111 0.0992",
        "atg-soft    65.39 1.07 1.09 32 0.0154",
        "oigh        29.68 1.10 1.15 985 0.0979",
        "glove-sk    1361.51 1.04 1.25 3376 0.1",
        "mondrian    25.19 0.76 0.85 11541 0.0",
        "suppression - 0.49 1.02 - 0.59",
        "laplace     - 2.87 3.33 - -0.8698",
    ),
)

ATG_DETAILED: dict[str, Table] = {
    name: Table("ATG paper, table 6, appendix C", (name,), _detailed(*rows))
    for name, rows in {
        "nyc": (
            "atg-dual 1 4.7 0.49 4.75 0.100",
            "atg-soft 0 9.1 0.62 6.38 0.033",
            "oigh     5 7.0 0.75 7.05 0.097",
            "glove    282 4.2 0.52 4.61 0.100",
            "glove-sk 9 24.4 0.70 7.48 0.100",
            "mondrian 92 7.5 0.49 6.26 0.0",
        ),
        "civ": (
            "atg-dual 5 57.2 1.72 17.05 0.100",
            "atg-soft 2 74.4 3.58 18.10 0.053",
            "oigh     11 106.8 1.79 17.81 0.099",
            "glove    394 35.7 1.01 11.57 0.100",
            "glove-sk 9 542.9 1.39 16.81 0.099",
            "mondrian 37 52.0 1.32 13.40 0.0",
        ),
        "senegal_crop": (
            "atg-dual 6 13.6 1.19 11.95 0.100",
            "atg-soft 1 27.5 1.31 13.53 0.030",
            "oigh     12 32.7 1.35 13.67 0.098",
            "glove    7067 13.5 0.82 8.87 0.100",
            "glove-sk 52 508.0 1.04 15.10 0.100",
            "mondrian 223 20.4 0.95 10.63 0.0",
        ),
        "senegal": (
            "atg-dual 9 17.4 1.21 12.00 0.100",
            "atg-soft 4 43.5 1.41 14.28 0.032",
            "oigh     26 26.2 1.36 13.48 0.099",
            "glove    15458 16.0 0.82 8.66 0.100",
            "glove-sk 78 667.6 1.21 15.10 0.100",
            "mondrian 333 22.7 0.96 10.6 0.0",
        ),
        "senegal_split": (
            "atg-dual 95 16.0 0.75 9.76 0.100",
            "atg-soft 26 83.5 1.14 13.5 0.018",
            "oigh     930 19.7 1.09 12.68 0.099",
            "glove-sk 3023 2304.5 1.09 14.41 0.100",
            "mondrian 9561 20.2 0.78 9.66 0.0",
        ),
        "senegal_big": (
            "atg-dual 15 3.9 0.17 5.92 0.098",
            "atg-soft 5 13.9 0.53 8.84 0.011",
            "oigh     54 6.2 0.79 10.32 0.095",
            "glove-sk 340 80.9 0.68 10.7 0.100",
            "mondrian 1979 7.5 0.41 7.40 0.0",
        ),
    }.items()
}

SIZES: dict[str, Sizes] = {
    "paris": Sizes(81_289, 72_569, 29_350, 32_217, 71 / 72_569, None, "then the centre only: 23,264 flows"),
    "turin": Sizes(
        873_234, 507_514, 3_606, 3_608, 3_863 / 507_514, None, "then the centre only: 458,918 flows"
    ),
    "porto": Sizes(1_674_160, 501_472, 8_444, 18_359, 28_963 / 501_472, None, "the centre has as many flows"),
    "nyc": Sizes(15_009, 3_058, 263, 263, 0.158, 0.590, "mean of 7,242 hours"),
    "civ": Sizes(
        3_117, 3_523, 1_221, 1_221, 0.003, 0.026, "mean of 632 hours; fewer trips than flows, as printed"
    ),
    "senegal": Sizes(41_027, 18_276, 1_666, 1_666, 0.057, 0.368, "mean of 6,752 hours"),
    "senegal_crop": Sizes(29_614, 13_710, 599, 599, 0.058, 0.378, "mean of 6,528 hours"),
    "senegal_split": Sizes(956_742, 305_194, 6_664, 6_664, 0.065, 0.460, "mean of 360"),
    "senegal_big": Sizes(956_742, 100_322, 1_666, 1_666, 0.123, 0.807, "mean of 360"),
}
"""Thesis, table 5.1 and section 4.1; ATG paper, table 2. It draws from hours with over 5,000 trips."""
