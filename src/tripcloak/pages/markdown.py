"""Text of others in Markdown pages: shown as it is, and never taken for marks, links or HTML."""

from __future__ import annotations

import re

_MARKS = re.compile(r"[\\`*_{}\[\]|~$]")
_TAGS = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


def shown(text: str) -> str:
    r"""Return Markdown that shows a text on one line, letter by letter.

    Examples
    --------
    >>> print(shown("age=20-29"), shown("a|b"), shown("[x](http://y)"), shown("<script>"))
    age=20-29 a\|b \[x\](http://y) &lt;script&gt;
    """
    return _MARKS.sub(r"\\\g<0>", " ".join(text.split())).translate(_TAGS)
