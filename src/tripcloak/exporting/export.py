"""Export: the public part of a release, unchanged in what it says, written as another tool wants it."""

from __future__ import annotations

import errno
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tripcloak.exporting.databases import database_address
from tripcloak.exporting.formats import DATABASE, FORMATS, check_needs, find_format
from tripcloak.ground.errors import InputError, OutputExistsError
from tripcloak.ground.folders import PARTIAL, explained, file_digest
from tripcloak.ground.given_paths import output_path
from tripcloak.ground.manifest import public_part, read_manifest
from tripcloak.ground.spelling import called, spelt, spelt_command

if TYPE_CHECKING:
    import pyarrow as pa

UNWRITABLE = {"DataSourceError", "FeatureError", "IOException", "OperationalError", "HDF5ExtError"}
"""What libraries of formats raise where the system lets them write no further, and is no error of ours."""

READ = {"flows": ("flows.parquet", "zones.parquet"), "trajectories": ("samples.parquet",)}
"""The public files that exports are made of."""


@dataclass(frozen=True, eq=False)
class PublicTables:
    """What exports of flows are made of: the manifest, and the tables of flows and of zones as published."""

    facts: dict[str, Any]
    flows: pa.Table
    zones: pa.Table

    def __repr__(self) -> str:
        return f"<PublicTables: {len(self.flows):,} flows>"


@dataclass(frozen=True, kw_only=True)
class Exported:
    """What was written: where, in which format, and how many rows of the release are in it."""

    path: Path | str
    format: str
    rows: int

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {"path": str(self.path), "format": self.format, "rows": self.rows}


def export_release(folder: Path, to: str, out: Path | str, *, force: bool = False) -> Exported:
    """Write a release in another format, and return what was written.

    Only the public part is read, and only if its files have the digests that the manifest states, so an
    export holds nothing that the release does not.

    Parameters
    ----------
    folder
        The folder of a release, or its public part.
    to
        A name of :data:`FORMATS`.
    out
        The file to write, or the folder where the format is several files; of ``postgresql`` the address of
        a database, with a schema after ``#``.
    force
        Replace what is there.

    Raises
    ------
    InputError
        There is no release, it was changed, or it is of another kind than the format is for.
    """
    asked = find_format(to)
    facts, public = read_manifest(folder), public_part(folder).absolute()
    if facts["kind"] != asked.of:
        others = [name for name, one in FORMATS.items() if one.of == facts["kind"]]
        raise InputError(
            f"{to} is for releases of {asked.of}; {folder} holds a release of {facts['kind']}, for which "
            f"there is {', '.join(others)}"
        )
    check_needs(to)
    refuse_changed(public, facts)
    if to == DATABASE:
        address = database_address(str(out))
        rows = asked.write()(_tables(public, facts), address, force=force)
        return Exported(path=str(out), format=to, rows=rows)
    with written_aside(output_path(out), force=force) as aside:
        rows = asked.write()(_tables(public, facts), aside)
    return Exported(path=output_path(out), format=to, rows=rows)


def public_tables(folder: Path) -> Any:
    """Return the tables that exports are made of; of trajectories, the path of their samples."""
    facts, public = read_manifest(folder), public_part(folder).absolute()
    refuse_changed(public, facts)
    return _tables(public, facts)


def _tables(public: Path, facts: dict[str, Any]) -> Any:
    from pyarrow import parquet

    if facts["kind"] == "trajectories":
        return public / "samples.parquet"
    return PublicTables(facts, *(parquet.read_table(public.absolute() / name) for name in READ["flows"]))


def refuse_changed(public: Path, facts: dict[str, Any]) -> None:
    """Raise unless the files that an export is made of are those that the manifest was written with."""
    stated = facts.get("files")
    for name in READ[facts["kind"]]:
        told = stated.get(name) if isinstance(stated, dict) else None
        if not (public / name).is_file() or file_digest(public / name) != told:
            raise InputError(
                f"{public / name} is not the file that the manifest states; {spelt_command('check')} says "
                "what is wrong, and nothing was exported"
            )


@contextmanager
def written_aside(out: Path, *, force: bool) -> Iterator[Path]:
    """Give a path beside the one that is asked for, which takes its place when all went well."""
    if any((folder / "manifest.json").is_file() for folder in (out.absolute(), *out.absolute().parents)):
        raise OutputExistsError(
            f"{out} lies in the public part of a release, where it would not belong; choose another place"
        )
    if out.exists() and not force:
        raise OutputExistsError(
            f"{out} is already there; choose another name for {called('out')}, or replace it with "
            f"{spelt('force', True)}"
        )
    # The suffix stays: libraries choose by it how to write.
    aside = out.absolute().with_name(f"{PARTIAL}{secrets.token_hex(4)}-{out.name}")
    try:
        aside.parent.mkdir(parents=True, exist_ok=True)
        yield aside
        _replace(aside, out)
    except OSError as error:
        raise explained(error, out, "export") from None
    except Exception as error:
        if type(error).__name__ not in UNWRITABLE:
            raise
        library = type(error).__module__.partition(".")[0]
        reason = f"{library} could not write its file; is there room on the disk, and may you write there?"
        raise explained(OSError(errno.EIO, reason), out, "export") from None
    finally:
        _remove(aside)


def _replace(aside: Path, out: Path) -> None:
    """Put a file or a folder in place of another; an old folder goes only once the new one stands."""
    if not out.is_dir():
        os.replace(aside, out)
        return
    old = aside.with_name(f"{aside.name}.old")
    os.replace(out, old)
    try:
        os.replace(aside, out)
    except OSError:
        os.replace(old, out)
        raise
    _remove(old)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
