"""Released: what every release offers, of flows or of trajectories; public numbers, and a private part."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from tripcloak.api.card import Fact, Map, Tone, card
from tripcloak.api.inputs import Inputs
from tripcloak.api.progress import Shown
from tripcloak.api.results import ReleaseAudit, ReleaseMeasures
from tripcloak.api.tables import to_pandas, to_polars
from tripcloak.engines.choice import ON_CLUSTER
from tripcloak.ground.errors import InputError
from tripcloak.ground.folders import PRIVATE, PUBLIC, refuse_if_taken
from tripcloak.ground.given_paths import address_among, given_path, output_path
from tripcloak.ground.keys import SigningKey, read_signing_key
from tripcloak.ground.manifest import read_run, release_folder
from tripcloak.ground.rulebook import Verdict
from tripcloak.ground.signatures import refuse_failed
from tripcloak.promises import Promise

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow as pa

    from tripcloak.records.files.frames import Input


class PublicPart(ABC):
    """The public part of a release, in memory or in a folder: its manifest, its tables and its map."""

    names: tuple[str, ...]
    """The tables there are; the first is the main one."""

    @cached_property
    @abstractmethod
    def facts(self) -> Mapping[str, Any]:
        """Return what the manifest says."""

    @abstractmethod
    def table(self, name: str) -> pa.Table:
        """Return one of the tables."""

    @abstractmethod
    def map_page(self) -> str:
        """Return the map, as one page of HTML."""


class PublicFolder(PublicPart):
    """The public part of a release that lies in a folder."""

    def __init__(self, public: Path, facts: Mapping[str, Any], names: tuple[str, ...]) -> None:
        self._public = public
        self._facts = facts
        self.names = tuple(name for name in names if (public / f"{name}.parquet").is_file())

    @cached_property
    def facts(self) -> Mapping[str, Any]:
        """Return what the manifest says."""
        return self._facts

    def table(self, name: str) -> pa.Table:
        """Return one of the tables."""
        import pyarrow as pa
        from pyarrow import parquet

        path = self._public / f"{name}.parquet"
        try:
            return parquet.read_table(path.absolute())
        except (OSError, pa.ArrowException):
            raise InputError(f"{path} cannot be read; it may be missing or damaged") from None

    def map_page(self) -> str:
        """Return the map, as one page of HTML."""
        try:
            return (self._public / "map.html").read_text(encoding="utf-8")
        except (OSError, ValueError):
            raise InputError(f"{self._public / 'map.html'} cannot be read") from None


class Released(ABC):
    """What is released, with all that it can be asked.

    What a release shows, and all tables that it gives, may be published. What must stay inside is behind
    ``private``.
    """

    def __init__(self, published: PublicPart, *, home: Path | None = None, made: Any = None) -> None:
        self._published = published
        self._home = home
        self._made = made
        self._audit = None if made is None else ReleaseAudit(made.audit)

    @property
    def facts(self) -> dict[str, Any]:
        """Return what the manifest says: method, parameters, what is promised, totals."""
        return dict(self._published.facts)

    def to_arrow(self, table: str | None = None) -> pa.Table:
        """Return a released table as Arrow.

        Parameters
        ----------
        table
            Which one: ``flows``, ``zones``, ``segments``, ``tables`` or ``levels``; of trajectories,
            ``samples``. The first of these if not given.
        """
        names = self._published.names
        if table is not None and table not in names:
            raise InputError(f"the release has no table {table!r}; it has {', '.join(names)}")
        return self._published.table(table or names[0])

    def to_polars(self, table: str | None = None) -> polars.DataFrame:
        """Return a released table as a Polars data frame; see :meth:`to_arrow`."""
        return to_polars(self.to_arrow(table))

    def map(self) -> Map:
        """Return the map, which notebooks show and ``save(path)`` writes as one page for readers offline."""
        return Map(self._published.map_page(), self._title)

    def save(
        self, out: str | Path, *, force: bool = False, sign: str | PathLike[str] | None = None
    ) -> Path | str:
        """Write the release to a folder, as the command line does, and return where it is.

        ``release/`` in it may be published; ``private/`` must stay inside. Both appear whole or not at all.
        One that was made on Spark may go to an address such as ``hdfs://namenode/out``, too.

        Parameters
        ----------
        force
            Replace what is there.
        sign
            A private key (``tripcloak keygen``): the folder is audited, and the verdict signed with it.
        """
        if self._made is None:
            raise InputError("the release was read from a folder, where it is whole already: copy that one")
        key_of(sign)
        if self._made.request.engine == ON_CLUSTER and address_among(out):
            from tripcloak.engines.cluster_files import written_to

            with written_to(str(out), master=self._made.request.master, force=force) as aside:
                self._saved(aside, force=False, sign=sign)
            self._home = None
            return str(out)
        return self._saved(output_path(out), force=force, sign=sign)

    def _saved(self, home: Path, *, force: bool, sign: str | PathLike[str] | None) -> Path:
        self._write(home, force=force)
        self._home = home
        if sign is not None:
            refuse_failed(home, self.audit(sign=sign).broken)
        return home

    @abstractmethod
    def audit(
        self,
        against: Inputs | None = None,
        *,
        sign: str | PathLike[str] | None = None,
        memory: str | None = None,
        progress: Shown = None,
    ) -> ReleaseAudit:
        """Return what an audit against the raw input finds."""

    @abstractmethod
    def measures(
        self, against: Inputs | None = None, *, memory: str | None = None, progress: Shown = None
    ) -> ReleaseMeasures:
        """Return what the release is still good for."""

    @property
    @abstractmethod
    def private(self) -> PrivatePart:
        """Return what must stay inside."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {'; '.join([*self._sentences(), self._verdict()[1]])}>"

    def _repr_html_(self) -> str:
        tone, title = self._verdict()
        return card(
            f"{title[0].upper()}{title[1:]}",
            tone=tone,
            aside=f"{self._published.facts['method']}",
            facts=self._card_facts(),
            page=self._published.map_page(),
            page_title=self._title,
            foot=_FEET[tone],
        )

    def _verdict(self) -> tuple[Tone, str]:
        """Return what is known of its safety, and how that looks."""
        if self._audit is None:
            return "plain", "read from a folder; release.audit(against=...) says whether it is safe"
        if not self._audit.safe:
            return "unsafe", f"NOT SAFE: {', '.join(self._audit.broken)}"
        promised = sum(one.promised for one in self._audit.findings)
        return "safe", f"safe to publish: all {promised} rules of the audit hold"

    def _protected(self) -> str:
        """Return what protects the people in it, in a few words."""
        return Promise.from_manifest(self._published.facts["promise"]).in_brief()

    @property
    @abstractmethod
    def _title(self) -> str: ...

    @abstractmethod
    def _sentences(self) -> list[str]:
        """Return what was released and what protects it, in a few words each."""

    @abstractmethod
    def _card_facts(self) -> list[Fact]: ...

    def _frame(self, name: str) -> pandas.DataFrame:
        return to_pandas(self.to_arrow(name))

    def _inputs(self, against: Inputs | None) -> tuple[Input, ...]:
        """Return the input to check against: what was given, or what the release was made from."""
        kept = () if self._made is None else self._made.request.source.paths
        if against is None and not kept:
            raise InputError("the release was read from a folder; say what it was made from: against=...")
        return kept if against is None else self._take(against)

    def _judged(self, verdict: Verdict, *ordered: object) -> ReleaseAudit:
        """Return what an audit found; one for more than was promised says nothing about the promise."""
        found = ReleaseAudit(verdict)
        if all(one is None for one in ordered):
            self._audit = found
        return found

    @abstractmethod
    def _write(self, out: Path, *, force: bool = False) -> None:
        """Write what was made here to a folder."""

    @abstractmethod
    def _take(self, against: Inputs) -> tuple[Input, ...]: ...

    def _key(self, sign: str | PathLike[str] | None) -> SigningKey | None:
        """Return the key to sign with, for a release that is in a folder."""
        if sign is not None and self._home is None:
            raise InputError("what is signed are files: save the release first, or with sign=...")
        return key_of(sign)

    @contextmanager
    def _at_home(self) -> Iterator[Path]:
        """Give the folder of the release; one that was never saved is written aside, for its owner alone."""
        if self._home is not None and (self._made is None or (self._home / PUBLIC).is_dir()):
            yield self._home
            return
        with TemporaryDirectory(prefix="tripcloak-") as aside:
            self._write(Path(aside))
            yield Path(aside)


