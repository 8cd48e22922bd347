"""Files of a run that the page shows or gives to download, and no others."""

from __future__ import annotations

import os
import zipfile
from pathlib import Path

from tripcloak.ground.errors import MissingFileError

SHOWN = {
    "map": "release/map.html",
    "compare": "compare.html",
    "readme": "release/README.md",
    "manifest": "release/manifest.json",
    "flows": "release/flows.csv",
}
"""What may be asked for of a run, by a name of its own: a path is never taken from a request."""


def shown_file(release: Path, what: str) -> Path:
    """Return a file of a run by its name here, or raise where the run has none.

    Parameters
    ----------
    release
        The folder that the run wrote.
    """
    file = release / SHOWN[what] if what in SHOWN else None
    if file is None or not file.is_file() or file.is_symlink():
        raise MissingFileError(f"this run has no {what}")
    return file


def zipped(release: Path, into: Path) -> Path:
    """Return an archive of the public part of a release, made once; the private part stays where it is.

    Parameters
    ----------
    release
        The folder that the run wrote.
    into
        Where the archive is to be.
    """
    public = release / "release"
    if not public.is_dir():
        raise MissingFileError("this run has no release to download")
    if not into.exists():
        aside = into.with_suffix(f".{os.getpid()}.part")
        with zipfile.ZipFile(aside, "w", zipfile.ZIP_DEFLATED) as archive:
            for file in sorted(public.rglob("*")):
                if file.is_file() and not file.is_symlink():
                    # A fixed time: the same release gives the same archive.
                    entry = zipfile.ZipInfo(str(file.relative_to(public)), (1980, 1, 1, 0, 0, 0))
                    entry.compress_type = zipfile.ZIP_DEFLATED
                    archive.writestr(entry, file.read_bytes())
        aside.rename(into)
    return into
