"""Draws the house plan (house.svg): which room holds what, and who stands on whom.

python docs/images/make_house.py
"""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
WIDTH, LEFT, GAP, LINE, HEAD = 1120, 20, 12, 17, 34


class Room(NamedTuple):
    """A room: its name, and its ideas, a line each."""

    name: str
    ideas: tuple[str, ...]


TOP = (
    (Room("cli/", ("the command line, a file a command: parses, calls, prints; Ctrl-C, exit codes",)),),
    (
        Room(
            "api/",
            (
                "the front door: tc.anonymise(frame, k=10); data frames",
                "in and out, releases in a notebook, cards",
            ),
        ),
        Room(
            "studio/",
            (
                "the local page: HTTP API, who may ask, runs as",
                "processes of their own, the workspace, previews",
            ),
        ),
    ),
    (Room("reporting/", ("one page that tells everything about a release, in public and for its owner",)),),
    (
        Room(
            "comparing/",
            ("all methods, each in", "a process of its own;", "Pareto plot, choice"),
        ),
        Room(
            "analysis/",
            ("zones of your own,", "profiles, land use,", "typical flows"),
        ),
        Room("fairness/", ("a release a segment,", "what it costs each;", "who is left exposed")),
        Room("receiving/", ("a release checked by", "whoever was given it,", "without the raw data")),
        Room("ledger/", ("many releases of the", "same people: what they", "tell together")),
        Room("exporting/", ("a release in the", "formats of other", "tools")),
    ),
)
WINGS = {
    "flows/": (
        (
            Room(
                "the road",
                (
                    "anonymise · few · notes · publish · planning · series · describe · checking",
                    "resuming · keywords · protection (what is asked for) · rewriting (byte by byte)",
                ),
            ),
        ),
        (Room("report", ("map, README",)),),
        (
            Room(
                "methods",
                (
                    "TwinCut, NestedCut,",
                    "ProductCut, ATG,",
                    "knapsack, ODkAnon,",
                    "OIGH, km-apriori,",
                    "Mondrian, Glove,",
                    "noise; slots, losses",
                ),
            ),
            Room(
                "measures",
                ("sizes (G, S, C_DM)", "distances (GDM)", "fidelity (E, D, CPC)", "scorecard: all of them"),
            ),
            Room(
                "audit",
                (
                    "its own SQL, H3,",
                    "calendar, and its own",
                    "reading of promises;",
                    "rules on folders, and",
                    "on the matrix before",
                    "anything is written",
                ),
            ),
        ),
        (
            Room("reading", ("clean records to a", "matrix; spool, coding")),
            Room("release", ("Release, its tables, what", "may be public, reading it")),
        ),
        (Room("model", ("ODMatrix: flows, groups of flows, travellers, weights",)),),
    ),
    "trajectories/": (
        (
            Room(
                "the road",
                (
                    "anonymise · regions · checking · attacking · linking · trips",
                    "keywords (what is asked for) · rewriting (byte by byte)",
                ),
            ),
        ),
        (Room("report", ("map with a time slider, figures, README",)),),
        (
            Room(
                "methods",
                ("k-merge, k-scale,", "GLOVE, W4M, NWA;", "pivots: clusters that", "W4M and NWA share"),
            ),
            Room(
                "measures",
                ("accuracy, shape,", "anchors, entropy,", "displacement laws;", "scorecard: all of them"),
            ),
            Room(
                "audit · attacks",
                (
                    "who contains whom,",
                    "counted afresh; rules",
                    "on folders and arrays;",
                    "who is found by",
                    "what, who is whose",
                ),
            ),
        ),
        (
            Room("reading", ("fixes to samples;", "projection, jumps")),
            Room("stays", ("stays, and the", "trips between")),
            Room("release", ("boxes, pseudonyms,", "exchange formats")),
        ),
        (Room("model", ("Trajectories on a Grid: samples in steps of time and space",)),),
    ),
}
BELOW = (
    (
        Room(
            "pages/",
            (
                "what all pages share: one offline file each;",
                "plots, line charts, rasters, small maps, outlines",
            ),
        ),
        Room(
            "engines/",
            ("where flows are counted: arrays in memory,", "or parts on disk, mapped; spool"),
        ),
    ),
    (
        Room(
            "records/",
            (
                "clean trips and fixes: columns, presets, cleaning, areas, stations, segments · "
                "files: archives, text, documents and data frames to columns",
            ),
        ),
    ),
    (
        Room(
            "promises/",
            (
                "one class per promise: k, several at once, every segment, k^m, l, t, noise, "
                "containment, co-location",
            ),
        ),
    ),
    (
        Room(
            "hierarchy/",
            (
                "Hierarchy (a tree of zones), Cut; H3, quadtree, dendrogram,",
                "table of parents, zones files, time, boxes, domains",
            ),
        ),
        Room(
            "synth/",
            ("made-up people: a city of trips, a survey of GPS points,", "call detail records; seeded"),
        ),
    ),
    (
        Room(
            "ground/",
            (
                "errors · extras · progress · ending · memory · noise · threads · arrays · engine (DuckDB) · "
                "exact_files · documents · spreadsheets · masking · given_paths · sparing",
                "folders, moving, waiting: whole or not at all · public_files: those there are, unchanged",
                "manifest · keys · signatures · entries and kinds · rulebook and verdict · rewriting · "
                "options, registry and spelling: declared once, derived everywhere",
            ),
        ),
    ),
)
KINDS = ("below", "below", "below", "below", "ground")


