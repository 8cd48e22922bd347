"""The Pareto plot: loss against suppression, one mark a release; hand-made SVG without a script."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from html import escape
from typing import Literal, NamedTuple

LETTER, LINE = 6.5, 14.0
"""Width of a letter and height of a line, in pixels, at the size that labels are set in."""
NEAR = 60.0
"""Points not further apart than this crowd each other."""
GAP = 3.5
"""From the edge of a point to the nearest edge of its label."""


class Rectangle(NamedTuple):
    """A rectangle, in pixels."""

    left: float
    top: float
    right: float
    bottom: float

    def overlap(self, other: Rectangle) -> float:
        """Return the area that two rectangles share.

        >>> Rectangle(0, 0, 4, 4).overlap(Rectangle(2, 2, 6, 6))
        4
        """
        across = min(self.right, other.right) - max(self.left, other.left)
        down = min(self.bottom, other.bottom) - max(self.top, other.top)
        return max(across, 0) * max(down, 0)


class Spot(NamedTuple):
    """A point on the plot and the radius of its mark, in pixels."""

    x: float
    y: float
    radius: float


class Label(NamedTuple):
    """Where a text goes: its left end and its baseline, and whether a line leads to its point."""

    x: float
    y: float
    box: Rectangle
    led: bool


def place_labels(points: Sequence[Spot], texts: Sequence[str], room: Rectangle) -> list[Label]:
    """Return one label a point, in the order of the points.

    The first place of each that is free is taken, from beside the point to ever further up and down;
    where none is, the one that covers least.

    Examples
    --------
    >>> labels = place_labels([Spot(50, 50, 6), Spot(50, 52, 6)], ["one", "two"], Rectangle(0, 0, 200, 100))
    >>> labels[0].box.overlap(labels[1].box) == 0
    True
    """
    marks = [Rectangle(x - r, y - r, x + r, y + r) for x, y, r in points]
    placed: list[Label] = []
    for spot, text in zip(points, texts, strict=True):
        taken = [*marks, *(label.box for label in placed)]
        best: tuple[float, Label] | None = None
        near = [other.y for other in points if abs(other.y - spot.y) < NEAR and abs(other.x - spot.x) < NEAR]
        for label in _places(spot, LETTER * len(text), downwards=spot.y > sum(near) / len(near)):
            covered = sum(label.box.overlap(other) for other in taken) + _outside(label.box, room)
            if best is None or covered < best[0]:
                best = covered, label
            if covered == 0:
                break
        assert best is not None
        placed.append(best[1])
    return placed


def _places(spot: Spot, width: float, *, downwards: bool) -> Iterator[Label]:
    """Yield where a label may go, nearest first: right, left, above, below, then further away.

    Of a crowd, the lower points look downwards first, so that lines to labels do not cross.
    """
    x, y, away = spot.x, spot.y, spot.radius + GAP
    for left, middle in ((x + away, y), (x - away - width, y)):
        yield _spot_label(left, middle, width, led=False)
    for middle in (y - away - LINE / 2, y + away + LINE / 2):
        yield _spot_label(x - width / 2, middle, width, led=False)
    for step in range(1, 16):
        for lines in (step, -step) if downwards else (-step, step):
            for left in (x + 2 * away, x - 2 * away - width):
                yield _spot_label(left, y + lines * LINE, width, led=True)


def _spot_label(left: float, middle: float, width: float, *, led: bool) -> Label:
    box = Rectangle(left, middle - LINE / 2, left + width, middle + LINE / 2)
    return Label(left, middle + 4, box, led)


def _outside(box: Rectangle, room: Rectangle) -> float:
    """Return the area of a label that lies outside of the room for labels; that is worse than any overlap."""
    area = (box.right - box.left) * (box.bottom - box.top)
    outside = area - box.overlap(room)
    return 10 * outside if outside > 1e-6 else 0.0


WIDTH, HEIGHT = 820, 440
LEFT, TOP, RIGHT, BOTTOM = 74, 18, 790, 384
"""The frame of the plot; labels may reach beyond its right side."""
MANY = 24
"""With more points than this only those on the front have labels; all tell their name when pointed at."""

WIDER = 1.2
"""How far the axis of suppression goes beyond the limit and all that is on it."""
RING = 11
"""Radius of the ring around what is recommended."""

SHARE = "suppressed: share of the volume that is withheld"

Kind = Literal["shared", "overlapping", "noise", "unsafe"]


class Point(NamedTuple):
    """One release: its name, suppressed share, loss, kind of zones or promise, and more words."""

    name: str
    suppressed: float
    loss: float
    kind: Kind
    words: str
    chosen: bool = False


def undominated(points: Sequence[Point]) -> list[bool]:
    """Return, for every point, whether no other is at least as good in both and better in one.

    Both are compared as they are shown, to a tenth of a percent and to three digits: less is no
    difference worth a choice. Noise and unsafe releases neither dominate nor are on the front.

    Examples
    --------
    >>> points = [Point(n, s, g, "shared", "") for n, s, g in
    ...           (("a", 0.1, 50.0), ("b", 0.0, 90.0), ("c", 0.1, 60.0), ("d", 0.1000001, 49.999))]
    >>> undominated(points)
    [True, True, False, True]
    """
    shown = [(round(point.suppressed, 3), float(f"{point.loss:.3g}")) for point in points]
    judged = [point.kind in ("shared", "overlapping") for point in points]
    rivals = [pair for pair, counts in zip(shown, judged, strict=True) if counts]
    return [
        counts and not any(r != own and r[0] <= own[0] and r[1] <= own[1] for r in rivals)
        for own, counts in zip(shown, judged, strict=True)
    ]


def off_the_scale(points: Sequence[Point], limits: Sequence[float]) -> list[Point]:
    """Return the noisy releases that lack so much that showing them would squeeze all others together.

    >>> points = [Point("fine", 0.1, 50.0, "shared", ""), Point("noisy", 0.9, 2.0, "noise", "")]
    >>> [point.name for point in off_the_scale(points, [0.1])]
    ['noisy']
    """
    judged = [point.suppressed for point in points if point.kind != "noise"]
    most = WIDER * max([*judged, *limits, 0.005])
    return [point for point in points if point.kind == "noise" and judged and point.suppressed > most]


def render_plot(
    points: Sequence[Point], limits: Sequence[float], loss_title: str, share_title: str = SHARE
) -> str:
    """Return the plot as SVG: the front of all and that of shared zones as lines, beaten points grey.

    Parameters
    ----------
    points
        The releases; at least one, with losses above 0. Those off the scale are not for this plot.
    limits
        Shares that may be suppressed.
    loss_title
        What the loss is, with its unit.
    share_title
        What the share is of.
    """
    scale = _Scale.of(points, limits)
    best, sharing = undominated(points), _undominated_sharing(points)
    front = [either or other for either, other in zip(best, sharing, strict=True)]
    places = [(scale.x(point.suppressed), scale.y(point.loss)) for point in points]
    parts = [
        f'<svg class="plot" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-label="{escape(loss_title)}; {escape(share_title)}">',
        *_axes(scale, limits, loss_title, share_title),
        _front_line(sharing, places, "front sharing"),
        _front_line(best, places, "front"),
        *_labels(points, front, places),
    ]
    # The front last, so that nothing lies on it.
    for i in sorted(range(len(points)), key=lambda i: front[i]):
        parts.append(_mark(points[i], *places[i], on_front=front[i]))
    return "".join([*parts, "</svg>"])


def _undominated_sharing(points: Sequence[Point]) -> list[bool]:
    """Return the front among releases with shared zones alone."""
    alone = [point if point.kind == "shared" else point._replace(kind="noise") for point in points]
    return undominated(alone)


class _Scale(NamedTuple):
    most: float
    low: float
    high: float

    @classmethod
    def of(cls, points: Sequence[Point], limits: Sequence[float]) -> _Scale:
        most = max(*(point.suppressed for point in points), *limits, 0.005) * WIDER
        losses = [math.log10(point.loss) for point in points]
        room = max(0.06 * (max(losses) - min(losses)), 0.05)
        # Below the lowest points lie their labels.
        return cls(most, min(losses) - 2 * room, max(losses) + room)

    def x(self, share: float) -> float:
        return LEFT + (RIGHT - LEFT) * share / self.most

    def y(self, loss: float) -> float:
        return BOTTOM - (BOTTOM - TOP) * (math.log10(loss) - self.low) / (self.high - self.low)


def _axes(scale: _Scale, limits: Sequence[float], loss_title: str, share_title: str) -> list[str]:
    parts = [f'<path class="axis" d="M{LEFT} {TOP}V{BOTTOM}H{RIGHT}"/>']
    for loss in _loss_ticks(scale):
        y = scale.y(loss)
        parts.append(f'<path class="grid" d="M{LEFT} {y:.1f}H{RIGHT}"/>')
        parts.append(f'<text class="tick end" x="{LEFT - 8}" y="{y + 4:.1f}">{_tick(loss)}</text>')
    for share in _share_ticks(scale.most):
        x = scale.x(share)
        parts.append(f'<path class="axis" d="M{x:.1f} {BOTTOM}v5"/>')
        parts.append(f'<text class="tick middle" x="{x:.1f}" y="{BOTTOM + 19}">{100 * share:g} %</text>')
    for limit in sorted(set(limits)):
        x = scale.x(limit)
        parts.append(f'<path class="limit" d="M{x:.1f} {TOP}V{BOTTOM}"/>')
        parts.append(
            f'<text class="tick middle" x="{x:.1f}" y="{TOP - 5}">limit {100 * limit:g} %</text>'
            if len(limits) < 6
            else ""
        )
    middle = (TOP + BOTTOM) / 2
    parts.append(f'<text class="title middle" x="{(LEFT + RIGHT) / 2}" y="{HEIGHT - 12}">')
    parts.append(f"{escape(share_title)}</text>")
    parts.append(f'<text class="title middle" transform="translate(16 {middle}) rotate(-90)">')
    parts.append(f"{escape(loss_title)}</text>")
    return parts


def _tick(loss: float) -> str:
    return f"{loss:,.0f}" if loss >= 1000 else f"{loss:g}"


def _loss_ticks(scale: _Scale) -> list[float]:
    """Return 1, 2 and 5 of every power of ten in view; powers alone where that would be too many."""
    powers = range(math.floor(scale.low), math.ceil(scale.high) + 1)
    fine = [digit * 10.0**power for power in powers for digit in (1, 2, 5)]
    seen = [tick for tick in fine if scale.low <= math.log10(tick) <= scale.high]
    if len(seen) > 9:
        return [tick for tick in seen if math.log10(tick) % 1 < 1e-9]
    return seen if len(seen) > 1 else _even_ticks(scale)


def _even_ticks(scale: _Scale) -> list[float]:
    low, high = 10.0**scale.low, 10.0**scale.high
    step = 10.0 ** math.floor(math.log10(high - low)) / 2
    step *= 1 if (high - low) / step < 9 else 2
    return [step * n for n in range(math.ceil(low / step), math.floor(high / step) + 1)]


def _share_ticks(most: float) -> list[float]:
    raw = most / 6
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(power * digit for digit in (1, 2, 5, 10) if power * digit >= raw)
    return [round(step * n, 12) for n in range(int(most / step) + 1)]


def _front_line(front: Sequence[bool], places: Sequence[tuple[float, float]], style: str) -> str:
    """Return the edge of what can be reached: from point to point first sideways, then down."""
    on = sorted(place for place, is_on in zip(places, front, strict=True) if is_on)
    if len(on) < 2:
        return ""
    steps = [f"M{on[0][0]:.1f} {on[0][1]:.1f}"] + [f"H{x:.1f}V{y:.1f}" for x, y in on[1:]]
    return f'<path class="{style}" d="{"".join(steps)}"/>'


def _labels(
    points: Sequence[Point], front: Sequence[bool], places: Sequence[tuple[float, float]]
) -> list[str]:
    named = [i for i in range(len(points)) if front[i] or points[i].chosen or len(points) <= MANY]
    # Those on the front choose their place first.
    named.sort(key=lambda i: (not points[i].chosen, not front[i], places[i][1]))
    room = Rectangle(LEFT + 4, TOP + 2, WIDTH - 2, BOTTOM - 4)
    spots = [Spot(*places[i], RING if points[i].chosen else 6) for i in named]
    found = place_labels(spots, [points[i].name for i in named], room)
    return [
        part
        for i, label in zip(named, found, strict=True)
        for part in _label(points[i], places[i], label, on_front=front[i])
    ]


def _label(point: Point, place: tuple[float, float], label: Label, *, on_front: bool) -> list[str]:
    parts = []
    if label.led:
        x, y = place
        end = label.box.left - 2 if label.box.left > x else label.box.right + 2
        parts.append(f'<path class="lead" d="M{x:.1f} {y:.1f}L{end:.1f} {label.y - 4:.1f}"/>')
    style = "name" + (" chosen" if point.chosen else "") + ("" if on_front else " behind")
    parts.append(f'<text class="{style}" x="{label.x:.1f}" y="{label.y:.1f}">{escape(point.name)}</text>')
    return parts


def _mark(point: Point, x: float, y: float, *, on_front: bool) -> str:
    shapes = {
        "shared": f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5.5"/>',
        "overlapping": f'<path d="M{x:.1f} {y - 7:.1f}l7 7l-7 7l-7-7z"/>',
        "noise": f'<path d="M{x - 5:.1f} {y - 5:.1f}h10v10h-10z"/>',
        "unsafe": f'<path d="M{x - 5:.1f} {y - 5:.1f}l10 10m0-10l-10 10"/>',
    }
    ring = f'<circle class="ring" cx="{x:.1f}" cy="{y:.1f}" r="{RING}"/>' if point.chosen else ""
    style = f"mark {point.kind}" + ("" if on_front or point.kind in ("noise", "unsafe") else " behind")
    words = f"<title>{escape(point.name)}: {escape(point.words)}</title>"
    return f'<g class="{style}">{words}{ring}{shapes[point.kind]}</g>'
