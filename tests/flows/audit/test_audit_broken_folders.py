"""Folders that are no release raise; broken parts of a release become failed findings."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from pyarrow import parquet

from tripcloak.flows.audit import audit_files, audit_folder
from tripcloak.ground.errors import InputError
from tripcloak.ground.rulebook import Verdict
from worlds.depth import size
from worlds.released_flows import Folder, World, raw_trips


@pytest.fixture(scope="module")
def world() -> World:
    """A small city."""
    return World.of(raw_trips(600, people=90))


@pytest.fixture(scope="module")
def honest(world: World, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its release."""
    out = tmp_path_factory.mktemp("honest") / "out"
    world.publish(out, world.release())
    return out


@pytest.fixture
def folder(honest: Path, tmp_path: Path) -> Folder:
    """A copy to break, in a place whose name looks like a pattern."""
    shutil.copytree(honest, tmp_path / "it's [a] *copy?")
    return Folder(tmp_path / "it's [a] *copy?")


def audit(world: World, folder: Path, **more: Any) -> Verdict:
    with world.connection() as con:
        return audit_folder(folder, con, **more)


def test_a_folder_with_an_odd_name(world: World, folder: Folder) -> None:
    assert audit(world, folder.path).safe


def no_folder(folder: Folder) -> None:
    shutil.rmtree(folder.path)


def no_manifest(folder: Folder) -> None:
    folder.public("manifest.json").unlink()


def manifest_of(text: str) -> Callable[[Folder], None]:
    def change(folder: Folder) -> None:
        folder.public("manifest.json").write_text(text)

    return change


@pytest.mark.parametrize(
    "change",
    [
        no_folder,
        no_manifest,
        manifest_of("{"),
        manifest_of("[]"),
        manifest_of('{"format": "something else"}'),
    ],
)
def test_no_release_is_an_input_error(change: Callable[[Folder], None], world: World, folder: Folder) -> None:
    change(folder)
    with pytest.raises(InputError):
        audit(world, folder.path)
    with pytest.raises(InputError):
        audit_files(folder.path)


def cut_short(folder: Folder, name: str) -> None:
    path = folder.path / name
    path.write_bytes(path.read_bytes()[:200])


def overwrite_inside(folder: Folder, name: str) -> None:
    path = folder.path / name
    content = bytearray(path.read_bytes())
    content[20:120] = b"\xff" * 100
    path.write_bytes(bytes(content))


def lose(folder: Folder, name: str) -> None:
    (folder.path / name).unlink()


def lose_a_column(folder: Folder, name: str) -> None:
    table = parquet.read_table(folder.path / name)
    parquet.write_table(table.drop_columns([table.column_names[1]]), folder.path / name)


def text_for_numbers(folder: Folder, name: str) -> None:
    table = parquet.read_table(folder.path / name)
    at = next(i for i, field in enumerate(table.schema) if pa.types.is_integer(field.type))
    texts = pa.array(["secret"] * table.num_rows)
    parquet.write_table(table.set_column(at, table.column_names[at], texts), folder.path / name)


def empty_cell(folder: Folder, name: str) -> None:
    folder.edit_rows(name, lambda rows: rows[0].update({next(iter(rows[0])): None}))


READERS = {
    "release/flows.parquet": {"every-group-safe", "csv-equals-parquet", "manifest-consistent"},
    "release/zones.parquet": {"zones-table-matches", "manifest-consistent"},
    "private/groups.parquet": {"every-group-safe", "every-flow-accounted", "both-or-neither"},
}


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize(
    "change", [cut_short, overwrite_inside, lose, lose_a_column, text_for_numbers, empty_cell]
)
def test_a_broken_table_fails_the_rules_that_read_it(
    change: Callable[[Folder, str], None], name: str, world: World, folder: Folder
) -> None:
    change(folder, name)
    report = audit(world, folder.path)
    assert READERS[name] <= set(report.broken)
    words = next(finding.words for finding in report.findings if finding.rule in READERS[name])
    assert name in words
    assert "secret" not in words


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", ["zones.geojson", "map.html", "flows.csv"])
@pytest.mark.parametrize("content", [b"", b"\xff\xfe\x00", b"null", b'{"features": [7]}'])
def test_a_broken_text_file_fails_a_rule(name: str, content: bytes, world: World, folder: Folder) -> None:
    folder.public(name).write_bytes(content)
    folder.refresh()
    rule = {
        "zones.geojson": "zones-table-matches",
        "map.html": "map-shows-released-only",
        "flows.csv": "csv-equals-parquet",
    }
    assert rule[name] in audit(world, folder.path).broken


