"""Pages in one file: template, style and scripts of one name, put together so that nothing is fetched."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jinja2 import Template

COLOURS = "colours.css"
"""The colours of all pages, by day and by night."""


def render_page(
    name: str, *, script: str | None = None, styles: Sequence[str] = (), workers: bool = False, **content: Any
) -> str:
    """The text of a page made of ``NAME.html.j2``, ``NAME.css`` and a script; templates may import others.

    Its policy lets the browser run this script and this style and refuses every request. So there
    can be no style attributes; SVG says colours by classes.

    Parameters
    ----------
    name : str
        What the template and the style are called.
    script : str, optional
        The entry of ``web/`` whose built script the page carries.
    styles : sequence of str
        Files with styles that ``NAME.css`` builds on, beside the colours of all pages.
    workers : bool
        Whether the script starts workers, whose code it holds itself.
    **content
        What the template asks for; text is escaped.
    """
    from markupsafe import Markup

    style = "\n".join(map(asset, (COLOURS, *styles, f"{name}.css")))
    running = "" if script is None else asset(f"built/{script}.js")
    policy = content_policy(style, running) + (
        "; worker-src data: blob:; connect-src blob:" if workers else ""
    )
    return filled(name, policy=policy, style=Markup(style), script=Markup(running), **content)


def render_card(**content: Any) -> str:
    """The text of ``card.html.j2``: a piece of HTML that stands in somebody else's page, such as a notebook.

    Its style touches nothing but itself, and it follows the colours of the page around it.

    Parameters
    ----------
    **content
        What the template asks for; text is escaped.
    """
    from markupsafe import Markup

    return filled("card", style=Markup(asset("card.css")), **content)


def with_style(page: str, style: str) -> str:
    """A page with one more style, which its policy lets the browser use.

    >>> with_style("<head>style-src 'sha256-a'; img-src data:</head>", "p {}")
    "<head>style-src 'sha256-...' 'sha256-a'; img-src data:<style>p {}</style></head>"
    """
    allowed = page.replace("style-src ", f"style-src '{_fingerprint(style)}' ", 1)
    return allowed.replace("</head>", f"<style>{style}</style></head>", 1)


def script_safe_json(payload: object) -> str:
    """JSON that no zone id can break out of: inside a script element only ``<`` and ``&`` matter."""
    text = json.dumps(payload, separators=(",", ":"), allow_nan=False)
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def filled(name: str, **content: Any) -> str:
    """The text of ``NAME.html.j2``, for a page whose policy is somebody else's to say."""
    return _template(name).render(**content)


@cache
def _template(name: str) -> Template:
    """The template of a name, compiled once: that takes longer than to fill it."""
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    pages = Environment(
        loader=FunctionLoader(asset),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return pages.get_template(f"{name}.html.j2")


def asset(name: str) -> str:
    """The text of a template, style or script."""
    return files("tripcloak.pages").joinpath("assets", name).read_text(encoding="utf-8")


def content_policy(style: str, script: str) -> str:
    """A policy under which the browser runs this one script and style and refuses every request."""
    return (
        f"default-src 'none'; script-src '{_fingerprint(script)}'; "
        f"style-src '{_fingerprint(style)}'; img-src data:; base-uri 'none'; form-action 'none'"
    )


def _fingerprint(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
