"""Writes the tables of options into the pages on methods, from what the methods declare (`make docs`).

A table stands between two marks, the first of which names its method::

    <!-- options of flows/odkanon -->
    <!-- end of options -->
"""

from __future__ import annotations

import re
from pathlib import Path

from tripcloak.flows.methods.registry import METHODS
from tripcloak.ground.options import Option
from tripcloak.trajectories.methods.registry import TRAJECTORY_METHODS

PAGES = Path(__file__).parent / "methods"
REGISTRIES = {"flows": METHODS, "trajectories": TRAJECTORY_METHODS}
MARKED = re.compile(r"(<!-- options of (\w+)/([\w-]+) -->\n).*?(<!-- end of options -->)", re.S)


def rendered(page: str) -> str:
    """Return a page with its tables as they should be."""
    return MARKED.sub(lambda found: f"{found[1]}\n{table(found[2], found[3])}\n{found[4]}", page)


def table(wing: str, method: str) -> str:
    """Return the table of a method's own options."""
    options = REGISTRIES[wing].options(method)
    if not options:
        return f"`{method}` has no options of its own.\n"
    rows = [f"| `{one.name}` | `{one.flag}` | {default(one)} | {one.words} |" for one in options]
    return "\n".join(["| in Python | command line | default | meaning |", "|---|---|---|---|", *rows, ""])


def default(one: Option) -> str:
    """Return what holds where an option is not given: words, or a value."""
    return one.unset or f"`{one.told_default}`"


if __name__ == "__main__":
    for path in sorted(PAGES.glob("*.md")):
        text = path.read_text(encoding="utf-8")
        path.write_text(rendered(text), encoding="utf-8")