@pytest.mark.parametrize(
    "data", ["null", "[]", "{}", '{"volume":{},"origin":{},"destination":{},"flows":{}}']
)
def test_map_data_of_another_form(data: str, world: World, folder: Folder) -> None:
    page = folder.public("map.html").read_text()
    head, _, rest = page.partition('id="release">')
    folder.public("map.html").write_text(
        f'{head}id="release">{data}</script>{rest.partition("</script>")[2]}'
    )
    assert "map-shows-released-only" in audit(world, folder.path).broken


def keys_of(facts: dict[str, Any]) -> list[str]:
    left_out = ("format", "kind", "version", "method", "seed", "bound")
    return [key for key in facts if key not in left_out]


def in_turn(values: Sequence[Any], turn: int, many: int) -> list[Any]:
    """Return some of the values, others at every turn; a deep run takes all of them."""
    return [values[(turn + step) % len(values)] for step in range(many)]


def test_no_manifest_entry_can_break_the_audit(world: World, honest: Path, tmp_path: Path) -> None:
    """Whatever stands in the manifest, the audit ends with a verdict, and it is not a good one."""
    facts = Folder(honest).facts
    shutil.copytree(honest, tmp_path / "out")
    folder = Folder(tmp_path / "out")
    for number, key in enumerate(keys_of(facts)):
        for value in in_turn((None, 1e400, {"x": ["y"]}), number, size(1, 3)):
            text = json.dumps({**facts, key: value})
            folder.public("manifest.json").write_text(text)
            report = audit(world, folder.path)
            assert not report.safe, f"{key} = {value}"
    for number, key in enumerate(facts["promise"]):
        for value in in_turn((None, 1e400, {"x": ["y"]}, ["z"], "z", True), number, size(3, 6)):
            text = json.dumps({**facts, "promise": {**facts["promise"], key: value}})
            folder.public("manifest.json").write_text(text)
            report = audit(world, folder.path)
            assert not report.safe, f"promise.{key} = {value}"


def test_no_raw_input_is_an_input_error(folder: Folder) -> None:
    with duckdb.connect() as con, pytest.raises(InputError, match="canonical"):
        audit_folder(folder.path, con)
    with duckdb.connect() as con:
        con.execute("create view canonical as select 1 as reason")
        with pytest.raises(InputError, match="columns"):
            audit_folder(folder.path, con)


def test_errors_of_the_raw_input_quote_nothing(folder: Folder) -> None:
    with duckdb.connect() as con:
        con.execute(
            "create view canonical as select 0 as reason, 'p17'::int as person, "
            "1.0 as o_lat, 1.0 as o_lon, 1.0 as d_lat, 1.0 as d_lon"
        )
        with pytest.raises(InputError) as caught:
            audit_folder(folder.path, con)
    assert "p17" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_too_little_memory_is_an_input_error(world: World, honest: Path) -> None:
    with world.connection(alone=True) as con:
        con.execute("set memory_limit = '2MB'")
        con.execute("set max_temp_directory_size = '0KB'")
        with pytest.raises(InputError, match="memory"):
            audit_folder(honest, con)


def test_an_order_against_a_manifest_that_promises_nothing(world: World, folder: Folder) -> None:
    folder.edit_manifest(lambda facts: facts.update(promise="everybody"))
    assert "every-group-safe" in audit(world, folder.path, k=10).broken


@pytest.mark.parametrize("order", [{"k": 1}, {"unit": "travellers"}, {"k": 10, "unit": "cars"}])
def test_an_order_that_makes_no_sense(order: dict[str, Any], world: World, folder: Folder) -> None:
    with pytest.raises(InputError):
        audit(world, folder.path, **order)


def test_the_connection_is_left_as_it_was(world: World, honest: Path) -> None:
    listed = "select count(*) from duckdb_tables() union all select count(*) from duckdb_functions()"
    with world.connection() as con:
        before = con.execute(listed).fetchall()
        first = audit_folder(honest, con)
        assert con.execute(listed).fetchall() == before
        assert audit_folder(honest, con) == first


def test_progress_names_every_rule(world: World, honest: Path) -> None:
    seen: list[tuple[str, int, int]] = []
    report = audit(world, honest, progress=lambda *step: seen.append(step))
    assert [name for name, _, _ in seen[:-1]] == [finding.rule for finding in report.findings]
    assert seen[-1][1] == seen[-1][2] == len(report.findings)


def test_report_is_plain_for_json(world: World, honest: Path) -> None:
    report = audit(world, honest)
    told = json.loads(json.dumps(report.to_dict()))
    assert told["safe"] is True
    assert [finding["rule"] for finding in told["findings"]] == [finding.rule for finding in report.findings]
    assert told["smallest_support"]["travellers"] >= 10
