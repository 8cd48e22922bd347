"""Draws subtraction.svg: one person is erased, all is released again, and the difference is that person.

A dot is a person with one trip, a rectangle a released flow with its number. On the left nobody looks at
both releases together; on the right the second withholds what would tell. The attack finds what follows.

    python docs/images/make_subtraction.py
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from tripcloak.ledger.attack import attack
from tripcloak.ledger.disclosure import WITHHELD, Disclosure

INK, QUIET, LINE, BAD, GOOD = "#1b2733", "#5b6875", "#1d4e89", "#c2410c", "#0f766e"
FLOW, STEP, GAP, LEFT, PANEL, TOP, ROW = 168, 30, 22, 36, 436, 92, 96
WIDTH, HEIGHT = 2 * PANEL + LEFT, 374
BEFORE = (0,) * 5 + (1,) * 5
PANELS: tuple[tuple[str, str, tuple[int | None, ...]], ...] = (
    ("Unprotected", "the last person left, and all is told anew", (0,) * 5 + (1,) * 4 + (None,)),
    (
        "Protected by a ledger",
        "what few people left is not told anew; its old number stands",
        (0,) * 5 + (WITHHELD,) * 4 + (None,),
    ),
)
"""The flow of every person in the second release; None is no longer in the input."""


def main() -> None:
    """Write the picture beside this script."""
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        'font-family="system-ui, sans-serif" font-size="13">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
        '<defs><pattern id="h" width="6" height="6" patternUnits="userSpaceOnUse" '
        'patternTransform="rotate(45)"><rect width="6" height="6" fill="#f1f3f5"/>'
        '<line x1="0" y1="0" x2="0" y2="6" stroke="#c3cad1" stroke-width="1.5"/></pattern></defs>',
    ]
    for number, (title, words, after) in enumerate(PANELS):
        parts += _panel(LEFT + number * PANEL, title, words, after)
    text = "\n".join([*parts, "</svg>", ""])
    Path(__file__).with_name("subtraction.svg").write_text(text, encoding="utf-8")


def _panel(left: int, title: str, words: str, after: Sequence[int | None]) -> Iterator[str]:
    yield f'<text x="{left}" y="26" font-weight="600" font-size="15" fill="{INK}">{title}</text>'
    yield f'<text x="{left}" y="46" fill="{QUIET}">{words}</text>'
    for row, (name, groups) in enumerate((("first release", BEFORE), ("second release", after))):
        y = TOP + row * (ROW + 22)
        yield f'<text x="{left}" y="{y - 8}" fill="{QUIET}">{name}</text>'
        for flow in (0, 1):
            members = range(5 * flow, 5 * flow + 5)
            yield from _flow(left + flow * (FLOW + GAP), y, [groups[person] for person in members])
    yield from _conclusion(left, TOP + 2 * (ROW + 22) + 8, after)


def _flow(x: int, y: int, groups: Sequence[int | None]) -> Iterator[str]:
    there = [group is not None for group in groups]
    told = any(group not in (None, WITHHELD) for group in groups)
    look = f'fill="#dbeafe" stroke="{LINE}"' if told else 'fill="url(#h)" stroke="#aab4be"'
    yield f'<rect x="{x}" y="{y}" width="{FLOW}" height="{ROW - 18}" {look} stroke-width="1.4"/>'
    for place, here in enumerate(there):
        dot = f'<circle cx="{x + 24 + place * STEP}" cy="{y + 24}" r="8" '
        yield dot + (f'fill="{INK}"/>' if here else f'fill="none" stroke="{BAD}" stroke-dasharray="3 2"/>')
    number = f"{sum(there)} trips" if told else "withheld"
    yield (
        f'<text x="{x + FLOW / 2}" y="{y + 60}" text-anchor="middle" font-size="16" '
        f'fill="{LINE if told else QUIET}">{number}</text>'
    )


def _conclusion(left: int, y: int, after: Sequence[int | None]) -> Iterator[str]:
    """Yield what follows from both releases, as the attack finds it."""
    facts = attack([_disclosed(BEFORE), _disclosed(after)]).found
    if not facts:
        told = "Nothing about fewer than 3 people follows."
        yield f'<text x="{left}" y="{y}" font-weight="600" font-size="16" fill="{GOOD}">{told}</text>'
    for fact in facts:
        first, *others = fact.terms
        sums = f"{first.published}" + "".join(f" − {term.published}" for term in others)
        told = f"{sums} = {fact.least} trip, of {fact.people} person"
        yield f'<text x="{left}" y="{y}" font-weight="600" font-size="16" fill="{BAD}">{told}</text>'


def _disclosed(groups: Sequence[int | None]) -> Disclosure:
    there = [person for person, group in enumerate(groups) if group is not None]
    group = np.array([groups[person] for person in there], dtype=np.int32)
    records = np.array(there, dtype=np.uint64) + np.uint64(1)
    trips = np.bincount(group[group >= 0])
    return Disclosure(name="", record=records, person=records + np.uint64(100), group=group, trips=trips, k=3)


if __name__ == "__main__":
    main()
