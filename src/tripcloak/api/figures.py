"""Figures for publications: maps of zones and flows, and distributions, of a release's public part alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tripcloak.api.tables import need
from tripcloak.exporting.export import PublicTables, public_tables, written_aside
from tripcloak.ground.arrays import Floats
from tripcloak.ground.errors import InputError
from tripcloak.ground.given_paths import output_path
from tripcloak.ground.spelling import called

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ENDINGS = (".png", ".svg", ".pdf")
WIDTH = 5.5
"""Inches, about the text of a page."""
STYLE: dict[Any, Any] = {
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "svg.hashsalt": "tripcloak",
    "svg.fonttype": "none",
    "pdf.fonttype": 42,
    "savefig.dpi": 300,
}
AXES = ("origin", "destination")
INK, EDGE = "#1b5e7b", "#5c6b7a"
EARTH_KM = 6371.0088
_ROUND_KM = [digit * 10.0**power for power in range(-2, 5) for digit in (1, 2, 5)]
MOST_LINES = 5_000
"""Flows that are drawn as lines: the largest."""


def save_figure(folder: Path, kind: str, out: str | Path, *, force: bool = False) -> Path:
    """Write a figure of a release, and return where it is.

    Parameters
    ----------
    folder
        The folder of a release, or its public part, which is all that is read.
    kind
        One of :data:`KINDS`.
    out
        A file that ends in .png, .svg or .pdf.
    force
        Replace what is there.
    """
    path = output_path(out)
    if path.suffix.lower() not in ENDINGS:
        raise InputError(f"{called('out')} must end in {', '.join(ENDINGS)}; got {path.name!r}")
    figure = draw(_of_flows(folder), kind)
    import matplotlib as mpl

    with mpl.rc_context(STYLE):
        # Without the day and the version it is the same each time.
        dates = {"Date": None} if path.suffix.lower() == ".svg" else {"CreationDate": None}
        with written_aside(path, force=force) as aside:
            metadata = {} if path.suffix.lower() == ".png" else dates
            figure.savefig(aside, bbox_inches="tight", metadata=metadata)
    return path


def draw(tables: PublicTables, kind: str) -> Figure:
    """Return a figure of the tables of a release."""
    need("matplotlib", "a figure")
    if kind not in KINDS:
        raise InputError(f"{called('kind')} must be one of {', '.join(KINDS)}; got {kind!r}")
    import matplotlib as mpl

    with mpl.rc_context(STYLE):
        return KINDS[kind](tables)


def _of_flows(folder: Path) -> PublicTables:
    tables = public_tables(folder)
    if not isinstance(tables, PublicTables):
        raise InputError(f"{folder} holds a release of trajectories; figures are of flows")
    return tables


def _new(rows: int = 1, columns: int = 1, height: float = 3.4) -> tuple[Figure, Any]:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH * (1.3 if columns > 1 else 1), height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure, figure.subplots(rows, columns)


def _zones(tables: PublicTables) -> Figure:
    """Return both axes' zones, shaded by volume: what figures of methods with H3 cells show."""
    volume = tables.facts["volume"]
    return _two_maps(tables, volume, f"released {volume}", "YlGnBu", by_tens=True)


def _coarseness(tables: PublicTables) -> Figure:
    """Return both axes' zones, coloured by their area: how far each was generalised."""
    return _two_maps(tables, "area_km2", "area of a zone (km²)", "viridis_r", by_tens=True)


def _two_maps(tables: PublicTables, column: str, words: str, colours: str, *, by_tens: bool) -> Figure:
    from matplotlib.colors import LogNorm, Normalize

    figure, both = _new(1, 2, 3.3)
    values = {axis: _outlines(tables, axis, column) for axis in AXES}
    known = np.concatenate([numbers for _, numbers in values.values()])
    known = known[known > 0]
    if not len(known):
        raise InputError("there are no outlines of zones with such numbers to draw")
    norm = (LogNorm if by_tens else Normalize)(known.min(), max(known.max(), known.min() * 1.01))
    for axes, (axis, (shapes, numbers)) in zip(both, values.items(), strict=True):
        drawn = _draw_shapes(axes, shapes, numbers, norm, colours)
        axes.set_title(f"{axis}s")
    # One frame for both, so that a place is at the same spot of either.
    _frame(both, np.concatenate([_corners(shapes) for shapes, _ in values.values()]))
    _scale_bar(both[0])
    bar = figure.colorbar(drawn, ax=list(both), label=words, shrink=0.7)
    _plain_numbers(bar.ax.yaxis)
    return figure


def _outlines(tables: PublicTables, axis: str, column: str) -> tuple[Any, Floats]:
    import shapely

    zones = tables.zones
    if not {"geometry", column} <= set(zones.column_names):
        raise InputError(f"the zones of this release have no outlines or no {column} to draw")
    rows = np.asarray(zones["axis"].to_pylist()) == axis
    shapes = shapely.from_wkb(zones["geometry"].filter(rows).to_numpy())
    numbers = zones[column].filter(rows).to_numpy().astype(float)
    return shapes, numbers


