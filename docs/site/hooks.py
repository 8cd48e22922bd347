"""What the site does to its pages: links out of ``docs`` lead to the repository; nothing is fetched."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

HOME = "https://github.com/tripcloak/tripcloak/blob/main/"
WORKER = Path(__file__).parent / "near_worker.js"
FETCHED = re.compile(r'<script src="https?://[^"]*"></script>')
LINK = re.compile(r"(\]\()([^)\s#]+)((?:#[^)\s]*)?\))")


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Return a page whose links to files outside of the site lead to where those are."""
    folder = posixpath.dirname(f"docs/{page.file.src_uri}")
    if folder == "docs/research":
        # Wide tables, and hardly a heading: the room of the contents is theirs.
        page.meta["hide"] = ["toc"]

    def led(match: re.Match[str]) -> str:
        begin, target, end = match.groups()
        if "://" in target or target.startswith("mailto:"):
            return match[0]
        place = posixpath.normpath(posixpath.join(folder, target))
        inside = place.startswith("docs/") and not place.endswith((".py", ".json"))
        return match[0] if inside else f"{begin}{HOME}{place}{end}"

    return LINK.sub(led, markdown)


def on_post_page(output: str, **_: Any) -> str:
    """Return a page that searches without a network: what the theme would fetch for that stands in it."""
    return _fetching_nothing(output)


def on_post_template(output_content: str, **_: Any) -> str:
    """Return what is shown where a page is missing, which fetches nothing either."""
    return _fetching_nothing(output_content)


def _fetching_nothing(output: str) -> str:
    return FETCHED.sub(lambda _: f"<script>{WORKER.read_text(encoding='utf-8')}</script>", output)
