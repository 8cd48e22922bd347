"""Draws the house plan (house.svg): which room holds what, and who stands on whom.

python docs/images/make_house.py
"""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
WIDTH, LEFT, GAP, LINE = 1120, 20, 12, 17


class Room(NamedTuple):
    """A room: its name, and its ideas, a line each."""

    name: str
    ideas: tuple[str, ...]


WING = {
    "flows/": (
        Room("model", ("ODMatrix, flows, groups",)),
        Room("reading", ("records to a matrix",)),
        Room("release", ("Release, its tables,", "what may be public")),
        Room("methods", ("TwinCut, ODkAnon, ATG,", "Mondrian, Laplace ...")),
        Room("measures", ("G, GDM, CPC, E, D ...",)),
        Room("audit", ("SQL of its own,", "a book of rules")),
        Room("report", ("map, README",)),
    ),
    "trajectories/": (
        Room("model", ("Trajectories, Grid",)),
        Room("reading", ("fixes to samples",)),
        Room("release", ("boxes, pseudonyms,", "tables, exchange files")),
        Room("methods", ("k-merge, k-scale,", "GLOVE, W4M, NWA")),
        Room("measures", ("accuracy, anchors,", "entropy, shape ...")),
        Room("audit · attacks", ("who contains whom;", "who is found by what")),
        Room("report", ("map, figures, README",)),
    ),
}
ROAD = {
    "flows/": "anonymise · publish · checking · describe: the road through the wing",
    "trajectories/": "anonymise · checking · attacking · trips: the road through the wing",
}
ROOF = (
    Room("api/", ("the front door: tc.anonymise(frame, k=10),", "releases in a notebook")),
    Room("cli/", ("the command line:", "parses, calls, prints")),
)
UPSTAIRS = (
    Room("comparing/", ("all methods side by side,", "each in a process of its own")),
    Room("analysis/", ("flows between zones of your own,", "profiles, land use, typical flows")),
    Room("fairness/", ("what safety costs each segment,", "who is left exposed")),
)
BELOW = (
    Room("records/", ("files and data frames to clean", "trips and fixes; presets")),
    Room("hierarchy/", ("trees of zones: H3, quadtree,", "dendrogram, table, time, boxes")),
    Room("promises/", ("one class per promise: k, k^m,", "l, t, noise, containment ...")),
    Room("pages/", ("what all pages share:", "charts, rasters, outlines")),
)
GROUND = "errors · progress · memory · threads · engine · masking · folders · manifest · rulebook · options"


class Drawing:
    """Shapes, from the roof downwards."""

    def __init__(self) -> None:
        self.shapes: list[str] = []
        self.y = 16

    def storey(
        self, rooms: tuple[Room, ...], kind: str, left: int = LEFT, width: int = WIDTH - 2 * LEFT
    ) -> None:
        """Draw rooms side by side."""
        each = (width - GAP * (len(rooms) - 1)) / len(rooms)
        height = 34 + LINE * max(len(room.ideas) for room in rooms)
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


def wings(drawing: Drawing) -> None:
    """Draw both wings beside each other: the same rooms, and a wall between them."""
    top, width = drawing.y, (WIDTH - 2 * LEFT - 3 * GAP) / 2
    bottom = top
    for side, (name, rooms) in enumerate(WING.items()):
        drawing.y = top
        x = int(LEFT + side * (width + 3 * GAP))
        drawing.box(x, width, 366, "wing")
        drawing.text(x + 14, top + 26, name, "title")
        drawing.text(x + 14, top + 48, ROAD[name], "idea")
        drawing.y = top + 62
        inner = int(x + 14), int(width - 28)
        drawing.storey(rooms[6:], "quiet", *inner)
        drawing.storey(rooms[3:6], "apart", *inner)
        drawing.text(x + 14, drawing.y + 2, "never import each other, not even at one remove", "idea")
        drawing.y += 14
        drawing.storey(rooms[2:3], "quiet", *inner)
        drawing.storey(rooms[:2], "quiet", *inner)
        bottom = max(bottom, top + 366)
    drawing.y = bottom + GAP


STYLE = """
text { font-family: system-ui, sans-serif; fill: #1d2733 }
.title { font-size: 19px; font-weight: 700 }
.name { font-size: 15px; font-weight: 600 } .idea { font-size: 12.5px }
rect { stroke: #5b6b7c; stroke-width: 1 }
.roof { fill: #f6e3c5 } .up { fill: #e8ecd9 } .wing { fill: #f4f6f8 }
.quiet { fill: #ffffff } .apart { fill: #d7e6f2 } .below { fill: #e6e0ef } .ground { fill: #d9d4cc }
"""


def main() -> None:
    """Write the drawing."""
    drawing = Drawing()
    drawing.storey(ROOF, "roof")
    drawing.storey(UPSTAIRS, "up")
    wings(drawing)
    drawing.storey(BELOW, "below")
    drawing.storey((Room("ground/", (GROUND,)),), "ground")
    size = f'width="{WIDTH}" height="{drawing.y + 8}" viewBox="0 0 {WIDTH} {drawing.y + 8}"'
    title = "<title>The house plan of tripcloak: two wings with the same rooms on one ground floor</title>"
    page = f'<rect x="0" y="0" width="{WIDTH}" height="{drawing.y + 8}" fill="#fff" stroke="none"/>'
    body = "\n".join(drawing.shapes)
    opened = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">{title}<style>{STYLE}</style>'
    svg = f"{opened}{page}\n{body}\n</svg>\n"
    (HERE / "house.svg").write_text(svg, encoding="utf-8")


if __name__ == "__main__":
    main()