def _draw_shapes(axes: Any, shapes: Any, numbers: Floats, norm: Any, colours: str) -> Any:
    """Draw polygons in degrees, shaded by numbers; white between them, and grey around all of them."""
    import shapely
    from matplotlib.collections import PolyCollection

    known = ~shapely.is_missing(shapes) & np.isfinite(numbers)
    parts, of = shapely.get_parts(shapes[known], return_index=True)
    # Fine zones over coarse ones, where they overlap.
    order = np.argsort(-shapely.area(parts), kind="stable")
    rings = [shapely.get_coordinates(shapely.get_exterior_ring(part)) for part in parts[order]]
    axes.add_collection(PolyCollection(rings, facecolor="none", edgecolor=EDGE, linewidth=1.0))
    drawn = PolyCollection(rings, cmap=colours, norm=norm, edgecolor="white", linewidth=0.4)
    drawn.set_array(numbers[known][of][order])
    axes.add_collection(drawn)
    return drawn


def _corners(shapes: Any) -> Floats:
    """Return south-west and north-east corners of shapes, a row each; at least one."""
    import shapely

    found: Floats = shapely.bounds(shapes[~shapely.is_missing(shapes)]).reshape(-1, 2)
    return found if len(found) else np.zeros((1, 2))


def _frame(maps: Any, points: Floats) -> None:
    """Let maps in degrees show all points: a degree of longitude is as wide as it is in the middle."""
    (west, south), (east, north) = points.min(axis=0), points.max(axis=0)
    across, up = (0.02 * max(size, 1e-6) for size in (east - west, north - south))
    for axes in maps:
        axes.set_xlim(west - across, east + across)
        axes.set_ylim(south - up, north + up)
        axes.set_aspect(1 / np.cos(np.radians((south + north) / 2)))
        axes.set_axis_off()


def _scale_bar(axes: Any) -> None:
    """Draw how long a round number of kilometres is, about a quarter of the map, below its left corner."""
    west, east = axes.get_xlim()
    degree = np.pi / 180 * EARTH_KM * np.cos(np.radians(np.mean(axes.get_ylim())))
    quarter = (east - west) * degree / 4
    length = max((step for step in _ROUND_KM if step <= quarter), default=_ROUND_KM[0])
    share = length / degree / (east - west)
    axes.plot(
        [0, share], [-0.02, -0.02], color="black", linewidth=1.5, transform=axes.transAxes, clip_on=False
    )
    words = f"{length:g} km"
    axes.text(share / 2, -0.04, words, transform=axes.transAxes, ha="center", va="top", fontsize="small")