class Drawing:
    """Shapes, from the roof downwards."""

    def __init__(self) -> None:
        self.shapes: list[str] = []
        self.y = 16

    def storey(
        self,
        rooms: tuple[Room, ...],
        kind: str,
        left: int = LEFT,
        width: int = WIDTH - 2 * LEFT,
        lines: int = 0,
    ) -> None:
        """Draw rooms side by side, with room for so many lines or more."""
        each = (width - GAP * (len(rooms) - 1)) / len(rooms)
        height = HEAD + LINE * max(lines, lines_of(rooms))
        for at, room in enumerate(rooms):
            self.room(room, kind, left + at * (each + GAP), each, height)
        self.y += height + GAP

    def room(self, room: Room, kind: str, x: float, width: float, height: float) -> None:
        """Draw one room."""
        self.box(x, width, height, kind)
        self.text(x + 12, self.y + 22, room.name, "name")
        for line, words in enumerate(room.ideas):
            self.text(x + 12, self.y + 24 + LINE * (line + 1), words, "idea")

    def box(self, x: float, width: float, height: float, kind: str) -> None:
        """Draw a rectangle at the height that has been reached."""
        self.shapes.append(
            f'<rect class="{kind}" x="{x:.0f}" y="{self.y}" width="{width:.0f}" height="{height}" rx="5"/>'
        )

    def text(self, x: float, y: float, words: str, kind: str) -> None:
        """Write words."""
        self.shapes.append(f'<text class="{kind}" x="{x:.0f}" y="{y:.0f}">{escape(words)}</text>')


def lines_of(rooms: tuple[Room, ...]) -> int:
    """Return how many lines the ideas of the fullest of these rooms take."""
    return max(len(room.ideas) for room in rooms)


def wings(drawing: Drawing) -> None:
    """Draw both wings beside each other: the same rooms at the same heights, and a wall between them."""
    top, width = drawing.y, (WIDTH - 2 * LEFT - 3 * GAP) / 2
    lines = [max(map(lines_of, both)) for both in zip(*WINGS.values(), strict=True)]
    height = 46 + sum(HEAD + LINE * n + GAP for n in lines) + LINE
    for side, (name, storeys) in enumerate(WINGS.items()):
        drawing.y = top
        x = int(LEFT + side * (width + 3 * GAP))
        drawing.box(x, width, height, "wing")
        drawing.text(x + 14, top + 28, name, "title")
        drawing.y = top + 42
        for at, rooms in enumerate(storeys):
            apart = at == 2
            drawing.storey(rooms, "apart" if apart else "quiet", int(x + 14), int(width - 28), lines[at])
            if apart:
                drawing.text(x + 14, drawing.y + 6, "never import each other, not even at one remove", "idea")
                drawing.y += LINE
    drawing.y = top + height + GAP


STYLE = """
text { font-family: system-ui, sans-serif; fill: #1d2733 }
.title { font-size: 19px; font-weight: 700 }
.name { font-size: 15px; font-weight: 600 } .idea { font-size: 12.5px }
rect { stroke: #5b6b7c; stroke-width: 1 }
.roof { fill: #f6e3c5 } .up { fill: #e8ecd9 } .wing { fill: #f4f6f8 }
.quiet { fill: #ffffff } .apart { fill: #d7e6f2 } .below { fill: #e6e0ef } .ground { fill: #d9d4cc }
"""


def drawn() -> str:
    """Return the drawing."""
    drawing = Drawing()
    for rooms, kind in zip(TOP, ("roof", "roof", "roof", "up"), strict=True):
        drawing.storey(rooms, kind)
    wings(drawing)
    for rooms, kind in zip(BELOW, KINDS, strict=True):
        drawing.storey(rooms, kind)
    size = f'width="{WIDTH}" height="{drawing.y + 8}" viewBox="0 0 {WIDTH} {drawing.y + 8}"'
    title = "<title>The house plan of tripcloak: two wings with the same rooms on one ground floor</title>"
    page = f'<rect x="0" y="0" width="{WIDTH}" height="{drawing.y + 8}" style="fill: #fff; stroke: none"/>'
    body = "\n".join(drawing.shapes)
    opened = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">{title}<style>{STYLE}</style>'
    return f"{opened}{page}\n{body}\n</svg>\n"


if __name__ == "__main__":
    (HERE / "house.svg").write_text(drawn(), encoding="utf-8")
