"""The Markdown that our own READMEs are written in, as HTML: headings, lists, code, bold."""

from __future__ import annotations

import re

from markupsafe import Markup, escape


def sections(text: str) -> dict[str, str]:
    """Return the sections of a README by their headings of the second level; what comes first has none.

    >>> sections("# A\\n\\nfirst\\n## B\\nsecond\\n")
    {'': '# A\\n\\nfirst', 'B': 'second'}
    """
    found = {"": []}  # type: dict[str, list[str]]
    heading, fenced = "", False
    for line in text.splitlines():
        fenced ^= line.startswith("```")
        if line.startswith("## ") and not fenced:
            heading = line[3:].strip()
            found[heading] = []
        else:
            found[heading].append(line)
    return {name: "\n".join(lines).strip() for name, lines in found.items()}


def to_html(text: str) -> Markup:
    """Return a piece of Markdown as HTML; everything in it is escaped first.

    >>> print(to_html("A `b` **c**.\\n- one\\n  more\\n  - two"))
    <p>A <code>b</code> <strong>c</strong>.</p>
    <ul><li>one more<ul><li>two</li></ul></li></ul>
    """
    blocks = [_code(part) if n % 2 else _prose(part) for n, part in enumerate(text.split("```"))]
    return Markup("\n".join(filter(None, blocks)))


def words_to_html(words: str) -> Markup:
    """Return one sentence as HTML, escaped, with its code and bold words.

    >>> print(words_to_html("With `full` it is <3."))
    With <code>full</code> it is &lt;3.
    """
    return Markup(_spans(words))


def _code(part: str) -> str:
    _, _, code = part.partition("\n")
    return f"<pre><code>{escape(code.rstrip())}</code></pre>"


def _prose(part: str) -> str:
    """Return paragraphs and lists; a line that is indented goes on with what is above it."""
    items: list[tuple[int, str]] = []
    for line in part.splitlines():
        words = line.strip()
        depth = (len(line) - len(line.lstrip())) // 2
        if not words:
            items.append((-2, ""))
        elif words.startswith("- "):
            items.append((depth, words[2:]))
        elif items and items[-1][0] != -2:
            items[-1] = items[-1][0], f"{items[-1][1]} {words}"
        else:
            items.append((-1, words))
    return "\n".join(_blocks([item for item in items if item[0] != -2]))


def _blocks(items: list[tuple[int, str]]) -> list[str]:
    blocks: list[str] = []
    while items:
        if items[0][0] < 0:
            blocks.append(f"<p>{_spans(items.pop(0)[1])}</p>")
        else:
            blocks.append(_list(items, items[0][0]))
    return blocks


def _list(items: list[tuple[int, str]], depth: int) -> str:
    inner = []
    while items and items[0][0] >= depth:
        words = _spans(items.pop(0)[1])
        below = _list(items, items[0][0]) if items and items[0][0] > depth else ""
        inner.append(f"<li>{words}{below}</li>")
    return f"<ul>{''.join(inner)}</ul>"


def _spans(words: str) -> str:
    safe = str(escape(words))
    safe = re.sub(r"`([^`]+)`", r"<code>\1</code>", safe)
    return re.sub(r"\*\*(.+?)\*\*", r"<strong>\1</strong>", safe)
