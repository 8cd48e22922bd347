"""Evidence: the parts of a release folder and of the raw input, made ready when a rule asks for them."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from tripcloak.ground.arrays import Floats, Ints
from tripcloak.ground.exact_files import exact_literal
from tripcloak.ground.manifest import public_part
from tripcloak.ground.rulebook import BrokenPart, Rulebook
from tripcloak.trajectories.audit.containment import (
    RawSupports,
    Supports,
    count_companions,
    count_raw_supports,
    count_supports,
)
from tripcloak.trajectories.audit.promise import Manifest, understand
from tripcloak.trajectories.audit.screening import BoxSpans, Samples
from tripcloak.trajectories.model import Grid

if TYPE_CHECKING:
    import duckdb


class DroppedFixes(Protocol):
    """Fixes that were dropped though they can be placed: whose, by the row of the person, when and where."""

    @property
    def owner(self) -> Ints:
        """Return the row of the person."""

    @property
    def instant(self) -> Ints:
        """Return when, in microseconds since 1970."""

    @property
    def lat(self) -> Floats:
        """Return degrees of latitude."""

    @property
    def lon(self) -> Floats:
        """Return degrees of longitude."""


class RawFixes(Protocol):
    """The clean fixes of everybody, by person and time."""

    @property
    def offsets(self) -> Ints:
        """Return where each person's fixes begin; one more than there are people."""

    @property
    def instant(self) -> Ints:
        """Return when, in microseconds since 1970."""

    @property
    def lat(self) -> Floats:
        """Return degrees of latitude."""

    @property
    def lon(self) -> Floats:
        """Return degrees of longitude."""

    @property
    def users(self) -> Any:
        """Return whose fixes they are, in this order."""

    @property
    def n_users(self) -> int:
        """Return the number of people."""

    @property
    def dropped(self) -> DroppedFixes:
        """Return what else was recorded of these people, in any order."""


class RawTrajectories(Protocol):
    """The raw input, read when it is first asked for: a folder without a table needs none."""

    @property
    def fixes(self) -> RawFixes:
        """Return the clean fixes; an InputError where the input cannot be read."""

    def grid(self) -> Grid | None:
        """Return the grid on which such an input is told; None where nothing says how fine it is.

        An InputError where no one projection serves the input.
        """


MICRO = 1_000_000
ZONED = " WITH TIME ZONE"
COLUMNS = {
    "trajectory": "VARCHAR",
    "t_start": "TIMESTAMP WITH TIME ZONE",
    "t_end": "TIMESTAMP WITH TIME ZONE",
    **dict.fromkeys(("x_min", "x_max", "y_min", "y_max"), "BIGINT"),
    **dict.fromkeys(("lon_min", "lat_min", "lon_max", "lat_max"), "DOUBLE"),
}
"""All that may be published of a sample, and as what."""


# Folders of segments are called sex=F: not a column of the files in them.
ALONE = "hive_partitioning = false"


