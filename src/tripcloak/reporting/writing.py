"""Writes reports: one page and one JSON file in public, and the same for the owner in ``private/``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

from tripcloak.ground.errors import InputError
from tripcloak.ground.folders import PRIVATE, write_page
from tripcloak.ground.manifest import public_part
from tripcloak.ground.spelling import spelt
from tripcloak.pages.page import asset, render_page, script_safe_json
from tripcloak.reporting.content import Dressing, has_private_part, report_content
from tripcloak.reporting.markdown import to_html, words_to_html

NAME = "report.html"
LICENCES = "built/licences.txt"
"""Texts of the libraries within the page's script, which must go where it goes."""


class WrittenReport(NamedTuple):
    """Where the reports of a release are; no private one where its private part is not at hand."""

    public: Path
    private: Path | None


def write_report(
    folder: Path, dressing: Dressing, *, out: Path | None = None, private: bool = True, force: bool = False
) -> WrittenReport:
    """Write the report of a release, and for its owner a private one into ``private/``.

    Parameters
    ----------
    folder
        The folder that holds ``release/``, or that part itself.
    out
        The page to write; its JSON stands beside it. ``report.html`` in the folder without.
    private
        Write the private report too, where the private part is there.
    """
    if out is None and public_part(folder) == folder:
        raise InputError(
            f"{folder} is the public part of a release, which nothing may be added to; say with "
            f"{spelt('out')} where to write the report"
        )
    page = folder / NAME if out is None else out
    pages = {page: report_content(folder, dressing)}
    inside = folder / PRIVATE / NAME if private and has_private_part(folder) else None
    if inside is not None:
        pages[inside] = report_content(folder, dressing, private=True)
    for path, content in pages.items():
        _write(path, content, force=force, closed=path == inside)
    return WrittenReport(page, inside)


def render_report(content: dict[str, Any]) -> str:
    """Return the text of a report's page: words in HTML, maps and charts as data for its script."""
    from markupsafe import Markup

    drawn = {name: content[name] for name in ("maps", "charts", "towns", "background")}
    return render_page(
        "report",
        script="report",
        styles=("built/report.css",),
        workers=True,
        payload=Markup(script_safe_json(drawn)),
        markdown=to_html,
        words=words_to_html,
        licences=asset(LICENCES),
        **{name: value for name, value in content.items() if name not in ("format", "background")},
    )


def _write(path: Path, content: dict[str, Any], *, force: bool, closed: bool) -> None:
    beside = path.with_suffix(".json")
    for file in (path, beside):
        if closed and not file.exists():
            file.touch(mode=0o600)
    write_page(path, render_report(content), force=force or closed)
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    write_page(beside, text + "\n", force=force or closed)
