"""Small raw inputs, releases made of them, and folders that can be tampered with."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
from pyarrow import csv, parquet

from tripcloak.flows.methods import ODkAnon
from tripcloak.flows.model import ODMatrix
from tripcloak.flows.publish import publish
from tripcloak.flows.release import Release
from tripcloak.ground.folders import PUBLIC, file_digest, write_json
from tripcloak.hierarchy import Tiling, ZoneFile, parse_tiling
from tripcloak.hierarchy.tiling import OUTSIDE, Keys
from tripcloak.promises import KAnonymity, Promise
from worlds.folders import seal

TOWNS = np.array([[48.85, 2.30], [48.88, 2.36], [48.83, 2.38], [48.90, 2.28]])
TEN_TRAVELLERS = KAnonymity(k=10, unit="travellers")
ENGINE = duckdb.connect()


def raw_trips(n: int = 3000, *, people: int = 200, seed: int = 3) -> pa.Table:
    """Return trips between four towns and some places far out, with rows to drop and exact duplicates."""
    rng = np.random.default_rng(seed)
    starts, ends = (TOWNS[rng.integers(0, 4, n)] + rng.normal(0, 0.004, (n, 2)) for _ in range(2))
    far = rng.random(n) < 0.02
    ends[far] += np.array([0.6, 0.7]) * rng.random((int(far.sum()), 1))
    person = np.array([f"p{number}" for number in rng.integers(0, people, n)], dtype=object)
    person[::97] = None
    columns = {
        "o_lat": starts[:, 0],
        "o_lon": starts[:, 1],
        "d_lat": ends[:, 0],
        "d_lon": ends[:, 1],
        "person": pa.array(person, pa.string()),
        "weight": rng.lognormal(5, 1, n),
        "reason": np.where(np.arange(n) % 211 == 7, 6, 0).astype(np.int32),
        "mark": np.arange(n).astype(np.uint64) * np.uint64(977),
    }
    table = pa.table(columns)
    return pa.concat_tables([table, table.slice(100, 25)])


@dataclass(frozen=True, kw_only=True)
class World:
    """A raw input in the columns of the view ``canonical``, and how its places become zones."""

    raw: pa.Table
    spec: str = "h3:9"
    tiling: Tiling
    people_once: bool = False

    @classmethod
    def of(cls, raw: pa.Table, spec: str = "h3:9", **zoning: Any) -> World:
        """Return the world of a raw table under a hierarchy given as text."""
        return cls(raw=raw, spec=spec, tiling=parse_tiling(spec, **zoning))

    @cached_property
    def matrix(self) -> ODMatrix:
        """Return the matrix of the rows that count, each duplicate once."""
        kept = self.raw.filter(np.equal(self.raw["reason"], 0))
        if "mark" in kept.column_names:
            kept = kept.take(np.sort(np.unique(kept["mark"], return_index=True)[1]))
        keys = [self._keys(kept, end) for end in "od"]
        inside = (keys[0] != OUTSIDE) & (keys[1] != OUTSIDE)
        kept = kept.filter(inside)
        trees, codes = zip(*(self._axis(side[inside]) for side in keys), strict=True)
        people = kept["person"].to_pylist() if "person" in kept.column_names else []
        numbers = {person: number for number, person in enumerate(sorted(set(people) - {None}))} | {None: -1}
        made = ODMatrix.from_trips(
            *trees,
            *codes,
            person=np.array([numbers[one] for one in people], np.int32) if people else None,
            weight=kept["weight"].to_numpy() if "weight" in kept.column_names else None,
            trips=kept["trips"].to_numpy() if "trips" in kept.column_names else None,
            repeats=True,
        )
        return replace(made, each_trip_is_a_person=self.people_once)

    def _keys(self, kept: pa.Table, end: str) -> Keys:
        if f"{end}_id" in kept.column_names:
            return self.tiling.keys(kept[f"{end}_id"].to_pylist())
        return self.tiling.encode(kept[f"{end}_lat"].to_numpy(), kept[f"{end}_lon"].to_numpy())

    def _axis(self, keys: Keys) -> tuple[Any, Any]:
        tree = self.tiling.hierarchy(np.unique(keys))
        return tree, self.tiling.tiles(keys, tree)

    def release(self, promise: Promise = TEN_TRAVELLERS, limit: float = 0.1) -> Release:
        """Return ODkAnon's release."""
        return ODkAnon(promise=promise, suppression_limit=limit).anonymise(self.matrix)

    def publish(self, out: Path, release: Release, **dropped: int) -> Folder:
        """Return the folder a release was written to."""
        publish(out, self.matrix, release, run={}, dropped=dropped, tilings={"spec": self.spec})
        return Folder(out)

    @contextmanager
    def connection(self, *, alone: bool = False) -> Iterator[duckdb.DuckDBPyConnection]:
        """Give a connection with the view ``canonical``; to an engine of its own, if it is to be alone.

        What is temporary belongs to each connection by itself, but settings may be those of the engine.
        """
        with duckdb.connect() if alone else ENGINE.cursor() as con:
            con.register("raw", self.raw)
            con.execute("create temp view canonical as select * from raw")
            yield con


