"""Fingerprints of inputs: by them a file is known again that a release was made from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from tripcloak.ground.folders import file_digest
from tripcloak.ground.rulebook import Finding, Verdict
from tripcloak.promises.counted import counted_as
from tripcloak.records.files.databases.fetching import fetched
from tripcloak.records.files.frames import Input
from tripcloak.records.files.paths import expand_paths
from tripcloak.records.presets import find_preset

ANOTHER = (
    "this is not the file it was made from: its SHA-256 differs from the one of the private record. "
    "The release is held against the file given here all the same"
)


def input_digests(inputs: Sequence[Input], preset: str | None = None) -> list[str] | None:
    """Return the SHA-256 of every file of an input, ascending; None where not all are files.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "trips.csv"
    ...     _ = path.write_text("o,d")
    ...     [digest[:8] for digest in input_digests([str(path)])]
    ['a181a346']
    """
    # The rows of a database come in no fixed order.
    paths = [one for one in inputs if isinstance(one, str) and ((it := fetched(one)) is None or it.exact)]
    if len(paths) < len(inputs):
        return None
    files = expand_paths(paths, None if preset is None else find_preset(preset))
    return sorted(file_digest(file) for file in files)


def same_input(recorded: Any, inputs: Sequence[Input], preset: str | None = None) -> bool | None:
    """Return whether these are the files of which the digests were recorded; None where nobody can tell."""
    found = input_digests(inputs, preset) if isinstance(recorded, list) else None
    return None if found is None else found == recorded


def told_to_owner(
    audit: Verdict,
    more: Iterable[Finding],
    *,
    facts: Mapping[str, Any],
    column: str | None,
    recorded: Any,
    inputs: Sequence[Input],
    preset: str | None,
    given: Sequence[str] = (),
) -> Verdict:
    """Return an audit with further findings, and what only the owner of the data can make sense of.

    That is what was counted by which column, and whether this is the input that the release was made from.

    Parameters
    ----------
    facts
        The manifest.
    column
        The raw column of ids; None where there is none.
    recorded
        The digests of the input's files in the private record.
    given
        What the release shows that no rule is about.
    """
    words, same = counted_as(facts, column), same_input(recorded, inputs, preset)
    return replace(
        audit,
        findings=(*audit.findings, *more),
        numbers={**audit.numbers, "same_input": same, "counted": {"column": column, "words": words}},
        notes=(*audit.notes, words, *given, *([ANOTHER] if same is False else [])),
    )
