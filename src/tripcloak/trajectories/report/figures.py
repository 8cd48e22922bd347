"""The figures of a release of trajectories: original against released, on one offline page."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tripcloak.ground.arrays import Floats
from tripcloak.pages.charts import STYLES, Line, Plot, PlotAxis, Shade, Sheet, axis_over
from tripcloak.pages.page import render_page
from tripcloak.trajectories.measures import Distribution, Law, TrajectoryMeasures, slopes
from tripcloak.trajectories.measures.displacement import FIT
from tripcloak.trajectories.measures.shape import Agreement
from tripcloak.trajectories.release.release import TrajectoryRelease

TITLE = "Trajectories, original against released"
INTERNAL = "Internal: shows original data. Not for publication."
ORIGINAL, RELEASED, THIRD, FOURTH = 2, 1, 3, 4
BINS = 40
EVERY = 5
SHARE = PlotAxis("share", 0.0, 100.0)
FEWEST_MOVES, FEWEST_PEOPLE = 100, 10
"""A group that is smaller, or moved less, has a row in the table but no figure."""


class FigurePart(NamedTuple):
    """A part of the page: figures that answer one question, and a table where there is one."""

    title: str
    words: str
    plots: Sequence[Plot]
    columns: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()


def trajectory_figures_page(measures: TrajectoryMeasures, release: TrajectoryRelease) -> str:
    """Return the page of figures, which works offline; it shows original data and must stay inside."""
    sheet = Sheet()
    return render_page(
        "trajectory_figures",
        script="charts",
        styles=STYLES,
        title=TITLE,
        internal=INTERNAL,
        facts=_facts(measures, release),
        parts=[
            {**part._asdict(), "charts": [sheet.put(plot) for plot in part.plots]}
            for part in figure_parts(measures)
        ],
        payload=sheet.payload,
    )


def figure_parts(measures: TrajectoryMeasures) -> list[FigurePart]:
    """Return the figures by the question they answer."""
    return [
        _accuracy(measures),
        _errors(measures),
        _shape(measures),
        _regularity(measures),
        _laws(measures),
    ]


def _facts(measures: TrajectoryMeasures, release: TrajectoryRelease) -> dict[str, str]:
    errors = measures.errors
    return {
        "method": release.method if release.promise.made_up else f"{release.method}, k = {release.promise.k}",
        "trajectories released": f"{release.n_released:,}",
        "samples released": f"{release.n_boxes:,}",
        "mean spatial error": _told(errors.spatial_km.mean, "km"),
        "mean time error": _told(errors.time_minutes.mean, "min"),
        "samples created": f"{100 * errors.created:.1f} %",
        "samples deleted": f"{100 * errors.deleted:.1f} %",
        "homes within 1 km": _told(_percent(measures.home.within_1_km), "%"),
    }


def _accuracy(measures: TrajectoryMeasures) -> FigurePart:
    sizes = measures.accuracy
    return FigurePart(
        "How accurate are released samples?",
        "Up and to the left is better. A released sample is a box in space and time; large boxes often stand "
        "for many original samples, so both ways to weigh them are shown.",
        [
            _cdf(
                "Area of released samples",
                _middle(sizes.own_area_km2, "km²", "Of original samples: mean"),
                "area (km²)",
                {
                    "each released sample": (THIRD, sizes.area_km2),
                    "each original sample, by its box": (FOURTH, sizes.own_area_km2),
                },
                unit="samples",
            ),
            _cdf(
                "Duration of released samples",
                _middle(sizes.own_duration_minutes, "minutes", "Of original samples: mean"),
                "duration",
                {
                    "each released sample": (THIRD, sizes.duration_minutes),
                    "each original sample, by its box": (FOURTH, sizes.own_duration_minutes),
                },
                unit="samples",
                minutes=True,
            ),
        ],
    )


def _errors(measures: TrajectoryMeasures) -> FigurePart:
    errors = measures.errors
    return FigurePart(
        "How far is what is told from what was?",
        "From the centre of an original sample to the centre of the box that stands for it, in the middle of "
        "its time. Lines begin at the share of samples without error; deleted samples have none.",
        [
            _cdf(
                "Spatial error",
                _middle(errors.spatial_km, "km"),
                "error (km)",
                {"original samples": (FOURTH, errors.spatial_km)},
                unit="samples",
            ),
            _cdf(
                "Time error",
                _middle(errors.time_minutes, "minutes"),
                "error",
                {"original samples": (FOURTH, errors.time_minutes)},
                unit="samples",
                minutes=True,
            ),
        ],
    )


def _shape(measures: TrajectoryMeasures) -> FigurePart:
    shape = measures.shape
    anchors = {"home": (THIRD, measures.home), "work": (FOURTH, measures.work)}
    told = ", ".join(f"{name} {_told(_percent(a.within_1_km), '%')}" for name, (_, a) in anchors.items())
    return FigurePart(
        "Where do people live, and how far do they reach?",
        "Everybody is compared with themselves. People are cut into parts of one size by their original "
        "value; the band holds 80 % of the released values of each part, the line their median.",
        [
            _band("Radius of gyration", "radius (km)", shape.radius),
            _band("Radius of gyration, by time spent", "radius (km)", shape.timed_radius),
            _band("Area of the convex hull", "area (km²)", shape.hull),
            _cdf(
                "Shift of the centre of mass",
                _middle(shape.centre_km, "km"),
                "shift (km)",
                {"people": (FOURTH, shape.centre_km)},
                unit="people",
            ),
            _cdf(
                "Home and work",
                f"From the original to the released place. Within 1 km: {told}.",
                "distance (km)",
                {name: (style, a.distance_km) for name, (style, a) in anchors.items()},
                unit="people",
            ),
        ],
    )


def _regularity(measures: TrajectoryMeasures) -> FigurePart:
    found = measures.regularity
    sequence = "one place an hour" if found.sequence == "hours" else "one place a sample"
    return FigurePart(
        "How regular are people?",
        f"Entropy rate and predictability of {found.people:,} people; {sequence}, which is a cell of "
        f"{found.cell_km:g} km.",
        [
            _density("Entropy rate", "bits a step", found.entropy, found.entropy_change),
            _density(
                "Predictability", "share foretold at best", found.predictability, found.predictability_change
            ),
        ],
    )


def _laws(measures: TrajectoryMeasures) -> FigurePart:
    original, released = measures.laws
    told = slopes(original, released)
    both = [(name, law, released[name]) for name, law in original.items()]
    names = [name for name, before, after in both if before.people or after.people]
    rows = [
        [
            f"{name:g} km",
            *(f"{told[f'{name:g}_km'][key]:,}" for key in ("people_original", "people_released")),
            *(_told(told[f"{name:g}_km"][key]) for key in ("slope_original", "slope_released", "difference")),
        ]
        for name in names
    ]
    columns = ("radius of gyration", "people, original", "people, released", "S_o", "S_a", "difference")
    return FigurePart(
        "How far do people go?",
        "Density of displacements by radius of gyration, for people of similar radius, each data set by its "
        f"own radii. Slopes are least squares between {FIT[0]:g} and {FIT[1]:g} times the radius.",
        [_law(*laws) for laws in both if all(map(_tells, laws[1:]))],
        columns,
        rows,
    )


def _cdf(
    title: str,
    words: str,
    label: str,
    curves: dict[str, tuple[int, Distribution]],
    *,
    unit: str,
    minutes: bool = False,
) -> Plot:
    """Return a plot of distribution functions on a log axis, without the outermost hundredth."""
    x = axis_over(label, *(found.curve[5:-5] for _, found in curves.values()), log=True, minutes=minutes)
    # What is 0 has no place on a log axis: it is what the line begins with at its left end.
    lines = [
        Line(name, style, np.maximum(found.curve, x.low)[::EVERY], 100 * _shares(found.curve)[::EVERY])
        for name, (style, found) in curves.items()
    ]
    return Plot(title, words, x, SHARE._replace(label=f"{unit} (%)"), lines)


def _band(title: str, label: str, found: Agreement) -> Plot:
    band = found.band
    axis = axis_over(label, band.original, band.low, band.high, log=True)
    return Plot(
        title,
        f"Within 10 % of the original: {_told(_percent(found.within), '% of people')}.",
        axis_over(f"original {label}", band.original, log=True),
        axis._replace(label=f"released {label}"),
        [Line("median", RELEASED, band.original, band.middle)],
        [Shade("80 % of people", RELEASED, band.original, band.low, band.high)],
        diagonal=True,
    )


def _density(title: str, label: str, both: tuple[Distribution, Distribution], change: Distribution) -> Plot:
    """Return a plot of two densities in bins of one width."""
    axis = _density_axis(label, both)
    edges = np.linspace(axis.low, axis.high * (1 + 1e-9), BINS + 1)
    lines = []
    for name, style, found in zip(("original", "released"), (ORIGINAL, RELEASED), both, strict=True):
        inside, _ = np.histogram(found.curve, edges)
        y = 100 * inside / max(len(found.curve), 1)
        lines.append(
            Line(
                f"{name} (mean {_told(found.mean)})",
                style,
                (edges[1:] + edges[:-1]) / 2,
                y,
                style == RELEASED,
            )
        )
    words = f"Change by person: median {_told(change.quantiles['median'])}."
    return Plot(title, words, axis, axis_over("people (%)", *(line.y for line in lines)), lines)


def _density_axis(label: str, both: Sequence[Distribution]) -> PlotAxis:
    """Return an axis from 0, or from later where everything lies far from it."""
    pooled = np.concatenate([found.curve for found in both])
    if len(pooled) == 0:
        return PlotAxis(label, 0.0, 1.0)
    low, high = float(np.quantile(pooled, 0.002)), float(pooled.max())
    low = math.floor(10 * low) / 10 if low > high / 2 else 0.0
    return PlotAxis(label, low, high if high > low else low + 1.0)


def _tells(law: Law) -> bool:
    return law.people >= FEWEST_PEOPLE and law.moves >= FEWEST_MOVES


def _law(name: float, original: Law, released: Law) -> Plot:
    lines = [
        Line(
            f"{whose} (slope {_told(law.slope)})", style, law.ratio, law.density, style == RELEASED, dots=True
        )
        for whose, style, law in (("original", ORIGINAL, original), ("released", RELEASED, released))
    ]
    return Plot(
        f"Radius of gyration about {name:g} km",
        f"{original.people:,} people originally, {released.people:,} released.",
        axis_over("displacement / radius of gyration", *(line.x for line in lines), log=True),
        axis_over("density", *(line.y for line in lines), log=True),
        lines,
    )


def _shares(curve: Floats) -> Floats:
    """Return the share up to each point of a curve; of points at one value, the last one's."""
    at = np.searchsorted(curve, curve, side="right") - 1
    return at / max(len(curve) - 1, 1)


def _middle(found: Distribution, unit: str, begin: str = "Mean") -> str:
    return f"{begin} {_told(found.mean)}, median {_told(found.quantiles['median'])} {unit}."


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share


def _told(value: Any, unit: str = "") -> str:
    if value is None:
        return "–"
    text = f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
    return f"{text} {unit}".rstrip()
