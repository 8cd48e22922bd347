"""Draws kmerge.svg and kscale.svg: one optimal merge, and four people under the three constraints of k-scale.

Time runs to the right and a single axis of space upwards. A dot is a sample, a rectangle a released sample.

    python docs/images/make_kscale.py
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tripcloak import KScale, k_merge
from tripcloak.trajectories.model import Grid, Trajectories
from tripcloak.trajectories.release.release import Boxes

COLOURS = ("#1d4e89", "#c2410c", "#0f766e", "#7c3aed")
INK, QUIET, EDGE, FILL = "#1b2733", "#5b6875", "#334155", "#e2e8f0"
HERE = Path(__file__).parent


def main() -> None:
    """Write both pictures beside this script."""
    _write("kmerge.svg", 760, 330, _merge())
    _write("kscale.svg", 900, 640, _constraints())


def _merge() -> list[str]:
    """Return three people and their cheapest common generalisation."""
    people = _people(
        [
            [(2, 14), (5, 16), (19, 9), (34, 22), (47, 30)],
            [(3, 18), (17, 6), (22, 8), (38, 25), (49, 27)],
            [(6, 12), (18, 11), (36, 19), (45, 31)],
        ]
    )
    merged = k_merge(people, [0, 1, 2])
    parts = [
        f'<text x="40" y="28" font-size="16" fill="{INK}">Three trajectories become one</text>',
        f'<text x="40" y="48" fill="{QUIET}">every rectangle holds a sample of each; none overlap in time; '
        "no other choice of runs costs less</text>",
        *_plot(people, merged.boxes, slice(None), (40, 64, 690, 220), (0, 52, 2, 35)),
    ]
    return [*parts, f'<text x="40" y="312" fill="{QUIET}">time →</text>']


def _constraints() -> list[str]:
    """Return what is released of four people, for k = 3, under each constraint."""
    people = _people([[(2, 20), (12, 16)], [(3, 24), (11, 21)], [(4, 12), (14, 8)], [(3, 15), (13, 11)]])
    parts = [
        f'<text x="30" y="28" font-size="16" fill="{INK}">Four people of two samples each, k = 3</text>',
        f'<text x="30" y="48" fill="{QUIET}">dots are raw samples; rectangles are what is released of the '
        "person in the heading</text>",
    ]
    for row, (words, method) in enumerate(
        (
            ("full consistency: one cluster, the same for all", KScale(k=3, constraint="full")),
            ("k-pick: everybody picks two and is picked by two", KScale(k=3, constraint="k-pick")),
            (
                "nu-k-pick: everybody is picked by two, however many each picks",
                KScale(k=3, constraint="nu-k-pick", picking="alone"),
            ),
        )
    ):
        release = method.anonymise(people)
        top = 84 + row * 186
        parts.append(f'<text x="30" y="{top}" fill="{INK}" font-weight="600">{words}</text>')
        for who in range(4):
            left = 30 + who * 214
            mine = slice(*release.offsets[who : who + 2])
            parts += [
                f'<text x="{left}" y="{top + 20}" fill="{COLOURS[who]}">G{who + 1}</text>',
                *_plot(people, release.boxes, mine, (left, top + 26, 198, 128), (0, 17, 5, 28)),
            ]
    return parts


def _people(tracks: list[list[tuple[int, int]]]) -> Trajectories:
    user = np.repeat(np.arange(len(tracks)), [len(track) for track in tracks])
    t, x = np.array([sample for track in tracks for sample in track]).T
    return Trajectories.of(user=user, t=t, x=x, y=np.zeros_like(x), grid=Grid())


def _plot(
    people: Trajectories,
    boxes: Boxes,
    rows: slice,
    frame: tuple[int, int, int, int],
    spans: tuple[int, int, int, int],
) -> list[str]:
    """Return a frame with the people's samples and these rows of the boxes."""
    left, top, wide, high = frame
    t0, t1, x0, x1 = spans

    def at(t: float, x: float) -> tuple[float, float]:
        return left + (t - t0) / (t1 - t0) * wide, top + high - (x - x0) / (x1 - x0) * high

    parts = [f'<rect x="{left}" y="{top}" width="{wide}" height="{high}" fill="#ffffff" stroke="#cbd5e1"/>']
    for begin, end, low, up in zip(*(side[rows] for side in boxes[:4]), strict=True):
        (west, south), (east, north) = at(begin, low), at(end, up)
        parts.append(
            f'<rect x="{west:.1f}" y="{north:.1f}" width="{east - west:.1f}" height="{south - north:.1f}" '
            f'fill="{FILL}" stroke="{EDGE}" stroke-width="1.3"/>'
        )
    for owner, t, x in zip(people.owner, people.t, people.x, strict=True):
        across, down = at(t + 0.5, x + 0.5)
        parts.append(f'<circle cx="{across:.1f}" cy="{down:.1f}" r="4.5" fill="{COLOURS[owner]}"/>')
    return parts


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
