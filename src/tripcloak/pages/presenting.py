"""What the owner may put on the map of a release: a title, names of places, streets and water behind it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tripcloak.ground.options import Option

PRESENTED = (
    Option(
        name="title",
        help="What the release is called, on its map and in its files.",
        metavar="TEXT",
        reads="line",
        group="run",
    ),
    Option(
        name="names",
        help="Name every zone by the nearest place, or by its members (extra places).",
        metavar="places",
        values=("places",),
        group="run",
    ),
    Option(
        name="background",
        help="Streets, water, borders to draw behind the map: GeoJSON, or PMTiles (extra formats).",
        metavar="FILE",
        reads="path",
        group="run",
    ),
)
"""The keywords of whatever draws a map of a release."""


def presented(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return title, whether there are names, and the file behind the map, from the values of keywords.

    Raises
    ------
    InputError
        No list of places is at hand, or the file cannot be read: before any work is done.
    """
    # Commands that only ask which keywords there are need not wait for numpy.
    from tripcloak.hierarchy.place_names import require_names
    from tripcloak.pages.background import refuse_unreadable

    if given["names"] is not None:
        require_names()
    background = None if given["background"] is None else Path(given["background"])
    if background is not None:
        refuse_unreadable(background)
    return {"title": given["title"], "names": given["names"] is not None, "background": background}


def taken_as_given(facts: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what a release shows that follows from nothing an audit could look at, in words.

    Parameters
    ----------
    facts
        The manifest.

    Examples
    --------
    >>> taken_as_given({"title": "Trips of May"})
    ("taken as the publisher's own words, which no rule is about: the title",)
    """
    from tripcloak.hierarchy.place_names import are_checkable

    names = facts.get("names")
    given = {
        "the title": "title" in facts,
        "the shapes behind the map": "background" in facts,
        "names of places, from a list that is not at hand here": (
            isinstance(names, Mapping) and not are_checkable(names)
        ),
    }
    told = ", ".join(what for what, there in given.items() if there)
    return (f"taken as the publisher's own words, which no rule is about: {told}",) if told else ()