class TrajectoryEvidence:
    """A release folder and its raw input, as rules see them; parts are read once, on first use.

    Published edges are compared in microseconds and metres, as they stand in the file, with raw instants
    and with raw places that are projected here; steps of the grid play no part.
    """

    def __init__(
        self,
        folder: Path,
        facts: dict[str, Any],
        con: duckdb.DuckDBPyConnection,
        raw: RawTrajectories,
        *,
        ordered: int | None = None,
        jobs: int | None = None,
    ) -> None:
        self.folder, self.facts, self.con, self.raw = folder, facts, con, raw
        self.released = public_part(folder)
        self.ordered, self.jobs = ordered, jobs

    def public(self, name: str) -> Path:
        """Return the path of a file of the public part."""
        return self.released / name

    @cached_property
    def manifest(self) -> Manifest:
        """Return what the release says of itself."""
        return understand(self.facts)

    @property
    def columns(self) -> dict[str, str]:
        """Return all that may be published of a sample, and as what; of an unknown clock no zone is told.

        Where the manifest cannot be understood, that is said elsewhere.
        """
        grid = self.facts.get("grid")
        known = not (isinstance(grid, dict) and grid.get("clock") == "unknown")
        return {name: kind if known else kind.removesuffix(ZONED) for name, kind in COLUMNS.items()}

    @cached_property
    def table(self) -> str:
        """Return the name of the table of published samples, which also has their ``row`` in the file."""
        self._require("samples.parquet")
        path = self.literal("samples.parquet")
        found = [
            (name, kind)
            for name, kind, *_ in self.fetch(f"DESCRIBE SELECT * FROM read_parquet({path}, {ALONE})")
        ]
        if found != list(self.columns.items()):
            raise BrokenPart("release/samples.parquet lacks a column that it should have, or has others")
        self.fetch(
            "CREATE OR REPLACE TEMP TABLE audit_samples AS SELECT file_row_number AS row, "
            f"{', '.join(COLUMNS)} FROM read_parquet({path}, {ALONE}, file_row_number = true)"
        )
        empty = " OR ".join(f"{name} IS NULL" for name in COLUMNS)
        if self.value(f"SELECT count(*) FROM audit_samples WHERE {empty}"):
            raise BrokenPart("release/samples.parquet holds empty cells")
        if not self.value("SELECT count(*) FROM audit_samples"):
            raise BrokenPart("nothing is released")
        return "audit_samples"

    @cached_property
    def spans(self) -> BoxSpans:
        """Return the published boxes by pseudonym and time, in microseconds and metres."""
        columns = self.numbers(
            "SELECT dense_rank() OVER (ORDER BY trajectory) - 1 AS code, epoch_us(t_start)::DOUBLE AS t0, "
            "epoch_us(t_end)::DOUBLE AS t1, x_min::DOUBLE AS x0, x_max::DOUBLE AS x1, y_min::DOUBLE AS y0, "
            f"y_max::DOUBLE AS y1 FROM {self.table} ORDER BY trajectory, t_start, row"
        )
        code = columns.pop("code")
        return BoxSpans(np.searchsorted(code, np.arange(int(code[-1]) + 2)), **columns)

    @property
    def tracks(self) -> RawFixes:
        """Return the clean raw fixes: degrees and instants."""
        return self.raw.fixes

    @cached_property
    def samples(self) -> Samples:
        """Return the raw fixes, projected as the manifest says."""
        instant = self.tracks.instant.astype(np.float64)
        return Samples(self.tracks.offsets, instant, *self.project(self.tracks.lon, self.tracks.lat))

    @cached_property
    def supports(self) -> Supports:
        """Return in how many released trajectories each original one is contained."""
        return count_supports(self.samples, self.spans, jobs=self.jobs)

    @cached_property
    def raw_supports(self) -> RawSupports:
        """Return in how many released trajectories people are found by what was dropped of them."""
        dropped = self.tracks.dropped
        order = np.lexsort((dropped.instant, dropped.owner))
        x, y = self.project(dropped.lon[order], dropped.lat[order])
        offsets = np.searchsorted(dropped.owner[order], np.arange(self.tracks.n_users + 1))
        instant = dropped.instant[order].astype(np.float64)
        return count_raw_supports(self.samples, Samples(offsets, instant, x, y), self.spans)

    @cached_property
    def companions(self) -> Ints:
        """Return how many others keep within delta of each released trajectory."""
        offsets, t, _, x, _, y, _ = self.spans
        delta = self.manifest.promise.delta
        assert delta is not None
        return count_companions(offsets, t, x, y, delta=delta, jobs=self.jobs)

    @cached_property
    def whose(self) -> Ints:
        """Return the row of the person that each released trajectory is of, by the owner's private mapping.

        Released trajectories come by their pseudonyms, as in :attr:`spans`; -1 stands for nobody.
        """
        pairs, dummies = self._mapping(), self._mapping(dummies=True)
        names = sorted(name for (name,) in self.fetch(f"SELECT DISTINCT trajectory FROM {self.table}"))
        users = [user for user, _ in pairs]
        if self.manifest.promise.parted:
            users = list(dict.fromkeys(users))
        if sorted(users) != sorted(str(user) for user in self.tracks.users):
            raise BrokenPart("private/mapping.parquet does not name the people of the input, each once")
        if sorted(name for _, name in (*pairs, *dummies) if name is not None) != names:
            raise BrokenPart("private/mapping.parquet does not name the released trajectories, each once")
        rank = {name: at for at, name in enumerate(names)}
        row = {str(user): at for at, user in enumerate(self.tracks.users)}
        whose = np.full(len(names), -1, np.int64)
        for user, name in pairs:
            if name is not None:
                whose[rank[name]] = row[user]
        return whose

    @cached_property
    def guards(self) -> Ints:
        """Return the row of the person that each released dummy stands beside, -1 of people's own."""
        assert len(self.whose)
        names = sorted(name for (name,) in self.fetch(f"SELECT DISTINCT trajectory FROM {self.table}"))
        row = {str(user): at for at, user in enumerate(self.tracks.users)}
        beside = {name: row.get(user, -1) for user, name in self._mapping(dummies=True)}
        return np.array([beside.get(name, -1) for name in names], np.int64)

    @cached_property
    def asked_profiles(self) -> Floats | None:
        """Return what each person asks for beyond the promise, by the private file, if anybody does."""
        exact = exact_literal(self.con, self.folder / "private" / "mapping.parquet")
        table = f"read_parquet({exact}, {ALONE})"
        if "sd" not in {name for name, *_ in self.fetch(f"DESCRIBE SELECT * FROM {table}")}:
            return None
        told = self.fetch(
            f'SELECT DISTINCT "user"::VARCHAR, sd::DOUBLE, ld::DOUBLE, dst::DOUBLE FROM {table}'
        )
        asked = {user: (sd, ld, dst) for user, sd, ld, dst in told}
        if len(asked) != len(told) or any(None in one for one in asked.values()):
            raise BrokenPart("private/mapping.parquet tells two profiles of somebody, or none")
        rows = [asked.get(str(user)) for user in self.tracks.users]
        if None in rows:
            raise BrokenPart("private/mapping.parquet does not name the people of the input, each once")
        return np.array(rows, np.float64).reshape(-1, 3)

    def _mapping(self, *, dummies: bool = False) -> list[tuple[str, str | None]]:
        """Return whose each pseudonym is by the private file, or beside whom each dummy stands."""
        marked = self.manifest.promise.profile is not None
        if dummies and not marked:
            return []
        path = self.folder / "private" / "mapping.parquet"
        if not path.is_file():
            raise BrokenPart(
                "private/mapping.parquet is missing, so the order of pseudonyms cannot be checked"
            )
        exact = exact_literal(self.con, path)
        rows: list[Any] = self.fetch(
            f'SELECT "user"::VARCHAR, trajectory::VARCHAR FROM read_parquet({exact}, {ALONE})'
            + (f" WHERE dummy IS {'' if dummies else 'NOT '}TRUE" if marked else "")
        )
        return rows

    def project(self, lon: Floats, lat: Floats, *, back: bool = False) -> tuple[Floats, Floats]:
        """Return metres of degrees in the manifest's projection, or degrees of metres."""
        from pyproj import Transformer
        from pyproj.exceptions import ProjError

        try:
            transformer = Transformer.from_crs("EPSG:4326", self.manifest.projection, always_xy=True)
            x, y = transformer.transform(lon, lat, direction="INVERSE" if back else "FORWARD")
        except ProjError:
            raise BrokenPart("release/manifest.json: the projection is none") from None
        return x, y

    def value(self, sql: str) -> Any:
        """Return the single value of a query."""
        ((value,),) = self.fetch(sql)
        return value

    def numbers(self, sql: str) -> dict[str, Any]:
        """Return the columns of a query as arrays."""
        return {name: np.asarray(column) for name, column in self.con.execute(sql).fetchnumpy().items()}

    def fetch(self, sql: str) -> list[tuple[Any, ...]]:
        """Return the rows of a query."""
        rows: list[tuple[Any, ...]] = self.con.execute(sql).fetchall()
        return rows

    def literal(self, name: str) -> str:
        """Return the path of a public file in SQL, in which the engine sees no pattern."""
        return exact_literal(self.con, self.public(name))

    def _require(self, name: str) -> None:
        if not self.public(name).is_file():
            raise BrokenPart(f"release/{name} is missing")


BOOK: Rulebook[TrajectoryEvidence] = Rulebook()
