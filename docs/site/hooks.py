"""What the site does to pages that are also read as files: links out of ``docs`` lead to the repository."""

from __future__ import annotations

import posixpath
import re
from typing import Any

HOME = "https://github.com/tripcloak/tripcloak/blob/main/"
LINK = re.compile(r"(\]\()([^)\s#]+)((?:#[^)\s]*)?\))")


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Return a page whose links to files outside of the site lead to where those are."""
    folder = posixpath.dirname(f"docs/{page.file.src_uri}")

    def led(match: re.Match[str]) -> str:
        begin, target, end = match.groups()
        if "://" in target or target.startswith("mailto:"):
            return match[0]
        place = posixpath.normpath(posixpath.join(folder, target))
        inside = place.startswith("docs/") and not place.endswith((".py", ".json"))
        return match[0] if inside else f"{begin}{HOME}{place}{end}"

    return LINK.sub(led, markdown)
