"""Compare: all methods side by side on one input, under one definition of every measure."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from tripcloak._version import __version__
from tripcloak.comparing.choice import Choice, choices
from tripcloak.comparing.peers import GET_THEM, PEERS, installed
from tripcloak.comparing.rows import ComparisonRow, Trial
from tripcloak.comparing.shared_memory import Address, SharedMemory
from tripcloak.comparing.trial_process import Workspace
from tripcloak.comparing.workers import Limits, TrialResult, jobs_that_fit, run_trials
from tripcloak.flows.anonymise import refuse_area_of_data
from tripcloak.flows.few import refuse_hollow
from tripcloak.flows.keywords import zoning
from tripcloak.flows.methods import METHODS, FlowMethod, find_method
from tripcloak.flows.model import ODMatrix
from tripcloak.flows.protection import asked_promise, hiding_secret
from tripcloak.flows.reading.matrix import MatrixReading, Zoning, read_matrix
from tripcloak.ground.errors import InputError, TripcloakError
from tripcloak.ground.memory import Budget, Memory
from tripcloak.ground.progress import Progress, silent
from tripcloak.ground.spelling import spells_flags, spelt
from tripcloak.pages.raster import MapFrame
from tripcloak.pages.small_maps import SmallMap, frame_of
from tripcloak.promises import Promise
from tripcloak.records.cleaning import CleaningReport
from tripcloak.records.files.frames import input_name
from tripcloak.records.source import TripSource

OWN_CLOCK = 0.8
"""Share of the time limit after which a method that can stop by itself is asked to."""
OUTLINES = 2_000_000
"""Characters that the outlines of all small maps together may take."""
SIZES = ((16, 640), (48, 440), (math.inf, 300))
"""Pixels on the longer side of a small map, by how many maps there are at most."""


@dataclass(frozen=True, kw_only=True)
class ComparisonPlan:
    """What is compared: an input, and methods at every pair of some k and some limits.

    Parameters
    ----------
    methods
        Names of methods; all there are if not given.
    ks, limits
        Thresholds, and shares of the volume that may be withheld; every pair is tried.
    units
        What k counts; settled by the input if not given.
    k_population
        Smallest population of a released flow: a number, or ``auto`` for k times the mean weight.
    dominance, p_percent
        What one traveller may have of a released flow.
    secret, hide_up_to
        What choices are hidden by, and up to how many times k thresholds are drawn.
    epsilon
        For methods of differential privacy, which do not run without.
    options
        Options of methods, each for all those that have it.
    time_limit
        Seconds that a method may take.
    jobs
        Methods that may run at a time; one a core, as memory allows, if not given.
    memory
        Memory to use, such as ``1GB``; half of the machine's by default.
    folder
        Where temporary files go.
    """

    source: TripSource
    zoning: Zoning = field(default_factory=Zoning)
    methods: tuple[str, ...] | None = None
    ks: tuple[float, ...] = (10,)
    limits: tuple[float, ...] = (0.1,)
    units: tuple[str, ...] = ()
    k_population: str | None = None
    dominance: float | None = None
    p_percent: float | None = None
    secret: str | None = None
    hide_up_to: int = 2
    epsilon: float | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    time_limit: float = 300.0
    jobs: int | None = None
    memory: Memory = None
    folder: Path | None = None

    def __post_init__(self) -> None:
        for name in self.methods or ():
            if name not in PEERS:
                find_method(name)
        self.own_options()
        for name, values in (("method", self.methods), ("k", self.ks), ("suppression limit", self.limits)):
            if values is not None and (not values or len(set(values)) != len(values)):
                raise InputError(f"give at least one {name}, and each once")
        for k in self.ks:
            self.promise(k)
        for limit in self.limits:
            if not 0 <= limit < 1:
                raise InputError(
                    f"the suppression limit is a share of the volume, from 0 to below 1; got {limit:g}"
                )
        if not 0 < self.time_limit < math.inf:
            raise InputError(f"the time limit must be a number of seconds above 0; got {self.time_limit:g}")
        if self.jobs is not None and self.jobs < 1:
            raise InputError(f"at least one method must run at a time ({spelt('jobs', 1)}); got {self.jobs}")
        if self.epsilon is not None and not 0 < self.epsilon < math.inf:
            raise InputError(f"epsilon must be a finite number above 0; got {self.epsilon:g}")

    @classmethod
    def of(cls, source: TripSource, given: Mapping[str, Any]) -> ComparisonPlan:
        """Return the plan that the values of keywords ask for."""
        # The limit on time is the comparison's own, and not that of the methods.
        own = METHODS.asked({**given, "time_limit": None})
        return cls(
            source=source,
            zoning=zoning(given),
            methods=None if given["methods"] == ("all",) else given["methods"],
            ks=given["k"],
            limits=given["suppress"],
            units=() if given["unit"] is None else tuple(name.strip() for name in given["unit"].split(",")),
            k_population=given["k_population"],
            dominance=given["dominance"],
            p_percent=given["p_percent"],
            secret=hiding_secret(given),
            hide_up_to=given["hide_up_to"],
            epsilon=own.get("epsilon"),
            options={name: own[name] for name in own if name != "epsilon"},
            time_limit=given["time_limit"],
            jobs=given["jobs"],
            memory=given["memory"],
        )

    @property
    def needs_repeats(self) -> bool:
        """Return whether some method must know how many trips each traveller makes in each flow."""
        noise = self.epsilon is not None
        if self.promise(self.ks[0]).parts_of:
            return True
        return any(noise and kind_of(name).needs_repeats for name in self.names)

    @property
    def names(self) -> tuple[str, ...]:
        """Return what to run: what was asked for, or all methods, and peers where noise is asked for."""
        if self.methods is not None:
            return self.methods
        return (*METHODS, *(PEERS if self.epsilon is not None and installed() else ()))

    def own_options(self) -> dict[str, dict[str, Any]]:
        """Return the options of every method among those given, or raise where none has one of them."""
        # Peers have the options of noise, as laplace has them, and none of their own.
        alike = {name: "laplace" if name in PEERS else name for name in self.names}
        own = METHODS.own_of_each(dict.fromkeys(alike.values()), self.options)
        return {name: dict(own[other]) for name, other in alike.items()}

    def promise(self, k: float) -> Promise:
        """Return when a group is safe, for one k."""
        return asked_promise(
            k,
            ",".join(self.units) or None,
            k_population=self.k_population,
            dominance=self.dominance,
            p_percent=self.p_percent,
            secret=self.secret,
            hide_up_to=self.hide_up_to,
        )

    def refuse_hollow(self, matrix: ODMatrix) -> None:
        """Raise if some k would protect nobody, as a release would be refused."""
        if all(kind_of(name).noisy for name in self.names):
            return
        for k in self.ks:
            refuse_hollow(matrix, self.promise(k))

    def unit(self, k: float, matrix: ODMatrix) -> str:
        """Return what one k counts, in words."""
        told = self.promise(k).resolve(matrix).thresholds
        if self.k_population is None:
            return ",".join(told)
        least = f"population (at least {told['population']:.0f})"
        return ",".join(least if name == "population" else name for name in told)


@dataclass(frozen=True, kw_only=True, eq=False)
class Comparison:
    """What came of a comparison; for the eyes of the data owner, not for publishing."""

    rows: tuple[ComparisonRow, ...]
    maps: tuple[SmallMap | None, ...]
    frame: MapFrame | None
    choices: tuple[Choice, ...]
    unit: str
    input: dict[str, Any]
    cleaning: CleaningReport
    notes: tuple[str, ...]
    seconds: float

    def __repr__(self) -> str:
        return f"<Comparison: {sum(row.ran for row in self.rows):,} of {len(self.rows):,} releases were made>"

    def to_dict(self) -> dict[str, Any]:
        """Return the object that ``tripcloak compare --json`` prints and compare.json holds."""
        return {
            "format": "tripcloak compare 1",
            "version": __version__,
            "internal": "measures of unreleased data: for the data owner, not for publication",
            "input": self.input,
            "unit": self.unit,
            "recommendations": [choice.to_dict() for choice in self.choices],
            "rows": [row.record() for row in self.rows],
            "cleaning": self.cleaning.to_dict(),
            "notes": list(self.notes),
            "seconds": self.seconds,
        }


def compare(plan: ComparisonPlan, progress: Progress = silent) -> Comparison:
    """Return what every method of a plan makes of the input, and which one to use.

    The input is read once. Every method, k and limit then runs in a process of its own, several at a
    time; one that cannot work on this input, fails, or takes too long or too much becomes a row that
    says why, and the rest goes on.
    """
    started = time.perf_counter()
    reading = read_matrix(
        plan.source,
        plan.zoning,
        # An area that is found from the data must do for every k.
        promise=plan.promise(max(plan.ks)),
        memory=plan.memory,
        folder=plan.folder,
        repeats=plan.needs_repeats,
        weights="population" in plan.promise(plan.ks[0]).parts_of,
        progress=progress,
    )
    matrix, budget = reading.trips.matrix, Budget.of(plan.memory)
    unit = ",".join(plan.promise(plan.ks[0]).resolve(matrix).thresholds)
    plan.refuse_hollow(matrix)
    planned = list(_plan(plan, matrix))
    trials = [trial for trial in planned if isinstance(trial, Trial)]
    frame = _frame(matrix, len(trials))
    facts = _facts(plan.source, reading)
    with SharedMemory(plan.folder) as shared:
        placed, size = _put(shared, matrix), shared.size
        jobs = jobs_that_fit(budget.total, size, plan.jobs)
        points = _put_points(shared, matrix)
        # From here on the processes read what is shared, and this one needs no flows.
        cleaning, notes = reading.trips.cleaning, (*reading.trips.notes, *_notes_on_options(plan))
        del reading, matrix
        outlines = OUTLINES // max(len(trials), 1)
        workspace = Workspace(placed, points, frame, outlines, budget.shared_by(jobs), spells_flags())
        limits = Limits(plan.time_limit, budget.total, jobs)
        found = iter(run_trials(shared, shared.put(workspace), trials, limits, progress))
    together = [next(found) if isinstance(one, Trial) else TrialResult(one, None) for one in planned]
    rows = tuple(one.row for one in together)
    return Comparison(
        rows=rows,
        maps=tuple(one.map for one in together),
        frame=frame,
        # Peers are there to be measured against; nobody can publish what they make.
        choices=choices([row for row in rows if row.method not in PEERS]),
        unit=unit,
        input=facts,
        cleaning=cleaning,
        notes=notes,
        seconds=time.perf_counter() - started,
    )


def kind_of(name: str) -> type[FlowMethod]:
    """Return the class of a method or of a peer."""
    return PEERS[name] if name in PEERS else METHODS[name]


def _plan(plan: ComparisonPlan, matrix: ODMatrix) -> Iterator[Trial | ComparisonRow]:
    """Yield what to run, and rows for what cannot run on this input; k by k and limit by limit."""
    noisy = {name for name in plan.names if kind_of(name).noisy}
    for turn, (k, limit) in enumerate((k, limit) for k in plan.ks for limit in plan.limits):
        for name in plan.names:
            # Noise heeds neither k nor the limit: once is enough.
            if turn and name in noisy:
                continue
            asked: dict[str, Any] = {"k": k, "unit": plan.unit(k, matrix), "limit": limit}
            try:
                yield _trial(plan, name, matrix, **asked)
            except TripcloakError as error:
                if name in noisy:
                    asked |= {"k": None, "limit": None}
                yield ComparisonRow(method=name, reason=str(error), **asked)


def _trial(plan: ComparisonPlan, name: str, matrix: ODMatrix, *, k: float, unit: str, limit: float) -> Trial:
    """Return one method ready to run, or raise an error that says why it cannot."""
    options, kind = plan.own_options()[name], kind_of(name)
    if "time_limit" in kind.__dataclass_fields__:
        options["time_limit"] = OWN_CLOCK * plan.time_limit
    if kind.noisy:
        options["epsilon"] = plan.epsilon
    method = kind(promise=plan.promise(k), suppression_limit=limit, **options)
    refuse_area_of_data(method, plan.zoning)
    method.refuse(matrix)
    return Trial(method=method, k=k, unit=unit, limit=limit)


def _notes_on_options(plan: ComparisonPlan) -> Iterator[str]:
    """Yield which methods did not run as they do by themselves."""
    chosen = plan.own_options()
    if plan.methods is None and plan.epsilon is not None and not installed():
        yield f"{', '.join(PEERS)} of mbi, peers with differential privacy, would be compared too: {GET_THEM}"
    for option, value in plan.options.items():
        told = ", ".join(name for name, own in chosen.items() if option in own)
        yield f"{told} ran with {spelt(option, value)}"


def _frame(matrix: ODMatrix, maps: int) -> MapFrame | None:
    """Return what the small maps show: where the trips begin."""
    tree = matrix.origins
    size = next(pixels for most, pixels in SIZES if maps <= most)
    volume = np.bincount(matrix.flows.origin, matrix.flows.trips, minlength=tree.n_tiles)
    occurs = np.flatnonzero(volume)
    return frame_of(tree.zones.lat[occurs], tree.zones.lon[occurs], volume[occurs], size)


def _put(shared: SharedMemory, matrix: ODMatrix) -> Address:
    # The raw points come from a function, which cannot be put aside; they follow chunk by chunk.
    return shared.put(replace(matrix, points=None))


def _put_points(shared: SharedMemory, matrix: ODMatrix) -> tuple[Address, ...] | None:
    return None if matrix.points is None else tuple(shared.put(chunk) for chunk in matrix.points())


def _facts(source: TripSource, reading: MatrixReading) -> dict[str, Any]:
    """Return what is in the input, for the head of a page."""
    matrix = reading.trips.matrix
    people = matrix.flows.travellers
    return {
        "files": [input_name(one) for one in source.paths],
        "hierarchy": reading.tiling.name,
        "trips": matrix.total("trips"),
        "travellers": None if people is None else len(np.unique(people.people)),
        "id_is": None if people is None else matrix.id_is,
        "flows": matrix.n_flows,
    }
