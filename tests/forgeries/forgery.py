"""Forgery: one change of a release folder, and a forger who sets right whatever would give it away."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from pathlib import Path

from tripcloak.ground.errors import InternalError, TripcloakError
from tripcloak.ground.manifest import read_manifest
from tripcloak.ground.public_files import another_manifest, changed_files, wrong_files
from tripcloak.ground.rulebook import Finding, Verdict
from worlds.depth import DEEP
from worlds.folders import seal

MESSAGE = "dGhleSBsaXZlIGhlcmU"
"""What a forger smuggles out; no finding may repeat it."""

MANIFEST = "manifest.json"


@dataclass(frozen=True)
class Forgery:
    """A change, by name; ``change`` is given the folder that holds ``release/`` and ``private/``."""

    name: str
    change: Callable[[Path], object]

    def done(self, safe: Path, room: Path, *, careful: bool = True, inside: bool = True) -> Path:
        """Return a forged copy of a safe folder.

        Parameters
        ----------
        careful
            The forger sets every digest of the manifest right.
        inside
            And the digest of the manifest in the private record.
        """
        folder = Path(shutil.copytree(safe, room, symlinks=True))
        self.change(folder)
        if careful:
            set_digests_right(folder)
        if careful and inside:
            seal(folder)
        return folder


def state(folder: Path) -> dict[str, object]:
    """Return all that a folder holds: what each name stands for, and the bytes of the public part."""
    found: dict[str, object] = {}
    for path in sorted(folder.rglob("*")):
        plain = path.is_file() and not path.is_symlink()
        kind = path.lstat().st_mode, path.lstat().st_nlink if plain else 1
        found[str(path.relative_to(folder))] = (kind, digest_of(path) if plain else "")
    return found


def set_digests_right(folder: Path) -> None:
    """Put the digests that the files have now where the old ones stand, letter by letter."""
    public = folder / "release"
    path = public / MANIFEST
    if not path.is_file():
        return
    text = path.read_bytes()
    for name, digest in _stated(text).items():
        if isinstance(digest, str) and (public / name).is_file():
            text = text.replace(digest.encode(), digest_of(public / name).encode())
    path.write_bytes(text)


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _stated(text: bytes) -> dict[str, str]:
    try:
        told = json.loads(text.decode("utf-8-sig"))
        return dict(told["files"])
    except (ValueError, KeyError, TypeError):
        return {}


@dataclass(frozen=True)
class Auditor:
    """The audit of a safe folder and of its forged copies, its cheap parts first.

    Attributes
    ----------
    files
        The public files there are.
    rewritten
        Writes the files of a folder anew and compares them.
    audit
        The whole audit, of which all this is a part.
    """

    safe: Path
    files: Collection[str]
    rewritten: Callable[[Path], Iterable[Finding]]
    audit: Callable[[Path], Verdict]

    def passes(self, folder: Path) -> bool:
        """Return whether a folder passes for an honest release; a deep run asks the whole audit always."""
        if not DEEP and (self.changed(folder) or not all(finding.ok for finding in self.rewritten(folder))):
            return False
        verdict = self.audit(folder)
        assert MESSAGE not in str(verdict.to_dict())
        return verdict.safe

    def changed(self, folder: Path) -> str | None:
        """Return what the rules on files say."""
        public = folder / "release"
        wrong = wrong_files(public, self.files) or another_manifest(folder)
        return wrong or changed_files(public, read_manifest(folder).get("files"), self.files)

    def unnoticed(self, forgeries: Iterable[Forgery], room: Path) -> tuple[list[str], int]:
        """Return the names of the forgeries that pass, and how many there were.

        What a careful forger has set right again, or what comes to the same as another, is none.
        """
        passing, seen = [], {_whole(self.safe)}
        for number, forgery in enumerate(forgeries):
            folder = forgery.done(self.safe, room / f"{number}")
            whole = _whole(folder)
            if whole not in seen and (wrong := self._judged(folder)) is not None:
                passing.append(f"{forgery.name}{wrong}")
            seen.add(whole)
            shutil.rmtree(folder)
        return passing, len(seen) - 1

    def _judged(self, folder: Path) -> str | None:
        try:
            return "" if self.passes(folder) else None
        except InternalError:
            return ": taken for a mistake of our own"
        except TripcloakError as refused:
            # Nothing to audit: the folder is not even taken for a release.
            return ": told by the error" if MESSAGE in str(refused) else None


def _whole(folder: Path) -> str:
    return json.dumps(state(folder))


def sampled(forgeries: Iterable[Forgery], one_in: int) -> list[Forgery]:
    """Return one in so many forgeries, spread evenly; all of them in a deep run."""
    return list(forgeries)[:: 1 if DEEP else one_in]


def is_about(name: str, places: Iterable[str]) -> bool:
    """Return whether a forgery is one of these, or about one of these entries of a manifest."""
    return any(f": {place} " in name or name.endswith(f": {place}") for place in places)
