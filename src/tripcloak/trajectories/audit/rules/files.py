"""Rules about the public files: which there are, unchanged, and not a byte more than they should hold."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tripcloak.ground.folders import BACKGROUND
from tripcloak.ground.public_files import another_manifest, changed_files, wrong_files
from tripcloak.ground.rulebook import BrokenPart, Remark
from tripcloak.ground.signatures import NAME as VERDICT
from tripcloak.ground.signatures import RULE as SIGNED
from tripcloak.ground.signatures import wrong_form
from tripcloak.trajectories.audit.evidence import BOOK, TrajectoryEvidence

if TYPE_CHECKING:
    import pyarrow as pa


FILES = {"samples.parquet", "manifest.json", "README.md", "map.html"}
OPTIONAL = ("samples.csv", "trajectories.geojson", "trajectories.mfjson")
"""Files that may be left out, if the manifest says so."""


@BOOK.rule("files-complete")
def files_complete(case: TrajectoryEvidence) -> str | None:
    """The public part holds exactly the files it should, and nothing more."""
    return wrong_files(case.public(""), expected_files(case), {VERDICT})


def expected_files(case: TrajectoryEvidence) -> set[str]:
    """Return the names that the public files must have."""
    left_out = case.facts.get("left_out", [])
    if not isinstance(left_out, list) or left_out != [name for name in OPTIONAL if name in left_out]:
        raise BrokenPart("release/manifest.json: 'left_out' must name files that may be left out")
    drawn = {BACKGROUND} if "background" in case.facts else set()
    return FILES | drawn | set(OPTIONAL) - set(left_out)


@BOOK.rule(SIGNED)
def signature_fits(case: TrajectoryEvidence) -> str | Remark | None:
    """A signed verdict, if there is one, is on these very files and holds no more."""
    return wrong_form(case.public(""))


@BOOK.rule("digests-match")
def digests_match(case: TrajectoryEvidence) -> str | None:
    """Every public file has the digest that the manifest states."""
    return changed_files(case.public(""), case.facts.get("files"), expected_files(case))


@BOOK.rule("manifest-as-made")
def manifest_as_made(case: TrajectoryEvidence) -> str | None:
    """The manifest is the very one that was written with the private record."""
    return another_manifest(case.folder)


PART = 1 << 19
"""Rows that are written together; other parts could tell something by their lengths."""


@BOOK.rule("only-allowed-columns")
def only_allowed_columns(case: TrajectoryEvidence) -> str | None:
    """Published tables hold when and where and a pseudonym, and nothing that could tell people apart."""
    assert case.table
    hidden = f"SELECT count(*) FROM parquet_kv_metadata({case.literal('samples.parquet')})"
    return "release/samples.parquet holds hidden entries beside its columns" if case.value(hidden) else None


@BOOK.rule("parquet-holds-no-more")
def parquet_holds_no_more(case: TrajectoryEvidence) -> str | None:
    """``samples.parquet`` is, byte by byte, what comes of writing its rows: nothing is hidden in it."""
    import pyarrow as pa
    from pyarrow import parquet

    assert case.table
    path, schema = case.public("samples.parquet"), _schema(case, "ms")

    def write(sink: Any) -> None:
        with parquet.ParquetWriter(sink, schema, compression="zstd", store_schema=False) as writer:
            for part in _parts(path, schema):
                writer.write_table(part)

    if not _writes_the_same(path, write):
        return (
            "release/samples.parquet is not what comes of writing its rows: it may hide something, or was "
            f"written by another version of Arrow than {pa.__version__}, which is installed here"
        )
    return None


@BOOK.rule("csv-equals-parquet")
def csv_equals_parquet(case: TrajectoryEvidence) -> str | None:
    """``samples.csv`` is, byte by byte, what comes of writing the rows of ``samples.parquet``."""
    from pyarrow import csv

    assert case.table
    if "samples.csv" not in expected_files(case):
        return None
    path, schema = case.public("samples.parquet"), _schema(case, "s")

    def write(sink: Any) -> None:
        options = csv.WriteOptions(quoting_style="none")
        with csv.CSVWriter(sink, schema, write_options=options) as writer:
            for part in _parts(path, schema):
                writer.write_table(part)

    if not _writes_the_same(case.public("samples.csv"), write):
        return "samples.csv and samples.parquet hold different rows, or samples.csv is written otherwise"
    return None


def _schema(case: TrajectoryEvidence, unit: str) -> pa.Schema:
    import pyarrow as pa

    kinds = {
        "VARCHAR": pa.string(),
        "TIMESTAMP WITH TIME ZONE": pa.timestamp(unit, tz="UTC"),
        "TIMESTAMP": pa.timestamp(unit),
        "BIGINT": pa.int64(),
        "DOUBLE": pa.float64(),
    }
    return pa.schema([(name, kinds[kind]) for name, kind in case.columns.items()])


def _parts(path: Path, schema: pa.Schema) -> Iterator[pa.Table]:
    """Yield the rows of a Parquet file in the parts in which they must be written."""
    from pyarrow import parquet

    with parquet.ParquetFile(path.absolute()) as file:
        for part in range(file.num_row_groups):
            expected = min(PART, file.metadata.num_rows - part * PART)
            if file.metadata.row_group(part).num_rows != expected:
                raise _Different
            yield file.read_row_group(part).combine_chunks().cast(schema)


class _Different(Exception):
    """What is written is not what a file holds."""


class _Comparison(io.RawIOBase):
    """Takes what is written and compares it with a file; larger files than memory holds do no harm."""

    def __init__(self, file: Any) -> None:
        self.file = file

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        """Return how many bytes were found to be the same."""
        told = bytes(data)
        if self.file.read(len(told)) != told:
            raise _Different
        return len(told)


def _writes_the_same(path: Path, write: Callable[[Any], None]) -> bool:
    """Return whether writing gives what a file holds, to the last byte."""
    import pyarrow as pa

    with suppress(_Different):
        try:
            with path.open("rb") as file, _Comparison(file) as sink:
                write(sink)
                return not file.read(1)
        except (OSError, pa.ArrowException):
            raise BrokenPart(f"release/{path.name} holds other values than it should") from None
    return False


SYSTEMS = (
    '"crs":{"type": "Name", "properties": {"name": "urn:ogc:def:crs:OGC:1.3:CRS84"}},'
    '"trs":{"type": "Name", "properties": {"name": "urn:ogc:data:time:iso8601"}},'
)


class SampleRow(NamedTuple):
    """A published sample: a pseudonym, two times as text, and degrees."""

    name: str
    begin: str
    end: str
    west: float
    south: float
    east: float
    north: float


@BOOK.rule("geojson-equals-samples")
def geojson_equals_samples(case: TrajectoryEvidence) -> str | None:
    """``trajectories.geojson`` holds the released boxes in degrees, in their order, and not a letter more."""
    return _compare(case, "trajectories.geojson", _collection(map(_box, _published(case)), ""))


@BOOK.rule("mfjson-equals-samples")
def mfjson_equals_samples(case: TrajectoryEvidence) -> str | None:
    """``trajectories.mfjson`` holds the released boxes in degrees, in their order, and not a letter more."""
    own = (list(rows) for _, rows in groupby(_published(case), key=lambda row: row.name))
    return _compare(case, "trajectories.mfjson", _collection(map(_moving, own), SYSTEMS))


def _compare(case: TrajectoryEvidence, name: str, expected: Iterable[str]) -> str | None:
    """Return whether a file says something else than these texts, one after the other."""
    if name not in expected_files(case):
        return None
    try:
        with case.public(name).open("rb") as file:
            for text in expected:
                plain = text.encode()
                if file.read(len(plain)) != plain:
                    return f"release/{name} differs from the released samples, or from how they are written"
            return f"release/{name} holds more than the released samples" if file.read(1) else None
    except OSError:
        raise BrokenPart(f"release/{name} cannot be read") from None


def _published(case: TrajectoryEvidence) -> Iterator[SampleRow]:
    zone = "Z" if case.columns["t_start"].endswith("ZONE") else ""
    when = ", ".join(f"strftime({name}, '%Y-%m-%dT%H:%M:%S{zone}')" for name in ("t_start", "t_end"))
    rows = case.fetch(
        f"SELECT trajectory, {when}, lon_min, lat_min, lon_max, lat_max FROM {case.table} ORDER BY row"
    )
    return (SampleRow(*row) for row in rows)


def _collection(features: Iterable[str], systems: str) -> Iterator[str]:
    yield f'{{"type":"FeatureCollection",{systems}"features":[\n'
    for at, feature in enumerate(features):
        yield f",\n{feature}" if at else feature
    yield "\n]}\n"


def _box(row: SampleRow) -> str:
    """Return a feature of one box; across the 180th meridian it is two."""
    if row.east <= 180:
        shape = f'"type":"Polygon","coordinates":[{_ring(row)}]'
    else:
        near, far = row._replace(east=180.0), row._replace(west=-180.0, east=round(row.east - 360.0, 6))
        shape = f'"type":"MultiPolygon","coordinates":[[{_ring(near)}],[{_ring(far)}]]'
    return (
        f'{{"type":"Feature","geometry":{{{shape}}},"properties":{{"trajectory":{json.dumps(row.name)},'
        f'"t_start":"{row.begin}","t_end":"{row.end}"}}}}'
    )


def _moving(rows: list[SampleRow]) -> str:
    """Return a moving feature; a gap in time begins another prism."""
    gaps = [at for at in range(1, len(rows)) if rows[at - 1].end != rows[at].begin]
    prisms = ",".join(_prism(rows[a:b]) for a, b in zip([0, *gaps], [*gaps, len(rows)], strict=True))
    name = json.dumps(rows[0].name)
    return (
        f'{{"type":"Feature","id":{name},"properties":{{"trajectory":{name}}},'
        f'"time":["{rows[0].begin}","{rows[-1].end}"],'
        f'"temporalGeometry":{{"type":"MovingGeometryCollection","prisms":[{prisms}]}}}}'
    )


def _prism(rows: list[SampleRow]) -> str:
    """Return boxes that hold until the next begins, the last one twice."""
    times = ",".join(f'"{time}"' for time in (*(row.begin for row in rows), rows[-1].end))
    rings = ",".join(f"[{_ring(row)}]" for row in (*rows, rows[-1]))
    return f'{{"type":"MovingPolygon","datetimes":[{times}],"coordinates":[{rings}],"interpolation":"Step"}}'


def _ring(row: SampleRow) -> str:
    west, south, east, north = row[3:]
    corners = ((west, south), (east, south), (east, north), (west, north), (west, south))
    return f"[{','.join(f'[{x!r},{y!r}]' for x, y in corners)}]"