_FEET: dict[Tone, str] = {
    "safe": "Everything here may be published. What must stay inside is behind release.private.",
    "plain": "What must stay inside is behind release.private.",
    "unsafe": "Do not publish it: the audit says what is wrong.",
}


def key_of(sign: str | PathLike[str] | None) -> SigningKey | None:
    """Return the private key in a file; None where none is given."""
    return None if sign is None else read_signing_key(given_path(sign))


def refuse_before(
    out: str | PathLike[str] | None,
    *,
    force: bool,
    sign: str | PathLike[str] | None,
    engine: str | None = None,
) -> None:
    """Raise where the result could not be saved or signed in the end, before hours are spent on it."""
    if out is not None and not (engine == ON_CLUSTER and address_among(out)):
        refuse_if_taken(output_path(out), force=force)
    elif out is None and sign is not None:
        raise InputError("what is signed are files: say where to save them, out=...")
    key_of(sign)


class PrivatePart:
    """What must stay inside: which flow or person went where, exact numbers, how the input was read.

    Attributes
    ----------
    made : object, optional
        All that the engine made, where the release was made here: the input as it was read, the engine's
        release, its measures and audit. None where it was read from a folder.
    """

    def __init__(self, home: Path | None, made: Any, tables: Mapping[str, Any]) -> None:
        self.made = made
        self._home = home
        self._tables = tables

    def __repr__(self) -> str:
        tables = ", ".join(f".{name}" for name in self._tables)
        return f"<private part of a release, which stays inside: {tables}, .run, .notes, .made>"

    @property
    def run(self) -> dict[str, Any]:
        """Return the record of how the release was made, as ``private/run.json`` holds it."""
        if self.made is not None:
            return dict(self.made.run())
        return read_run(self._folder)

    @property
    def _folder(self) -> Path:
        """Return the folder that holds both parts; an InputError where the public part is alone."""
        assert self._home is not None
        return release_folder(self._home)

    @property
    def notes(self) -> tuple[str, ...]:
        """Return what the data owner should know about how the input was read and what is protected."""
        return tuple(self.run.get("notes", ()))

    def to_arrow(self, table: str) -> pa.Table:
        """Return a private table as Arrow."""
        import pyarrow as pa
        from pyarrow import parquet

        if table not in self._tables:
            raise InputError(f"there is no private table {table!r}; there are {', '.join(self._tables)}")
        if self.made is not None:
            return self._tables[table](self.made)
        path = self._folder / PRIVATE / f"{table}.parquet"
        try:
            return parquet.read_table(path.absolute())
        except (OSError, pa.ArrowException):
            raise InputError(f"{path} cannot be read; it may be missing or damaged") from None

    def __getattr__(self, name: str) -> pandas.DataFrame:
        if name.startswith("_") or name not in self._tables:
            raise AttributeError(f"the private part of this release has no {name}")
        return to_pandas(self.to_arrow(name))

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self._tables})
