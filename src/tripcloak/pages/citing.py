"""How to cite a release: what it is called, who made it how, and what it promises."""

from __future__ import annotations

from collections.abc import Mapping
from textwrap import TextWrapper
from typing import Any

from tripcloak.pages.markdown import shown

_CALLED = {"flows": "Released origin-destination flows", "trajectories": "Released trajectories"}
_QUOTE = TextWrapper(
    100, initial_indent="> ", subsequent_indent="> ", break_on_hyphens=False, break_long_words=False
)


def title_of(facts: Mapping[str, Any]) -> str:
    """Return what a release is called, for a manifest.

    >>> title_of({"kind": "trajectories"}), title_of({"kind": "flows", "title": "Trips in May"})
    ('Released trajectories', 'Trips in May')
    """
    return str(facts.get("title") or _CALLED[facts["kind"]])


def citation(facts: Mapping[str, Any], title: str = "") -> str:
    """Return a sentence to cite a release by, for a manifest; under another title where one is given.

    >>> citation({"kind": "flows", "version": "1.0", "method": "oigh", "promise": {"sentence": "safe"}})
    'Released origin-destination flows [Data set]. Made with tripcloak 1.0, method oigh. Promise: safe.'
    """
    made = f"Made with tripcloak {facts['version']}, method {facts['method']}"
    sentence = str(facts["promise"].get("sentence", "")).rstrip(".")
    promised = f" Promise: {sentence}." if sentence else ""
    return f"{title or title_of(facts)} [Data set]. {made}.{promised}"


def how_to_cite(facts: Mapping[str, Any]) -> str:
    """Return the section of a release's README on citing it, for a manifest."""
    return f"""## How to cite it
{_QUOTE.fill(shown(citation(facts)))}

Put before it who published it and when, and behind it where it is and the SHA-256 of `manifest.json`, which
tells this release from every other one.
"""
