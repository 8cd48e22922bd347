"""Exports that are made with a release, beside it: asked for by name, refused before anything is read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Self

from tripcloak.exporting.databases import database_address
from tripcloak.exporting.export import Exported, export_release
from tripcloak.exporting.formats import DATABASE, FORMATS, check_needs, find_format
from tripcloak.ground.errors import InputError
from tripcloak.ground.spelling import called
from tripcloak.records.files.databases.addresses import SCHEMES

FOLDER = "exports"
"""Where files go: beside the public part, which is sealed."""


@dataclass(frozen=True)
class Exports:
    """Which exports to make of a release: formats, and addresses of databases."""

    wanted: tuple[tuple[str, str | None], ...] = ()

    @classmethod
    def of(cls, asked: Sequence[str], kind: Literal["flows", "trajectories"]) -> Self:
        """Return what is asked for, or raise where it cannot be had.

        Examples
        --------
        >>> Exports.of(["flowmap"], "flows").wanted
        (('flowmap', None),)
        >>> Exports.of(["mfjson"], "flows")
        Traceback (most recent call last):
        ...
        tripcloak.InputError: mfjson is for releases of trajectories, not of flows
        """
        wanted = []
        for one in dict.fromkeys(asked):
            scheme = one.lower().startswith(tuple(f"{scheme}:" for scheme in SCHEMES))
            is_address = scheme or "://" in one or "=" in one
            name, where = (DATABASE, one) if is_address else (one, None)
            if find_format(name, "also").of != kind:
                raise InputError(f"{name} is for releases of {FORMATS[name].of}, not of {kind}")
            if name == DATABASE:
                if where is None:
                    raise InputError(
                        f"{called('also')} of a database needs its address: postgresql://user@host/name#schema"
                    )
                database_address(where)
            check_needs(name)
            wanted.append((name, where))
        return cls(tuple(wanted))

    def refuse_several(self) -> None:
        """Raise where anything is asked for and several releases are made."""
        if self.wanted:
            raise InputError(
                f"{called('also')} is about one release, and several are made here; run tripcloak export on "
                "each of their folders"
            )

    def write(self, folder: Path, *, force: bool) -> list[Exported]:
        """Return what was written of the release in a folder."""
        return [
            export_release(folder, name, where or self._place(folder, name), force=force)
            for name, where in self.wanted
        ]

    def _place(self, folder: Path, name: str) -> Path:
        return folder / FOLDER / f"{name}{FORMATS[name].suffix}"