def _plain_numbers(axis: Any) -> None:
    """Write marks of a log axis as numbers and not as powers: 1, 2, 5, 10, as many as fit."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
    axis.set_minor_formatter(NullFormatter())


def _flows(tables: PublicTables) -> Figure:
    """Return the largest flows as lines, as wide as they are large."""
    from matplotlib.collections import LineCollection

    volume = tables.facts["volume"]
    flows = tables.flows
    names = ("origin_lon", "origin_lat", "destination_lon", "destination_lat")
    if not set(names) <= set(flows.column_names):
        raise InputError("the flows of this release have no points to draw")
    ends = np.stack([flows[name].to_numpy().astype(float) for name in names], axis=1)
    numbers = flows[volume].to_numpy().astype(float)
    known = np.flatnonzero(np.isfinite(ends).all(axis=1) & (ends[:, :2] != ends[:, 2:]).any(axis=1))
    largest = known[np.argsort(-numbers[known], kind="stable")][:MOST_LINES][::-1]
    figure, axes = _new(height=4.2)
    corners = _draw_ground(axes, tables)
    if len(largest):
        most = numbers[largest].max()
        # Where many lines lie over each other, the largest shall still be seen.
        clear = float(np.clip(8 / np.sqrt(len(largest)), 0.1, 0.4))
        lines = list(ends[largest].reshape(-1, 2, 2))
        axes.add_collection(
            LineCollection(lines, linewidths=_width(numbers[largest] / most), colors=INK, alpha=clear)
        )
        _key_of_widths(axes, most, volume)
    _frame([axes], np.concatenate([corners, ends[np.isfinite(ends).all(axis=1)].reshape(-1, 2)]))
    _scale_bar(axes)
    which = (
        f"all {len(known):,}"
        if len(largest) == len(known)
        else f"the {len(largest):,} largest of {len(known):,}"
    )
    axes.set_title(f"{which} flows between different zones, by {volume}", fontsize="medium")
    return figure


def _draw_ground(axes: Any, tables: PublicTables) -> Floats:
    """Draw the zones of both axes below flows, as outlines, and return their corners."""
    import shapely
    from matplotlib.collections import LineCollection

    if "geometry" not in tables.zones.column_names:
        return np.zeros((0, 2))
    shapes = shapely.from_wkb(tables.zones["geometry"].to_numpy())
    known = shapes[~shapely.is_missing(shapes)]
    rings = [shapely.get_coordinates(shapely.get_exterior_ring(part)) for part in shapely.get_parts(known)]
    axes.add_collection(LineCollection(rings, colors="#c9d3dc", linewidths=0.4))
    return _corners(known)


def _width(share: Any) -> Any:
    """Return how wide a line is, in points, by the share that its flow has of the largest one."""
    return 0.2 + 3.8 * share


def _key_of_widths(axes: Any, most: float, volume: str) -> None:
    """Tell what lines of three widths stand for, in round numbers."""
    from matplotlib.lines import Line2D

    sizes = [10.0 ** int(np.log10(max(most * share, 1))) for share in (1, 0.4, 0.1)]
    told = dict.fromkeys(
        size * int(most * share / size) for size, share in zip(sizes, (1, 0.4, 0.1), strict=True)
    )
    told.pop(0.0, None)
    lines = [Line2D([], [], color=INK, alpha=0.7, linewidth=_width(number / most)) for number in told]
    words = [f"{number:,.0f}" for number in told]
    axes.legend(lines, words, title=volume, frameon=False, loc="upper left", bbox_to_anchor=(1, 1))


def _support(tables: PublicTables) -> Figure:
    """Return how many flows have how much behind them."""
    unit = "travellers" if "travellers" in tables.flows.column_names else tables.facts["volume"]
    numbers = tables.flows[unit].drop_null().to_numpy().astype(float)
    figure, axes = _new(height=2.8)
    axes.hist(numbers, bins=_bins(numbers), color=INK, edgecolor="white", linewidth=0.5)
    axes.set_xscale("log")
    _plain_numbers(axes.xaxis)
    axes.set_xlabel(f"{unit} of a released flow")
    axes.set_ylabel("flows")
    return figure


def _bins(numbers: Floats) -> Floats:
    """Return edges that grow by a tenth, or by what all numbers are multiples of where that is wider.

    Each bin holds a multiple, so that numbers that were rounded leave no gaps that mean nothing.

    >>> _bins(np.array([10.0, 20.0, 40.0])).tolist()
    [10.0, 20.0, 30.0, 40.0, 50.0]
    """
    if not len(numbers):
        return np.array([1.0, 2.0])
    step = max(float(np.gcd.reduce(numbers.astype(np.int64))), 1.0)
    edges = [max(float(numbers.min()), step)]
    # Invariant: edges are multiples of the step, from the smallest number on.
    while edges[-1] <= numbers.max():
        edges.append(edges[-1] + step * max(1, int(edges[-1] / step / 10)))
    return np.array(edges)


def _cdf(tables: PublicTables) -> Figure:
    """Return the shares of the volume by the area of zones, and by the length of trips."""
    volume = tables.facts["volume"]
    figure, (left, right) = _new(1, 2, 2.8)
    for axis, style in (("origin", "-"), ("destination", "--")):
        rows = np.asarray(tables.zones["axis"].to_pylist()) == axis
        zones = tables.zones.filter(rows)
        area = dict(zip(zones["zone"].to_pylist(), zones["area_km2"].to_pylist(), strict=True))
        own = np.array([area[name] for name in tables.flows[axis].to_pylist()], dtype=float)
        _draw_shares(left, own, tables.flows[volume].to_numpy(), axis, style)
    left.set_xlabel("area of the zone (km²)")
    left.set_ylabel(f"share of {volume}")
    left.legend(frameon=False)
    _plain_numbers(left.xaxis)
    _draw_shares(right, _lengths(tables), tables.flows[volume].to_numpy(), "", "-")
    right.set_xscale("linear")
    right.set_xlabel("between the points of both zones (km)")
    return figure


def _draw_shares(axes: Any, values: Floats, weights: Any, label: str, style: str) -> None:
    known = np.isfinite(values) & (values > 0)
    values, weights = values[known], np.asarray(weights, dtype=float)[known]
    order = np.argsort(values, kind="stable")
    shares = np.cumsum(weights[order]) / max(weights.sum(), 1)
    axes.step(values[order], shares, style, where="post", label=label or None, color=INK)
    axes.set_xscale("log")
    axes.set_ylim(0, 1)


def _lengths(tables: PublicTables) -> Floats:
    """Return kilometres between the points of both zones of every flow."""
    names = ("origin_lat", "origin_lon", "destination_lat", "destination_lon")
    lat, lon, to_lat, to_lon = (np.radians(tables.flows[name].to_numpy().astype(float)) for name in names)
    half = np.sin((to_lat - lat) / 2) ** 2 + np.cos(lat) * np.cos(to_lat) * np.sin((to_lon - lon) / 2) ** 2
    found: Floats = 2 * EARTH_KM * np.arcsin(np.sqrt(half))
    return found


KINDS: Mapping[str, Callable[[PublicTables], Figure]] = {
    "zones": _zones,
    "coarseness": _coarseness,
    "flows": _flows,
    "support": _support,
    "cdf": _cdf,
}
"""Every figure by its name."""
