"""The check of a release as one page that works offline."""

from __future__ import annotations

from tripcloak.pages.page import render_page
from tripcloak.receiving.check import ReleaseCheck

STATES = {"ok": "holds", "broken": "BROKEN", "not promised": "not promised"}


def check_page(found: ReleaseCheck) -> str:
    """Return the page: the result first, then what is promised and what not, then rule by rule."""
    return render_page(
        "check",
        title=f"Check of released {found.kind}",
        verdict=found.sentence(),
        untouched=found.untouched,
        folder=found.folder.resolve().name,
        sections=found.sections(),
        rows=[(one.rule, one.state, STATES[one.state], one.words) for one in found.findings],
    )
