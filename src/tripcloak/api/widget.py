"""The map of a release as a widget of notebooks, where anywidget is installed."""

from __future__ import annotations

from functools import cache
from typing import Any

from tripcloak.pages.page import asset

HEIGHT = 640


def map_widget(page: str, title: str) -> Any:
    """Return a widget that shows a map's page and knows what is chosen in it; None where there can be none.

    Parameters
    ----------
    page
        The page, as it is published.
    title
        What the map is called.
    """
    if not _in_kernel():
        return None
    kind = _kind()
    return None if kind is None else kind(page=page, title=title)


def _in_kernel() -> bool:
    """Return whether somebody on the other side can show a widget: a terminal cannot."""
    import sys

    if "IPython" not in sys.modules:
        return False
    from IPython import get_ipython

    return hasattr(get_ipython(), "kernel")


@cache
def _kind() -> Any:
    """Return the class of the widget, made when it is first asked for; None where anywidget is missing."""
    try:
        import anywidget
        import traitlets
    except ImportError:
        return None

    class MapWidget(anywidget.AnyWidget):
        _esm = asset("built/widget.js")
        page = traitlets.Unicode().tag(sync=True)
        title = traitlets.Unicode().tag(sync=True)
        height = traitlets.Int(HEIGHT).tag(sync=True)
        chosen = traitlets.Dict().tag(sync=True)

    return MapWidget
