"""Rules about the manifest: a promise that means something, and nothing beyond what the samples show."""

from __future__ import annotations

import json
import re
from typing import Any

from tripcloak.ground.errors import InputError
from tripcloak.ground.rulebook import BrokenPart, Remark
from tripcloak.trajectories.audit.evidence import BOOK, TrajectoryEvidence
from tripcloak.trajectories.audit.manifest import is_small

ORDER = (
    *("format", "kind", "version", "method", "parameters", "promise"),
    *("grid", "released", "left_out", "files"),
)
"""Entries of a manifest as they follow each other; another order could tell something."""
OPTIONAL = {"left_out"}
INNER = {
    "promise": ("kind", "k", "delta", "sentence"),
    "grid": ("seconds", "metres", "start", "projection"),
    "released": ("trajectories", "samples"),
}

NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
ENTRY = re.compile(r"[a-z]+(_[a-z]+)*")
VERSION = re.compile(r"\d{1,3}(\.\d{1,3}){1,3}((a|b|rc|\.dev|\.post)\d{1,3})?")
LONG = 30
"""Letters that no name of a method, of a parameter or of a choice has."""
MANY = 16
"""Parameters that no method has."""


@BOOK.rule("manifest-whole")
def manifest_whole(case: TrajectoryEvidence) -> str | None:
    """The manifest has every entry that it should, as it should be written, and no other."""
    facts = case.facts
    expected = [name for name in ORDER if name in facts or name not in OPTIONAL]
    if missing := sorted(set(expected) - set(facts)):
        return f"the manifest lacks {', '.join(missing)}"
    if set(facts) - set(expected):
        return "the manifest holds an entry that this audit does not know"
    if not isinstance(facts["version"], str) or not VERSION.fullmatch(facts["version"]):
        return "the manifest's version must be numbers with dots"
    if not _is_name(facts["method"], NAME):
        return "the manifest's method must be a short name: small letters, digits and hyphens"
    if not _are_plain(facts["parameters"]):
        return "the manifest's parameters must be named, and each a number or a short name"
    return _writing_faults(case, expected)


def _is_name(value: Any, shape: re.Pattern[str]) -> bool:
    return isinstance(value, str) and len(value) < LONG and shape.fullmatch(value) is not None


def _are_plain(parameters: Any) -> bool:
    """Return whether parameters are so few and so short that they can hold no list of people."""
    return (
        isinstance(parameters, dict)
        and len(parameters) < MANY
        and all(_is_name(name, ENTRY) for name in parameters)
        and all(is_small(value) or _is_name(value, NAME) for value in parameters.values())
    )


def _writing_faults(case: TrajectoryEvidence, expected: list[str]) -> str | None:
    """Return whether the file says anything by how it is written: order, blanks, repeated entries."""
    facts = case.facts
    if not all(isinstance(facts[name], dict) for name in ("files", *INNER)):
        return "the manifest's promise, grid, numbers and digests must be named one by one"
    orders = [(facts, expected), (facts["files"], sorted(facts["files"]))]
    orders += [
        (facts[name], [entry for entry in inner if entry in facts[name]]) for name, inner in INNER.items()
    ]
    if any(list(entries) != order for entries, order in orders):
        return "the entries of the manifest come in another order than they should"
    try:
        plain = json.dumps(facts, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
        same = case.public("manifest.json").read_bytes() == plain.encode()
    except (OSError, ValueError):
        raise BrokenPart("release/manifest.json holds values that it should not") from None
    return None if same else "the manifest holds an entry twice, or something between its entries"


@BOOK.rule("promise-valid")
def promise_valid(case: TrajectoryEvidence) -> str | None:
    """The manifest states k, a promise and a grid that mean something, and no less than was ordered."""
    told = case.manifest.promise
    if case.ordered is not None and told.k < case.ordered:
        return f"the manifest promises less than the k of {case.ordered} that was ordered"
    return None


@BOOK.rule("manifest-consistent")
def manifest_consistent(case: TrajectoryEvidence) -> str | None:
    """The manifest tells the numbers of released trajectories and samples that the files hold."""
    trajectories, samples = case.fetch(f"SELECT count(DISTINCT trajectory), count(*) FROM {case.table}")[0]
    right = {"trajectories": trajectories, "samples": samples}
    return None if case.facts.get("released") == right else "the manifest's numbers differ from the samples"


@BOOK.rule("grid-of-the-input")
def grid_of_the_input(case: TrajectoryEvidence) -> str | Remark | None:
    """The grid is the one on which the raw input was read: no finer one, and no other projection."""
    told = case.manifest
    # Read before it is asked: where the input itself cannot be read, that is no finding.
    assert case.tracks is not None
    try:
        right = case.raw.grid()
    except InputError:
        raise BrokenPart("could not be checked: no one projection serves the input") from None
    if right is None:
        return Remark("not checked: nothing says with which resolution the input was read")
    if any(getattr(told, name) != getattr(right, name) for name in INNER["grid"]):
        return "the manifest states another grid than the input was read with"
    return None
