"""The map of released trajectories: one offline HTML page with a time slider, from published boxes alone."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tripcloak.ground.arrays import Floats, Ints
from tripcloak.pages.page import render_page, script_safe_json
from tripcloak.pages.raster import STEPS, ZERO
from tripcloak.promises import TrajectoryPromise
from tripcloak.trajectories.model import Grid
from tripcloak.trajectories.release.published import PublishedTrajectories
from tripcloak.trajectories.release.release import Boxes
from tripcloak.trajectories.report.readme import render_trajectory_readme

CELLS = 128
"""Cells along the longer side of the raster."""
BINS = 168
"""Frames at most; a week by the hour."""
BATCH = 1 << 20
NICE = (1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1440, 2880, 10080, 20160, 40320)
"""Minutes that people find easy to think in."""


class Frames(NamedTuple):
    """Trajectories per cell, averaged over each bin of time, and where the cells and bins lie in steps.

    Attributes
    ----------
    shades : array of uint8, bins x rows x columns
        0 for nothing, else the logarithm of the number: see :func:`tripcloak.pages.raster.density_of`.
        Rows run from south to north.
    present : array of float
        Trajectories that are somewhere, averaged over each bin.
    start, length : int
        When the first bin begins and how long each lasts, in steps of time.
    west, south, cell : int
        Where the first cell begins and how wide each is, in steps of space.
    """

    shades: NDArray[np.uint8]
    present: Floats
    start: int
    length: int
    west: int
    south: int
    cell: int


def paint_frames(boxes: Boxes, home: tuple[int, int, int, int], seconds: int) -> Frames:
    """Return what a film of the release shows, whatever the number of boxes.

    Every box stands for one trajectory, spread evenly over all cells and bins that it touches.

    Parameters
    ----------
    boxes
        Generalised samples in steps.
    home
        West, south, east and north of what is shown, in steps; what lies beyond is left out.
    seconds
        The length of a step of time.

    Examples
    --------
    >>> box = Boxes(*(np.array([step]) for step in (0, 60, 0, 2, 0, 1)))
    >>> film = paint_frames(box, (0, 0, 4, 1), 60)
    >>> film.length, film.shades[0].tolist()
    (1, [[64, 64, 0, 0]])
    """
    west, south, east, north = home
    start, end = int(boxes.t0.min()), int(boxes.t1.max())
    length = _bin_length(end - start, seconds)
    cell = -(-max(east - west, north - south) // CELLS)
    shape = tuple(
        -(-size // unit) for size, unit in ((end - start, length), (north - south, cell), (east - west, cell))
    )
    change = np.zeros(tuple(size + 1 for size in shape))
    for at in range(0, len(boxes.t0), BATCH):
        part = Boxes(*(side[at : at + BATCH].astype(np.int64) for side in boxes))
        spans = [
            _spanned(part.t0 - start, part.t1 - start, length),
            _spanned(part.y0 - south, part.y1 - south, cell),
            _spanned(part.x0 - west, part.x1 - west, cell),
        ]
        _add(change, spans, (part.t1 - part.t0) / length)
    for axis in range(3):
        np.cumsum(change, axis=axis, out=change)
    density = change[:-1, :-1, :-1]
    return Frames(_shades(density), density.sum(axis=(1, 2)), start, length, west, south, cell)


def _bin_length(span: int, seconds: int) -> int:
    """Return the shortest easy length, in steps, of which no more than all bins are needed."""
    lengths = (minutes * 60 // seconds for minutes in NICE if minutes * 60 % seconds == 0)
    return next((length for length in lengths if length * BINS >= span), -(-span // BINS))


def _spanned(low: Ints, high: Ints, unit: int) -> tuple[Ints, Ints]:
    """Return the first cell that each span touches, and the one after its last."""
    return low // unit, (high - 1) // unit + 1


def _add(change: Floats, spans: list[tuple[Ints, Ints]], weight: Floats) -> None:
    """Add boxes as changes at their eight corners, so that sums along all axes fill them."""
    for low, high in spans:
        weight = weight / (high - low)
    sizes = change.shape
    inside = [
        (np.clip(low, 0, size - 1), np.clip(high, 0, size - 1))
        for (low, high), size in zip(spans, sizes, strict=True)
    ]
    flat = change.reshape(-1)
    for corner in range(8):
        ends = [corner >> axis & 1 for axis in range(3)]
        cell = np.ravel_multi_index([pair[end] for pair, end in zip(inside, ends, strict=True)], sizes)
        flat += np.bincount(cell, weight if sum(ends) % 2 == 0 else -weight, minlength=len(flat))


def _shades(density: Floats) -> NDArray[np.uint8]:
    # What is left over where large numbers cancel is no density: below a ten-thousandth nobody is there.
    seen = density > 1e-4
    shade = np.rint(STEPS * np.log2(density, where=seen, out=np.zeros_like(density))) + ZERO
    return np.where(seen, shade.clip(1, 255), 0).astype(np.uint8)


MOST = 200_000
"""Samples that the page holds one by one; of more, some trajectories drawn at random, and a film of all."""
LATTICE = 33
Home = tuple[int, int, int, int]
"""West, south, east and north in steps."""


def render_trajectory_map(published: PublishedTrajectories, *, most: int = MOST) -> str:
    """The text of ``release/map.html``: boxes of the chosen time, or how many trajectories are where.

    The page holds its own script, style and data, forbids itself any network access, and embeds nothing
    but what is published.

    Parameters
    ----------
    published
        The release as its readers have it.
    most
        Samples that the page holds one by one. Where there are more, it holds a film of all of them on a
        raster and some whole trajectories, and says so.

    Examples
    --------
    >>> one = PublishedTrajectories(
    ...     grid=Grid(projection="+proj=laea +lat_0=48.9 +lon_0=2.3"),
    ...     pseudonyms=np.array(["t01"]),
    ...     offsets=np.array([0, 1]),
    ...     boxes=Boxes(*(np.array([step]) for step in (0, 1, 0, 10, 0, 10))),
    ...     manifest={
    ...         "method": "k-scale",
    ...         "promise": {"kind": "containment", "k": 2},
    ...         "counted": {"trajectories": "people: every id stands for one person"},
    ...     },
    ... )
    >>> page = render_trajectory_map(one)
    >>> page.startswith("<!doctype html>"), "t01" in page
    (True, True)
    """
    from markupsafe import Markup

    return render_page(
        "trajectory_map",
        styles=("map.css",),
        script="trajectory_map",
        title=published.manifest.get("title") or f"Released trajectories ({published.manifest['method']})",
        facts=_facts(published),
        payload=Markup(script_safe_json(_payload(published, most))),
    )


def _facts(published: PublishedTrajectories) -> dict[str, str]:
    grid = published.grid
    return {
        "Method": published.manifest["method"],
        **dict([_promise(published).headline()]),
        "Counted": published.manifest["counted"]["trajectories"],
        "Trajectories": f"{published.n_released:,}",
        "Samples": f"{published.n_boxes:,}",
        "Finest step": f"{grid.seconds:,} s, {grid.metres:,} m",
        **({"Names of places": named["attribution"]} if (named := published.manifest.get("names")) else {}),
    }


def _promise(published: PublishedTrajectories) -> TrajectoryPromise:
    return TrajectoryPromise.from_manifest(published.manifest["promise"])


def _payload(published: PublishedTrajectories, most: int) -> dict[str, Any]:
    home, wide = _home(published.boxes), _wide(published.boxes)
    shown = _shown(published, most)
    boxes = Boxes(*(side[: published.offsets[shown]] for side in published.boxes))
    whole = shown == published.n_released
    return {
        "grid": {name: getattr(published.grid, name) for name in ("seconds", "metres", "start", "clock")},
        "moved": _promise(published).moves_samples,
        "released": {"trajectories": published.n_released, "samples": published.n_boxes},
        "pseudonyms": published.pseudonyms[:shown].tolist(),
        "lengths": _packed(np.diff(published.offsets[: shown + 1])),
        "boxes": {
            "t": _packed(boxes.t0),
            "x": _packed(boxes.x0),
            "y": _packed(boxes.y0),
            "lasts": _packed(boxes.t1.astype(np.int64) - boxes.t0),
            "wide": _packed(boxes.x1.astype(np.int64) - boxes.x0),
            "high": _packed(boxes.y1.astype(np.int64) - boxes.y0),
        },
        "home": home,
        "degrees": _lattice(published.grid, wide),
        "film": None if whole else _film(published, wide),
        **({"towns": published.manifest["names"]["towns"]} if "names" in published.manifest else {}),
        **({} if published.background is None else {"background": published.background}),
    }


def _shown(published: PublishedTrajectories, most: int) -> int:
    """Return how many trajectories the page holds. Their order is random, so the first are a fair draw."""
    if published.n_boxes <= most:
        return published.n_released
    return max(1, int(np.searchsorted(published.offsets, most // 2, side="right")) - 1)


def _home(boxes: Boxes) -> Home:
    """Return west, south, east and north of what is seen at first: few journeys must not shrink the rest."""
    sides = []
    for low, high in ((boxes.x0, boxes.x1), (boxes.y0, boxes.y1)):
        least, most = np.quantile((low.astype(np.float64) + high) / 2, [0.02, 0.98])
        margin = (most - least) / 10 + np.median(high - low) / 2
        sides.append((int(np.floor(least - margin)), int(np.ceil(most + margin))))
    (west, east), (south, north) = sides
    return west, south, max(east, west + 1), max(north, south + 1)


def _wide(boxes: Boxes) -> Home:
    """Return west, south, east and north of nearly all boxes: what a film shows."""
    west, south = (int(np.floor(np.quantile(side, 0.005))) for side in (boxes.x0, boxes.y0))
    east, north = (int(np.ceil(np.quantile(side, 0.995))) for side in (boxes.x1, boxes.y1))
    return west, south, max(east, west + 1), max(north, south + 1)


def _packed(values: Ints) -> dict[str, Any]:
    """Return whole numbers as the least one, a width in bytes, and the rest above it in base 64."""
    least = int(values.min())
    above = values.astype(np.int64) - least
    width = next(width for width in (1, 2, 4) if int(above.max()) < 1 << (8 * width))
    data = above.astype(f"<u{width}").tobytes()
    return {"least": least, "width": width, "data": base64.b64encode(data).decode()}


def _lattice(grid: Grid, home: Home) -> dict[str, Any]:
    """Return longitudes and latitudes of points around home, between which the page interpolates."""
    west, south, east, north = (float(step) for step in home)
    reach = 2 * max(east - west, north - south)
    x = np.linspace((west + east) / 2 - reach, (west + east) / 2 + reach, LATTICE)
    y = np.linspace((south + north) / 2 - reach, (south + north) / 2 + reach, LATTICE)
    lon, lat = grid.unproject(*(side * grid.metres for side in np.meshgrid(x, y)))
    if not (np.isfinite(lon).all() and np.isfinite(lat).all()):
        return {"lon": None, "lat": None, "west": x[0], "south": y[0], "step": x[1] - x[0]}
    lon = np.unwrap(np.unwrap(lon, period=360, axis=1), period=360, axis=0)
    return {
        "lon": np.round(lon, 6).tolist(),
        "lat": np.round(lat, 6).tolist(),
        "west": x[0],
        "south": y[0],
        "step": x[1] - x[0],
    }


def _film(published: PublishedTrajectories, home: Home) -> Mapping[str, Any]:
    film = paint_frames(published.boxes, home, published.grid.seconds)
    bins, rows, columns = film.shades.shape
    return {
        "start": film.start,
        "length": film.length,
        "west": film.west,
        "south": film.south,
        "cell": film.cell,
        "bins": bins,
        "rows": rows,
        "columns": columns,
        "zero": ZERO,
        "steps": STEPS,
        "present": np.round(film.present, 2).tolist(),
        "shades": base64.b64encode(film.shades.tobytes()).decode(),
    }


def trajectory_pages(published: PublishedTrajectories) -> dict[str, str]:
    """Return the pages for readers by file name, made of what is published alone."""
    return {
        "README.md": render_trajectory_readme(published.manifest),
        "map.html": render_trajectory_map(published),
    }
