"""Cards: what results show in a notebook, and the map in a frame of its own."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, NamedTuple

from tripcloak.api.widget import map_widget
from tripcloak.ground.errors import OutputExistsError
from tripcloak.pages.page import asset, render_card, with_style

Tone = Literal["plain", "safe", "unsafe"]
MARKS: dict[Tone, str] = {"plain": "", "safe": "\N{CHECK MARK}", "unsafe": "!"}

INTERNAL = "Internal: worked out from data that is not released. Not for publication."
LARGEST = 5_000_000
"""Characters of a map that a card still holds: a notebook is saved with all that it shows."""


class Fact(NamedTuple):
    """One fact of a card: what it is, and in small letters what else there is to know."""

    name: str
    value: str
    more: str = ""


@dataclass(frozen=True, kw_only=True)
class CardTable:
    """The table of a card; cells that say ``broken`` and rows that were chosen stand out.

    Names of columns may have their meaning beside them, for readers who point at them.
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    meanings: Sequence[str] = ()
    texts: bool = False
    chosen: Collection[int] = ()
    broken: str = "BROKEN"


def card(
    title: str,
    *,
    tone: Tone = "plain",
    said: str = "",
    aside: str = "",
    facts: Sequence[Fact] = (),
    words: Sequence[str] = (),
    table: CardTable | None = None,
    asides: Sequence[str] = (),
    aside_title: str = "",
    page: str = "",
    page_title: str = "",
    foot: str = "",
) -> str:
    """Return a card as HTML; texts are escaped, and the page is shown in a frame that can ask for nothing.

    Examples
    --------
    >>> made = card("Safe to publish", tone="safe", facts=[Fact("Flows", "1,963")])
    >>> "Safe to publish" in made, "1,963" in made, "<iframe" in made
    (True, True, False)
    """
    if len(page) > LARGEST:
        page, foot = "", f"{foot} The map is too large for a card: release.map() shows it.".strip()
    if page:
        page = with_style(page, asset("card_map.css"))
    return render_card(
        title=title,
        tone=tone,
        mark=MARKS[tone],
        said=said,
        aside=aside,
        facts=facts,
        words=words,
        table=table,
        asides=asides,
        aside_title=aside_title,
        page=page,
        page_title=page_title,
        foot=foot,
    )


class Map:
    """The map of a release: one page that asks for nothing from the network; notebooks show it in a frame.

    With anywidget it is a widget: ``chosen`` then says which zone or trajectory is chosen on it.

    Examples
    --------
    >>> shown = Map("<!doctype html><title>Flows</title>", "Released flows")
    >>> shown
    <Map: Released flows; .save(path) writes it as one HTML file>
    """

    def __init__(self, html: str, title: str) -> None:
        self.html = html
        self.title = title

    @cached_property
    def widget(self) -> Any:
        """Return the map as a widget of this notebook; None where there is no notebook, or no anywidget."""
        return map_widget(self.html, self.title)

    @property
    def chosen(self) -> dict[str, str]:
        """Return what is chosen on the map in a notebook: ``axis`` and ``zone``, or ``trajectory``."""
        return {} if self.widget is None else dict(self.widget.chosen)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        # Readers of the saved notebook, where no widget lives, are shown the page itself.
        plain = {"text/plain": repr(self), "text/html": self._repr_html_()}
        if self.widget is None:
            return plain
        data, _ = self.widget._repr_mimebundle_()
        return {**data, **plain}

    def __repr__(self) -> str:
        return f"<Map: {self.title}; .save(path) writes it as one HTML file>"

    def _repr_html_(self) -> str:
        from html import escape

        frame = 'style="width: 100%; height: 640px; border: 0; border-radius: 10px"'
        return (
            f'<iframe title="{escape(self.title)}" sandbox="allow-scripts" {frame} '
            f'srcdoc="{escape(self.html)}"></iframe>'
        )

    def save(self, path: str | Path, *, force: bool = False) -> Path:
        """Write the page to a file, and return where it is."""
        place = Path(path)
        if place.exists() and not force:
            raise OutputExistsError(
                f"{place} is already there; choose another file, or replace it with force"
            )
        place.write_text(self.html, encoding="utf-8")
        return place
