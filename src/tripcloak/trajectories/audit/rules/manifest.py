"""Rules about the manifest: a promise that means something, and nothing beyond what the samples show."""

from __future__ import annotations

from typing import Any

from tripcloak.trajectories.audit.evidence import Evidence
from tripcloak.trajectories.audit.rules.book import BOOK

KEYS = {"kind", "tripcloak", "method", "parameters", "k", "promise", "grid", "released", "files"}
OPTIONAL = {"left_out"}
LONG = 40
"""Letters that no parameter has."""


@BOOK.rule("manifest-whole")
def manifest_whole(case: Evidence) -> str | None:
    """The manifest has every entry that it should, and no other."""
    if KEYS - set(case.facts):
        return f"the manifest lacks {', '.join(sorted(KEYS - set(case.facts)))}"
    if set(case.facts) - KEYS - OPTIONAL:
        return "the manifest holds an entry that this audit does not know"
    if not all(isinstance(case.facts[name], str) for name in ("tripcloak", "method")):
        return "the manifest's method and version must be text"
    parameters = case.facts["parameters"]
    if not isinstance(parameters, dict) or not all(_is_plain(value) for value in parameters.values()):
        return "the manifest's parameters must be named, and each a number or a word"
    return None


def _is_plain(value: Any) -> bool:
    """Return whether a parameter is so short that it can hold no list of people."""
    return value is None or isinstance(value, int | float) or (isinstance(value, str) and len(value) < LONG)


@BOOK.rule("promise-valid")
def promise_valid(case: Evidence) -> str | None:
    """The manifest states k, a promise and a grid that mean something, and no less than was ordered."""
    told = case.manifest
    if case.ordered is not None and told.k < case.ordered:
        return f"the manifest promises less than the k of {case.ordered} that was ordered"
    return None


@BOOK.rule("manifest-consistent")
def manifest_consistent(case: Evidence) -> str | None:
    """The manifest tells the numbers of released trajectories and samples that the files hold."""
    trajectories, samples = case.fetch(f"SELECT count(DISTINCT trajectory), count(*) FROM {case.table}")[0]
    right = {"trajectories": trajectories, "samples": samples}
    return None if case.facts.get("released") == right else "the manifest's numbers differ from the samples"
