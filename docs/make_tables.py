"""Writes what follows from the options that methods declare (`make docs`): tables in pages, and types.

The types are those of ``src/tripcloak/api/method_options.py``. A table stands between two marks, the first of
which names its method::

    <!-- options of flows/odkanon -->
    <!-- end of options -->

The table of presets stands between two such marks on the page on input.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from tripcloak.flows.keywords import keywords
from tripcloak.flows.methods.registry import METHODS
from tripcloak.ground.options import Option
from tripcloak.records.presets import PRESETS
from tripcloak.trajectories.methods.registry import TRAJECTORY_METHODS

PAGES = Path(__file__).parent / "methods"
INPUT = Path(__file__).parent / "input.md"
TYPES = Path(__file__).parents[1] / "src" / "tripcloak" / "api" / "method_options.py"
REGISTRIES = {"flows": METHODS, "trajectories": TRAJECTORY_METHODS}
MARKED = re.compile(r"(<!-- options of (\w+)/([\w-]+) -->\n).*?(<!-- end of options -->)", re.S)


PRESETS_MARKED = re.compile(r"(<!-- presets -->\n).*?(<!-- end of presets -->)", re.S)


def rendered(page: str) -> str:
    """Return a page with its tables as they should be."""
    return MARKED.sub(lambda found: f"{found[1]}\n{table(found[2], found[3])}\n{found[4]}", page)


def with_presets(page: str) -> str:
    """Return the page on input with the table of presets as it should be."""
    return PRESETS_MARKED.sub(lambda found: f"{found[1]}\n{preset_table()}\n{found[2]}", page)


def preset_table() -> str:
    """Return the table of public formats and what each becomes."""
    rows = []
    for preset in PRESETS.values():
        ids = preset.id_is if "person" in preset.columns else "none"
        files = ", ".join(f"`{name}`" for name in preset.like)
        zones = f"; zones: {preset.zones}" if preset.zones else ""
        rows.append(
            f"| `{preset.name}` | {preset.words}{zones} | {' or '.join(preset.forms)} | {ids} | {files} |"
        )
    return "\n".join(
        ["| `--preset` | reads | form | an id is | files like |", "|---|---|---|---|---|", *rows, ""]
    )


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


def types() -> str:
    """Return the module that tells type checkers the options of methods as keywords."""
    compared, asked = ([*method_options(keywords(verb))] for verb in ("compare", "anonymise"))
    known = {one.name for one in compared}
    classes = [
        typed("FlowOptions(TypedDict, total=False)", "Options of single methods on flows.", compared),
        typed(
            "AnonymiseOptions(FlowOptions, total=False)",
            "Those that only ``anonymise`` has: in a comparison they mean nothing, or something else.",
            [one for one in asked if one.name not in known],
        ),
        typed(
            "SeriesOptions(TypedDict, total=False)",
            "Options of methods that can plan a series.",
            method_options(keywords("series")),
        ),
        typed(
            "TrajectoryOptions(TypedDict, total=False)",
            "Options of single methods on trajectories.",
            TRAJECTORY_METHODS.shared_options(),
        ),
    ]
    return HEAD + "".join(f"\n\n{words}" for words in classes)


HEAD = '''\
"""Options of methods as keywords, for type checkers; written by ``make docs`` from what methods declare."""

from __future__ import annotations

from datetime import timedelta
from typing import TypedDict

Time = str | float | timedelta
"""A length of time: ``"15min"``, ``"1h"``, a timedelta, or a number."""
'''


def method_options(known: Iterable[Option]) -> Iterable[Option]:
    """Return those among keywords that are options of single methods."""
    return (one for one in known if one.group == "method option")


def typed(head: str, words: str, options: Iterable[Option]) -> str:
    """Return a class that says the types of some options."""
    kinds = {"text": "str", "number": "float", "whole number": "int", "switch": "bool"}
    lines = [
        f"    {one.name}: {'Time' if one.reads == 'duration' else kinds[one.kind]} | None" for one in options
    ]
    return "\n".join([f"class {head}:", f'    """{words}"""', "", *lines, ""])


if __name__ == "__main__":
    TYPES.write_text(types(), encoding="utf-8")
    for path in sorted(PAGES.glob("*.md")):
        text = path.read_text(encoding="utf-8")
        path.write_text(rendered(text), encoding="utf-8")
    INPUT.write_text(with_presets(INPUT.read_text(encoding="utf-8")), encoding="utf-8")
