"""One case: files, how they are given to the reader, and what must come of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal


@dataclass(frozen=True, kw_only=True)
class Made:
    """Some made files, and what must be read of them.

    Attributes
    ----------
    name : str
        What the case is called.
    files : mapping
        Path to what the file holds. Files that an option names are not among the inputs.
    options : mapping
        Keywords for the reader; one that is the path of a made file means that file.
    inputs : tuple of str
        What is given to the reader, below the folder of the files: files, globs, or ``"."``; all files that
        no option names if left out.
    kind : str
        ``"trips"`` or ``"fixes"``: which of the two wings reads.
    rows : mapping
        Path to the rows of a file, as anybody would count them.
    used : int
        Rows used. Where trips are made of fixes, fixes that became part of a trip.
    dropped : mapping
        Path to reason to rows.
    made : int, optional
        Trips used, where trips are made of fixes.
    told : tuple of str
        Words that the description must hold.
    refused : tuple of str
        Words of the error, where the reader must refuse.
    """

    name: str
    files: Mapping[str, bytes | str]
    options: Mapping[str, Any] = field(default_factory=dict)
    inputs: tuple[str, ...] = ()
    kind: Literal["trips", "fixes"] = "trips"
    rows: Mapping[str, int] = field(default_factory=dict)
    used: int = 0
    dropped: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    made: int | None = None
    told: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()

    def write(self, folder: Path) -> None:
        """Write the files."""
        for name, content in self.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)

    def given(self, folder: Path) -> tuple[list[str], dict[str, Any]]:
        """Return the inputs and the keywords for the reader."""
        named = {value for value in self.options.values() if isinstance(value, str) and value in self.files}
        inputs = self.inputs or tuple(name for name in self.files if name not in named)
        keywords = {
            key: str(folder / value) if isinstance(value, str) and value in named else value
            for key, value in self.options.items()
        }
        return [str(folder / name) for name in inputs], keywords
