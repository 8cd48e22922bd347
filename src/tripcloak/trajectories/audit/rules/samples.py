"""Rules about the published boxes: their shape, their edges, their order, their degrees."""

from __future__ import annotations

import numpy as np

from tripcloak.arrays import Floats
from tripcloak.findings import some
from tripcloak.trajectories.audit.evidence import MICRO, Evidence
from tripcloak.trajectories.audit.rules.book import BOOK

HAIR = 1e-9
"""Degrees by which rounding of the projection may differ."""

ALONG = (0.0, 0.25, 0.5, 0.75)
"""Where on each edge of a box it is looked at; edges are bent in degrees."""

BATCH = 1 << 18


@BOOK.rule("boxes-have-extent")
def boxes_have_extent(case: Evidence) -> str | None:
    """Every released box lasts some time and is wide and high."""
    empty = case.value(
        f"SELECT count(*) FROM {case.table} WHERE NOT (t_start < t_end AND x_min < x_max AND y_min < y_max)"
    )
    return f"{some(empty, 'released boxes')} have no extent" if empty else None


@BOOK.rule("edges-on-the-grid")
def edges_on_the_grid(case: Evidence) -> str | None:
    """Every edge lies on the stated grid, so that none tells a raw time or place."""
    told = case.manifest
    step = told.seconds * MICRO
    times = " OR ".join(
        f"(epoch_us({name}) - {told.start * MICRO}) % {step} <> 0" for name in ("t_start", "t_end")
    )
    places = " OR ".join(f"{name} % {told.metres} <> 0" for name in ("x_min", "x_max", "y_min", "y_max"))
    off = case.value(f"SELECT count(*) FROM {case.table} WHERE {times} OR {places}")
    return f"{some(off, 'released boxes')} have an edge off the grid" if off else None


@BOOK.rule("no-overlap-in-time")
def no_overlap_in_time(case: Evidence) -> str | None:
    """Boxes of one released trajectory do not overlap in time."""
    overlaps = case.value(
        f"""SELECT count(*) FROM (
            SELECT t_start < lag(t_end) OVER (PARTITION BY trajectory ORDER BY t_start, row) AS collides
            FROM {case.table}
        ) WHERE collides"""
    )
    return f"{some(overlaps, 'released boxes')} overlap in time with the one before" if overlaps else None


@BOOK.rule("ordered-by-pseudonym")
def ordered_by_pseudonym(case: Evidence) -> str | None:
    """Rows come by pseudonym and time, so that their order tells nothing."""
    astray = case.value(
        f"""SELECT count(*) FROM (
            SELECT (trajectory, t_start) <= lag((trajectory, t_start)) OVER (ORDER BY row) AS astray
            FROM {case.table}
        ) WHERE astray"""
    )
    return "the rows are not ordered by pseudonym and time" if astray else None


@BOOK.rule("degrees-enclose-metres")
def degrees_enclose_metres(case: Evidence) -> str | None:
    """Every box in degrees encloses the box in metres, so that it tells no finer place."""
    columns = case.numbers(
        "SELECT DISTINCT x_min::DOUBLE AS x0, x_max::DOUBLE AS x1, y_min::DOUBLE AS y0, y_max::DOUBLE AS y1, "
        f"lon_min, lat_min, lon_max, lat_max FROM {case.table}"
    )
    outside = 0
    for start in range(0, len(columns["x0"]), BATCH):
        part = {name: column[start : start + BATCH, None] for name, column in columns.items()}
        x, y = _outline(part["x0"], part["x1"], part["y0"], part["y1"])
        lon, lat = case.project(x, y, back=True)
        held = (part["lat_min"] - HAIR <= lat) & (lat <= part["lat_max"] + HAIR)
        # A box across the 180th meridian runs on past 180.
        turned = part["lon_min"] - HAIR + (lon - part["lon_min"] + HAIR) % 360.0
        around = part["lon_max"] - part["lon_min"] >= 360.0
        held &= around | (turned <= part["lon_max"] + HAIR)
        outside += int((~held.all(axis=1)).sum())
    return (
        f"{some(outside, 'different boxes')} in degrees do not enclose the one in metres" if outside else None
    )


def _outline(x0: Floats, x1: Floats, y0: Floats, y1: Floats) -> tuple[Floats, Floats]:
    """Return points around each box, corners among them."""
    along = np.array(ALONG)[None, :]
    flat = 0 * along
    x = np.hstack([x0 + (x1 - x0) * along, x1 + flat, x1 - (x1 - x0) * along, x0 + flat])
    y = np.hstack([y0 + flat, y0 + (y1 - y0) * along, y1 + flat, y1 - (y1 - y0) * along])
    return x, y
