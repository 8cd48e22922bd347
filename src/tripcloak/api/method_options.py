"""Options of methods as keywords, for type checkers; written by ``make docs`` from what methods declare."""

from __future__ import annotations

from datetime import timedelta
from typing import TypedDict

Time = str | float | timedelta
"""A length of time: ``"15min"``, ``"1h"``, a timedelta, or a number."""


class FlowOptions(TypedDict, total=False):
    """Options of single methods on flows."""

    loss: str | None
    withhold: str | None
    certify: Time | None
    first: str | None
    v_target: float | None
    multiplier: float | None
    table_memory: float | None
    levels: int | None
    tolerance: float | None
    m: int | None
    neighbours: int | None
    epsilon: float | None
    delta: float | None
    contributions: int | None
    height: int | None
    bounding: str | None


class AnonymiseOptions(FlowOptions, total=False):
    """Those that only ``anonymise`` has: in a comparison they mean nothing, or something else."""

    time_limit: Time | None
    time_weight: float | None


class SeriesOptions(TypedDict, total=False):
    """Options of methods that can plan a series."""

    loss: str | None
    withhold: str | None
    time_limit: Time | None
    certify: Time | None
    first: str | None
    v_target: float | None
    multiplier: float | None
    table_memory: float | None
    levels: int | None
    tolerance: float | None
    m: int | None


class TrajectoryOptions(TypedDict, total=False):
    """Options of single methods on trajectories."""

    neighbours: int | None
    constraint: str | None
    picking: str | None
    jobs: int | None
    device: str | None
    delta: float | None
    trash: float | None
    chunk: int | None
    radius: float | None
    growth: float | None
    unmatched: float | None
    period: int | None
    sampling: int | None
    partition: str | None
    cells: str | None
    cell: int | None
    resolution: int | None
    interval: int | None
    withheld: float | None
    frequent: float | None
    sensitive: str | None
    doublings: int | None
    m: int | None
    shape: str | None
    roads: str | None
    within: float | None
    entropy: float | None
    speed: float | None
    spread: float | None
    breadth: int | None
    width: int | None
    longest: int | None
    changes: int | None
    coverage: float | None
    pattern: str | None
    sd: float | None
    ld: float | None
    dst: float | None
    profiles: str | None
    most: int | None
    epsilon: float | None
    unit: str | None
    window: int | None
    length: int | None
    reach: int | None
    clusters: int | None
    variant: str | None
    near: int | None
    stay: int | None
    stays: int | None
    crowd: int | None