@dataclass(frozen=True)
class Folder:
    """A release folder under attack."""

    path: Path

    def public(self, name: str) -> Path:
        """Return the path of a public file."""
        return self.path / PUBLIC / name

    @property
    def facts(self) -> dict[str, Any]:
        """Return the manifest."""
        return json.loads(self.public("manifest.json").read_text())

    def edit_manifest(self, change: Callable[[dict[str, Any]], Any]) -> None:
        """Change the manifest in place, and seal it again, as a careful forger would."""
        facts = self.facts
        change(facts)
        write_json(self.public("manifest.json"), facts)
        seal(self.path)

    def restate(self, promise: Promise) -> None:
        """Write another promise into the manifest, with words that fit."""
        self.edit_manifest(lambda facts: facts.update(promise=promise.stated()))

    def edit_rows(self, name: str, change: Callable[[list[dict[str, Any]]], Any]) -> None:
        """Change the rows of a Parquet file in zoning; the columns are those of the first row."""
        path = self.path / name
        table = parquet.read_table(path)
        rows = table.to_pylist()
        change(rows)
        made = [name for name in rows[0] if name not in table.column_names]
        schema = table.schema
        for extra in made:
            schema = schema.append(pa.field(extra, pa.array([rows[0][extra]]).type))
        parquet.write_table(pa.Table.from_pylist(rows, schema), path, store_schema=False)

    def edit_flows(self, change: Callable[[list[dict[str, Any]]], Any]) -> None:
        """Change the released flows in both of their files."""
        self.edit_rows("release/flows.parquet", change)
        flows = parquet.read_table(self.public("flows.parquet"))
        csv.write_csv(flows, self.public("flows.csv"), csv.WriteOptions(quoting_style="needed"))

    def edit_groups(self, change: Callable[[list[dict[str, Any]]], Any]) -> None:
        """Change the private table of input flows."""
        self.edit_rows("private/groups.parquet", change)

    def edit_text(self, name: str, change: Callable[[str], str]) -> None:
        """Change a public text file."""
        text = self.public(name).read_text()
        changed = change(text)
        assert changed != text
        self.public(name).write_text(changed)
        seal(self.path)

    def refresh(self) -> None:
        """Write the digests that the files have now into the manifest, as a careful forger would."""

        def restate(facts: dict[str, Any]) -> None:
            facts["files"] = {
                name: file_digest(self.public(name)) for name in facts["files"] if self.public(name).exists()
            }

        self.edit_manifest(restate)


def tract_file(folder: Path) -> ZoneFile:
    """Return a zones file of 36 square tracts in 9 counties in 3 states."""
    features = []
    for row in range(6):
        for column in range(6):
            south, west = 48.7 + row * 0.06, 2.1 + column * 0.07
            ring = [[west, south], [west + 0.07, south], [west + 0.07, south + 0.06], [west, south + 0.06]]
            county = row // 2 * 3 + column // 2
            properties = {"zone": f"t{row}{column}", "county": f"c{county}", "state": f"s{county // 3}"}
            geometry = {"type": "Polygon", "coordinates": [[*ring, ring[0]]]}
            features.append({"type": "Feature", "properties": properties, "geometry": geometry})
    path = folder / "tracts.geojson"
    path.write_text(json.dumps({"type": "FeatureCollection", "features": features}))
    return ZoneFile.read(path)
