"""Releases on a cluster's file system: written here, copied beside their place, then moved into it."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import gettempdir
from typing import Any

from tripcloak.engines.spark import Cluster, hadoop_errors, spark_cluster
from tripcloak.engines.work import work_folder
from tripcloak.ground.errors import InputError, OutputExistsError
from tripcloak.ground.folders import PARTIAL, RELEASE, refuse_public, refuse_taken
from tripcloak.ground.moving import OLD
from tripcloak.ground.spelling import called, spelt
from tripcloak.records.files.distant import refuse_password

_WORDS = {
    "there is no room left there": ("QuotaExceeded", "could only be written to 0", "No space"),
    "writing there is not allowed": ("AccessControl", "AccessDenied", "Permission denied"),
    "the cluster knows no file system of that name; give Spark its library (spark.jars.packages), or take "
    "another address, such as s3a:// for s3://": ("UnsupportedFileSystem", "ClassNotFound", "No FileSystem"),
    "it cannot be reached": ("UnknownHost", "ConnectException", "ConnectTimeout", "NoRouteToHost"),
}
"""What to say of what Hadoop says."""


@contextmanager
def written_to(address: str, *, master: str | None, force: bool) -> Iterator[Path]:
    """Give the path of a private folder here; what was written there is at an address when the block ends.

    Hadoop's file systems write, as the cluster has them set up. All of it stands there or none: files are
    copied into a folder beside their place, and that is renamed. On any error nothing is left behind.

    Raises
    ------
    InputError
        The address cannot be written to, or holds a release already; before the block where that can be seen.
    """
    _refuse_address(address)
    # What a run leaves that is killed is removed by the next one, as beside a release here.
    with work_folder(Path(gettempdir()), None) as room, spark_cluster(master, room) as cluster:
        place = _Place.of(address, cluster)
        place.refuse_if_taken(force=force)
        with place.staged():
            pass
        here = room.resolve() / "out"
        yield here
        with place.staged() as staging:
            place.take(here, staging, force=force)


def _refuse_address(address: str) -> None:
    refuse_password(address)
    if "?" in address or "#" in address:
        raise InputError(
            f"an address to write to ({called('out')}) ends with the name of a folder; what comes after ? or "
            "# is for the cluster's own settings (spark.hadoop...)"
        )


@dataclass(frozen=True)
class _Place:
    """A folder on a file system of Hadoop's, which need not be there yet."""

    address: str
    path: Any
    system: Any
    hadoop: Any

    @classmethod
    def of(cls, address: str, cluster: Cluster) -> _Place:
        """Return the folder of an address, or raise where the cluster knows no such file system."""
        hadoop, settings = cluster.hadoop
        with _plainly(address):
            scheme, slashes, rest = address.partition("://")
            path = hadoop.Path(f"{scheme.lower()}{slashes}{rest}")
            found = cls(address, path, path.getFileSystem(settings), hadoop)
        if path.getParent() is None:
            raise InputError(f"{address} is all of a file system; give {called('out')} a folder in it")
        return found

    def below(self, folder: Any, name: str) -> Any:
        """Return the path of a name in a folder."""
        return self.hadoop.Path(folder, name)

    def refuse_if_taken(self, *, force: bool) -> None:
        """Raise if the folder holds a release already, is none, or lies in the public part of one."""
        with _plainly(self.address):
            there = self._above()
            if not self.system.getFileStatus(there[0]).isDirectory():
                raise OutputExistsError(f"{there[0]} is a file; {called('out')} needs a folder")
            refuse_taken(self.address, lambda name: self._has(self.path, name), force=force)
            refuse_public(self.address, (self._has(folder, "manifest.json") for folder in there))

    def _above(self) -> list[Any]:
        """Return the folder and those that it lies in, of those that exist, the innermost first."""
        found, folder = [], self.path
        while folder is not None:
            if self.system.exists(folder):
                found.append(folder)
            folder = folder.getParent()
        return found

    def _has(self, folder: Any, name: str) -> bool:
        return bool(self.system.exists(self.below(folder, name)))

    @contextmanager
    def staged(self) -> Iterator[Any]:
        """Give a folder beside the place that only its owner can read, and that goes with the block."""
        parent = self.path.getParent()
        staging = self.below(parent, f"{PARTIAL}{self.path.getName()}-{secrets.token_hex(8)}")
        with _plainly(self.address):
            new, folder = [], parent
            while folder is not None and not self.system.exists(folder):
                new.append(folder)
                folder = folder.getParent()
            try:
                self._make(staging, "700")
                yield staging
            finally:
                with _plainly(self.address, f"{staging} may be left behind and hold private data; remove it"):
                    self._tidy(staging, new)

    def _tidy(self, staging: Any, new: Sequence[Any]) -> None:
        """Remove a folder beside the place, and those that were made for it while nothing is in them."""
        # Parts of an earlier release that could not be put back are all there is of them.
        if not self._has(staging, OLD) or not self.system.listStatus(self.below(staging, OLD)):
            self.system.delete(staging, True)
        for folder in new:
            if self.system.exists(folder) and not self.system.listStatus(folder):
                self.system.delete(folder, False)

    def take(self, here: Path, staging: Any, *, force: bool) -> None:
        """Put what is in a folder here into the place, by way of a folder beside it."""
        for entry in sorted(here.iterdir()):
            self._copy(entry, staging)
        self.refuse_if_taken(force=force)
        if self.system.exists(self.path):
            self._exchange(staging, [entry.name for entry in sorted(here.iterdir())], force=force)
            return
        permission = self.hadoop.permission.FsPermission
        usual = permission.getUMask(self.system.getConf())
        self.system.setPermission(staging, permission.getDirDefault().applyUMask(usual))
        self._move(staging, self.path)
        if self._has(self.path, staging.getName()):
            # Somebody else was there first; then renaming moves into the folder.
            self.system.delete(self.below(self.path, staging.getName()), True)
            raise OutputExistsError(f"{self.address} was written to meanwhile; choose another folder")

    def _copy(self, entry: Path, folder: Any) -> None:
        """Copy a file or a folder; what is for its owner alone here is so there, at any moment."""
        there, closed = self.below(folder, entry.name), not entry.stat().st_mode & 0o077
        if entry.is_dir():
            self._make(there, "700" if closed else None)
            for one in sorted(entry.iterdir()):
                self._copy(one, there)
            return
        self.system.copyFromLocalFile(False, True, self.hadoop.Path("file", None, str(entry)), there)
        if closed:
            self.system.setPermission(there, self.hadoop.permission.FsPermission("600"))

    def _make(self, folder: Any, mode: str | None) -> None:
        self.system.mkdirs(folder)
        if mode is not None:
            self.system.setPermission(folder, self.hadoop.permission.FsPermission(mode))

    def _exchange(self, staging: Any, names: Sequence[str], *, force: bool) -> None:
        """Move parts into a folder that is there, and those that they replace aside; on any error, back."""
        taken = [name for name in dict.fromkeys((*names, *RELEASE.names)) if self._has(self.path, name)]
        if taken and not force:
            raise OutputExistsError(
                f"{self.address} already holds {', '.join(taken)}; choose another folder, or replace it with "
                f"{spelt('force', True)}"
            )
        aside = self.below(staging, OLD)
        self._make(aside, "700")
        # The public part goes first and comes last: it must never stand without its evidence.
        moves = [(self.path, aside, name) for name in reversed(taken)]
        moves += [(staging, self.path, name) for name in names]
        done: list[tuple[Any, Any, str]] = []
        try:
            for source, target, name in moves:
                self._move(self.below(source, name), self.below(target, name))
                done.append((source, target, name))
        except BaseException:
            for source, target, name in reversed(done):
                self._move(self.below(target, name), self.below(source, name))
            raise
        self.system.delete(aside, True)

    def _move(self, source: Any, target: Any) -> None:
        if not self.system.rename(source, target):
            raise InputError(
                f"cannot write the release to {self.address}: its file system does not rename what was "
                "written beside it; nothing was left behind"
            )


def _plainly(address: str, left: str = "nothing was left behind") -> AbstractContextManager[None]:
    """Turn errors of Hadoop's file systems into words that a stranger can act on."""

    def explained(kind: str, words: str) -> InputError:
        why = next(
            (say for say, signs in _WORDS.items() if any(sign in kind or sign in words for sign in signs)),
            f"{kind}: {words.splitlines()[0][:200]}",
        )
        return InputError(f"cannot write the release to {address} ({called('out')}): {why}; {left}")

    return hadoop_errors(explained)
