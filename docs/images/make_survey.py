"""Draws grid.svg and the like: what the survey's methods make of a few people, seen from above.

A line with dots is what was recorded of a person, a rectangle a released sample.

    python docs/images/make_survey.py
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np

from tripcloak.ground.arrays import Ints
from tripcloak.trajectories.methods.dummies import Dummies
from tripcloak.trajectories.methods.grid import GridGeneralisation
from tripcloak.trajectories.methods.km import KMTrajectories
from tripcloak.trajectories.methods.mixzones.roads import Road, Roads, Shape, road_zones
from tripcloak.trajectories.methods.mixzones.zones import MixZones
from tripcloak.trajectories.methods.moments import moments_of
from tripcloak.trajectories.methods.noise.adatrace import AdaTrace
from tripcloak.trajectories.methods.noise.dptd import DPTD
from tripcloak.trajectories.methods.noise.locations import InterestingLocations
from tripcloak.trajectories.methods.noise.safepath import SafePath
from tripcloak.trajectories.model import Grid, Trajectories
from tripcloak.trajectories.release.release import TrajectoryRelease

COLOURS = ("#1d4e89", "#c2410c", "#0f766e", "#7c3aed", "#a16207", "#be185d")
INK, QUIET, EDGE = "#1b2733", "#5b6875", "#334155"
HERE = Path(__file__).parent
REACH = 32
SIDE = 250
PARIS = "+proj=laea +lat_0=48.9 +lon_0=2.3 +datum=WGS84"


def main() -> None:
    """Write all pictures beside this script."""
    _write("grid.svg", 880, 640, _grid())
    _write("km.svg", 880, 360, _km())
    _write("mix-zones.svg", 880, 360, _mix())
    _write("dummies.svg", 880, 360, _dummies())
    _write(
        "safepath.svg", 880, 360, _told(SafePath(epsilon=3.0, cell=800, interval=3600, length=2, reach=3200))
    )
    _write("dptd.svg", 880, 360, _told(DPTD(epsilon=12.0, cell=800, interval=3600, length=2)))
    _write("locations.svg", 590, 360, _locations())
    _write("adatrace.svg", 880, 360, _told(AdaTrace(epsilon=12.0, cell=400, interval=3600, reach=3200)))


def _grid() -> list[str]:
    """Return six people as recorded, and on cells of one width, of one a person, and of one a region."""
    people = _town()
    parts = [
        _text(30, 28, "Six people in four slots of time; in every box two of them or more (k = 2)", size=16),
        _text(
            30,
            48,
            "lines are what was recorded; rectangles what is released, in the colour of the person",
            QUIET,
        ),
        *_panel(people, None, (30, 80), "as recorded"),
    ]
    words = {
        "common": "common: one width for everybody",
        "individual": "individual: one width a person",
        "irregular": "irregular: one a person and region",
    }
    corners = ((310, 80), (30, 370), (310, 370))
    for (partition, told), corner in zip(words.items(), corners, strict=True):
        method = GridGeneralisation(
            k=2, partition=partition, cell=400, interval=600, withheld=0.0, frequent=0.5
        )
        parts += _panel(people, method.anonymise(people), corner, told)
    hexagons = GridGeneralisation(
        k=2, partition="irregular", cells="h3", resolution=9, interval=600, withheld=0.0, frequent=0.5
    )
    parts += _panel(people, hexagons.anonymise(people), (590, 370), "irregular, around hexagons of H3")
    return [
        *parts,
        _text(590, 120, "Who is alone needs wide cells.", QUIET),
        _text(590, 140, "Common cells make everybody pay", QUIET),
        _text(590, 160, "for it, individual ones the person", QUIET),
        _text(590, 180, "alone, irregular ones the person", QUIET),
        _text(590, 200, "only there, and where the person", QUIET),
        _text(590, 220, "stays often.", QUIET),
    ]


def _mix() -> list[str]:
    """Return four people who meet, and the pieces under new names."""
    tracks = [
        [(1, 17), (7, 17), (14, 17), (18, 15), (25, 15), (30, 15)],
        [(30, 17), (25, 17), (18, 18), (14, 14), (14, 7), (14, 2)],
        [(17, 30), (17, 25), (16, 18), (17, 14), (17, 7), (17, 2)],
        [(1, 4), (6, 5), (7, 7), (6, 11), (4, 14), (2, 14)],
    ]
    rows = [(who, at, x, y) for who, track in enumerate(tracks) for at, (x, y) in enumerate(track)]
    user, t, x, y = zip(*rows, strict=True)
    people = Trajectories.of(user=user, t=t, x=x, y=y, grid=Grid())
    release = MixZones(k=3, width=800).anonymise(people)
    parts = [
        _text(30, 28, "Four people, k = 3: three of them are inside one zone at once", size=16),
        _text(
            30,
            48,
            "they are silent there and come out under new names; who passes no zone keeps one",
            QUIET,
        ),
        *_panel(people, None, (30, 85), "as recorded"),
        *_frame((310, 85), "released: a colour a pseudonym"),
        *_along_roads((590, 85)),
    ]
    for _, x0, x1, y0, y1 in release.facts["zones"]:
        for corner in ((30, 85), (310, 85)):
            (west, south), (east, north) = _at(corner, x0, y0), _at(corner, x1, y1)
            parts.append(
                f'<rect x="{west:.1f}" y="{north:.1f}" width="{east - west:.1f}" '
                f'height="{south - north:.1f}" fill="{EDGE}" fill-opacity="0.12" stroke="{EDGE}" '
                'stroke-dasharray="4 3"/>'
            )
    for row, (begin, end) in enumerate(pairwise(release.offsets.tolist())):
        colour = (*COLOURS, "#475569")[row % 7]
        places = [
            _at((310, 85), x + 0.5, y + 0.5)
            for x, y in zip(release.boxes.x0[begin:end], release.boxes.y0[begin:end], strict=True)
        ]
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="1.2"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in places]
    return parts


def _along_roads(corner: tuple[int, int]) -> list[str]:
    """Return a crossing of a fast road and a slow one, and the zone that follows them."""
    grid = Grid(seconds=10, metres=10, projection=PARIS)
    ways = [((0, 150), (150, 160), (320, 180)), ((170, 0), (150, 160), (120, 320))]
    roads = []
    for way, speed in zip(ways, (60.0, 20.0), strict=True):
        lon, lat = grid.unproject(*np.array(way, float).T)
        roads.append(Road(tuple(zip(lon.round(6).tolist(), lat.round(6).tolist(), strict=True)), speed))
    nobody = moments_of(Trajectories.of(user=[0, 1], t=[0, 0], x=[0, 1], y=[0, 0], grid=grid))
    shape = Shape(width=320, within=2.0, entropy=0.9, speed=30.0, spread=0.3, breadth=15)
    parts = _frame(corner, "along roads: 60 and 20 km/h")
    for _, x0, x1, y0, y1 in road_zones(nobody, Roads(tuple(roads)), grid, shape).rows.tolist():
        (west, south), (east, north) = _at(corner, x0, y0), _at(corner, x1, y1)
        parts.append(
            f'<rect x="{west:.1f}" y="{north:.1f}" width="{east - west:.1f}" height="{south - north:.1f}" '
            f'fill="{EDGE}" fill-opacity="0.18"/>'
        )
    for way, wide in zip(ways, (2.4, 1.2), strict=True):
        line = " ".join("{:.1f},{:.1f}".format(*_at(corner, x / 10, y / 10)) for x, y in way)
        parts.append(f'<polyline points="{line}" fill="none" stroke="{INK}" stroke-width="{wide}"/>')
    return parts


def _dummies() -> list[str]:
    """Return one person, turned and random dummies, and what can be followed."""
    track = [(3, 8), (6, 10), (9, 13), (12, 14), (15, 17), (17, 20), (20, 21), (24, 24)]
    rows = [(0, at, x, y) for at, (x, y) in enumerate(track)] + [(1, 0, 0, 0), (1, 1, 31, 31)]
    user, t, x, y = zip(*rows, strict=True)
    people = Trajectories.of(user=user, t=t, x=x, y=y, grid=Grid())
    parts = [
        _text(30, 28, "One person, and dummies until both disclosures are small enough", size=16),
        _text(
            30,
            48,
            "black is the true trajectory, which is released as it was; nothing says that it is the true one",
            QUIET,
        ),
    ]
    for corner, pattern, words in (
        ((30, 85), "rotation", "rotation: turned about its own places"),
        ((310, 85), "random", "random: from somewhere to somewhere"),
    ):
        method = Dummies(pattern=pattern, sd=0.3, ld=0.12, dst=2.0, cell=200)
        solution = method.solve(people, lambda *_: None, np.random.default_rng(7))
        assert solution.guards is not None
        parts += _frame(corner, words)
        for row, (begin, end) in enumerate(pairwise(solution.offsets.tolist())):
            if 0 not in (solution.guards[row], np.flatnonzero(solution.released_of == row).min(initial=9)):
                continue
            colour = INK if solution.guards[row] < 0 else COLOURS[row % len(COLOURS)]
            places = [
                _at(corner, x + 0.5, y + 0.5)
                for x, y in zip(solution.boxes.x0[begin:end], solution.boxes.y0[begin:end], strict=True)
            ]
            line = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
            parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="1.4"/>')
            parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in places]
    return [
        *parts,
        _text(590, 120, "Short-term disclosure: a guess of one", QUIET),
        _text(590, 140, "place is right 0.3 of the time at most.", QUIET),
        _text(590, 170, "Long-term: a guess of a whole way,", QUIET),
        _text(590, 190, "0.12 at most; where two meet, one may", QUIET),
        _text(590, 210, "change over, so turned ones make", QUIET),
        _text(590, 230, "many ways of few dummies.", QUIET),
    ]


def _km() -> list[str]:
    """Return people who share single visits, with m = 1 and with m = 2."""
    tracks = [[(3, 5), (3, 25)], [(4, 6), (12, 26)], [(11, 5), (4, 26)], [(12, 6), (13, 25)]]
    rows = [(who, 60 * at, x, y) for who, track in enumerate(tracks) for at, (x, y) in enumerate(track)]
    user, t, x, y = zip(*rows, strict=True)
    people = Trajectories.of(user=user, t=t, x=x, y=y, grid=Grid())
    one, two = (KMTrajectories(k=2, m=m, cell=800, interval=3600).anonymise(people) for m in (1, 2))
    return [
        _text(30, 28, "Four people in two slots, k = 2: below in the first, above in the second", size=16),
        _text(
            30,
            48,
            "two people share every single visit, but no two share both until cells are doubled",
            QUIET,
        ),
        *_panel(people, None, (30, 85), "as recorded"),
        *_panel(people, one, (310, 85), "m = 1: any one visit is shared"),
        *_panel(people, two, (590, 85), "m = 2: any two visits are shared"),
    ]


class SameNoise:
    """Noise with a seed, so that the picture is the same each time; nothing that is private has one."""

    def __init__(self) -> None:
        self._dice = np.random.default_rng(5)

    def laplace(self, exact: Ints, *, scale: float, sensitivity: int, epsilon: float) -> Ints:
        """Return numbers with noise."""
        return exact + np.rint(self._dice.laplace(0, scale, len(exact))).astype(np.int64)

    gaussian = laplace


def _told(method: SafePath | DPTD | AdaTrace) -> list[str]:
    """Return people on two ways and one alone, and what noisy numbers tell of them."""
    dice = np.random.default_rng(1)
    begin = np.concatenate([np.tile([(3, 4)], (400, 1)), np.tile([(27, 27)], (250, 1)), [(27, 3)]])
    end = np.concatenate([np.tile([(27, 12)], (400, 1)), np.tile([(4, 20)], (250, 1)), [(12, 27)]])
    places = np.stack([begin, end], axis=1) + dice.integers(-2, 3, (651, 2, 2))
    user = np.repeat(np.arange(651), 2)
    x, y = places.reshape(-1, 2).T
    people = Trajectories.of(user=user, t=[0, 60] * 651, x=x, y=y, grid=Grid())
    release = method.anonymise(people, noise=SameNoise())  # type: ignore[arg-type]
    sides = release.boxes
    cell = np.stack([sides.x0, sides.y0, sides.x1, sides.y1, sides.t0 > 0])
    boxes, many = np.unique(cell, axis=1, return_counts=True)
    parts = [
        _text(
            30,
            28,
            f"651 people on two ways, one of them alone on a third; epsilon {method.epsilon:g}",
            size=16,
        ),
        _text(
            30,
            48,
            "made-up ways are of cells, as many as noisy numbers say; who is alone is lost in them",
            QUIET,
        ),
        *_frame((30, 85), "as recorded"),
        *_frame((310, 85), "released, made up: first"),
        *_frame((590, 85), "released, made up: then"),
    ]
    for who in range(651):
        (x0, y0), (x1, y1) = (_at((30, 85), *place) for place in places[who] + 0.5)
        colour, wide = (COLOURS[1], 1.8) if who == 650 else (COLOURS[0], 0.4)
        parts.append(
            f'<line x1="{x0:.1f}" y1="{y0:.1f}" x2="{x1:.1f}" y2="{y1:.1f}" stroke="{colour}" '
            f'stroke-width="{wide}" stroke-opacity="{1 if who == 650 else 0.25}"/>'
        )
    for (west, south, east, north, when), people_in in zip(boxes.T.tolist(), many.tolist(), strict=True):
        corner = (590 if when else 310, 85)
        (left, bottom), (right, top) = _at(corner, west, south), _at(corner, east, north)
        parts += [
            f'<rect x="{left:.1f}" y="{top:.1f}" width="{right - left:.1f}" height="{bottom - top:.1f}" '
            f'fill="{COLOURS[0]}" fill-opacity="{0.08 + 0.4 * people_in / many.max():.2f}" stroke="{EDGE}"/>',
            _text(left + 5, (top + bottom) / 2 + 4, f"{people_in}", size=11),
        ]
    return parts


def _locations() -> list[str]:
    """Return stays of people around three places and of some anywhere, and what is told of them."""
    dice = np.random.default_rng(4)
    middles = [((6, 7), 1.2, 320), ((24, 22), 1.6, 260), ((8, 25), 0.6, 120)]
    around = [dice.normal(place, wide, (many, 2)) for place, wide, many in middles]
    places = np.clip(np.concatenate([*around, dice.uniform(0, 32, (60, 2))]), 0, 31).astype(np.int64)
    user = np.repeat(np.arange(len(places)), 2)
    x, y = np.repeat(places, 2, axis=0).T
    people = Trajectories.of(user=user, t=[0, 60] * len(places), x=x, y=y, grid=Grid())
    method = InterestingLocations(epsilon=1.0, cell=200, length=1, reach=3200)
    boxes = method.anonymise(people, noise=SameNoise()).boxes  # type: ignore[arg-type]
    told, many = np.unique(np.stack([boxes.x0, boxes.y0]), axis=1, return_counts=True)
    parts = [
        _text(30, 28, f"Stays of {len(places)} people, most of them at three places; epsilon 1", size=16),
        _text(30, 48, "told are places where many stay: the middle, and a noisy number of people", QUIET),
        *_frame((30, 85), "stays, one of everybody"),
        *_frame((310, 85), "released: locations"),
    ]
    for place in places + dice.uniform(0, 1, places.shape):
        across, down = _at((30, 85), *place)
        parts.append(f'<circle cx="{across:.1f}" cy="{down:.1f}" r="1.5" fill="{COLOURS[0]}" opacity="0.5"/>')
    for (west, south), stay_here in zip(told.T.tolist(), many.tolist(), strict=True):
        (left, bottom), (right, top) = _at((310, 85), west, south), _at((310, 85), west + 2, south + 2)
        parts += [
            f'<rect x="{left:.1f}" y="{top:.1f}" width="{right - left:.1f}" height="{bottom - top:.1f}" '
            f'fill="{COLOURS[0]}" fill-opacity="0.45" stroke="{EDGE}"/>',
            _text(left - 24, top - 5, f"{stay_here} people", size=11),
        ]
    return parts


def _frame(corner: tuple[int, int], words: str) -> list[str]:
    left, top = corner
    return [
        _text(left, top - 8, words, weight=600),
        f'<rect x="{left}" y="{top}" width="{SIDE}" height="{SIDE}" fill="#ffffff" stroke="#cbd5e1"/>',
    ]


def _at(corner: tuple[int, int], x: float, y: float) -> tuple[float, float]:
    return corner[0] + x / REACH * SIDE, corner[1] + SIDE - y / REACH * SIDE


def _town() -> Trajectories:
    """Return four people who move together in pairs, and two who are far from each other at times."""
    tracks = [
        [(3, 3), (9, 4), (14, 6), (21, 6)],
        [(2, 2), (10, 5), (13, 5), (22, 7)],
        [(4, 26), (10, 25), (15, 22), (21, 22)],
        [(5, 27), (9, 26), (14, 23), (22, 21)],
        [(26, 3), (26, 3), (26, 10), (25, 17)],
        [(30, 12), (27, 2), (27, 9), (26, 18)],
    ]
    rows = [(who, 10 * at, x, y) for who, track in enumerate(tracks) for at, (x, y) in enumerate(track)]
    user, t, x, y = zip(*rows, strict=True)
    return Trajectories.of(user=user, t=t, x=x, y=y, grid=Grid(projection=PARIS))


def _panel(
    people: Trajectories, release: TrajectoryRelease | None, corner: tuple[int, int], words: str
) -> list[str]:
    """Return a frame with what was recorded, and what is released of it if anything."""

    def at(x: float, y: float) -> tuple[float, float]:
        return _at(corner, x, y)

    parts = _frame(corner, words)
    if release is not None:
        parts += _boxes(release, at)
    for who in range(people.n_users):
        mine = slice(*people.offsets[who : who + 2])
        places = [at(x + 0.5, y + 0.5) for x, y in zip(people.x[mine], people.y[mine], strict=True)]
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        parts.append(f'<polyline points="{line}" fill="none" stroke="{COLOURS[who]}" stroke-width="1.2"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{COLOURS[who]}"/>' for x, y in places]
    return parts


def _boxes(release: TrajectoryRelease, at: object) -> list[str]:
    """Return the released boxes, in the colour of whose they are; grey where they are nobody's."""
    whose = np.full(release.n_released, -1)
    kept = release.released_of >= 0
    whose[release.released_of[kept]] = np.flatnonzero(kept)
    parts = []
    for row in range(release.n_released):
        colour = COLOURS[whose[row]] if whose[row] >= 0 else EDGE
        for box in range(*release.offsets[row : row + 2]):
            x0, x1, y0, y1 = (int(np.clip(side[box], 0, REACH)) for side in release.boxes[2:])
            (west, south), (east, north) = at(x0, y0), at(x1, y1)  # type: ignore[operator]
            parts.append(
                f'<rect x="{west:.1f}" y="{north:.1f}" width="{east - west:.1f}" '
                f'height="{south - north:.1f}" '
                f'fill="{colour}" fill-opacity="0.08" stroke="{colour}" stroke-width="1.2"/>'
            )
    return parts


def _text(x: float, y: float, words: str, fill: str = INK, size: int = 13, weight: int = 400) -> str:
    return f'<text x="{x}" y="{y}" fill="{fill}" font-size="{size}" font-weight="{weight}">{words}</text>'


def _write(name: str, width: int, height: int, parts: list[str]) -> None:
    text = "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
            'font-family="system-ui, sans-serif" font-size="13">',
            f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
            *parts,
            "</svg>",
            "",
        ]
    )
    (HERE / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
