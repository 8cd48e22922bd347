"""Files, globs, folders and compression; what cannot be read says why."""

from __future__ import annotations

import gzip
from pathlib import Path

import pyarrow as pa
import pytest

from tripcloak.ground.errors import EmptyInputError, InputError
from tripcloak.records.files.paths import expand_paths, read_top
from worlds.trip_readings import ReadPaths, WriteParquet, WriteText

CSV = "origin,destination\nA,B\nC,D\n"


def test_a_release_among_the_files_of_a_folder_is_none_of_them(tmp_path: Path) -> None:
    """Whoever writes a release beside the raw files reads the same files again."""
    for name in ("may.csv", "old/june.csv", "out/private/mapping.csv", "out/release/flows.csv", "out/f.csv"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("a,b\n1,2\n")
    (tmp_path / "out" / "release" / "manifest.json").write_text("{}")
    found = [file.relative_to(tmp_path).as_posix() for file in expand_paths([str(tmp_path)])]
    assert found == ["may.csv", "old/june.csv"]
    # Whoever names it means it.
    assert expand_paths([str(tmp_path / "out" / "release")]) == [tmp_path / "out" / "release" / "flows.csv"]


def test_paths_globs_and_folders_give_each_file_once(write_text: WriteText, tmp_path: Path) -> None:
    for name in ("a.csv", "sub/b.csv", "sub/deep/c.tsv", ".hidden.csv", "_tmp/d.csv", "notes.md"):
        write_text(name, CSV)
    inside = [file.relative_to(tmp_path).as_posix() for file in expand_paths([str(tmp_path)])]
    assert inside == ["a.csv", "sub/b.csv", "sub/deep/c.tsv"]
    again = expand_paths([str(tmp_path / "sub" / "b.csv"), str(tmp_path / "**" / "*.csv")])
    assert [file.name for file in again] == ["b.csv", "d.csv", "a.csv"]
    assert [file.name for file in expand_paths([str(tmp_path / "s*")])] == ["b.csv", "c.tsv"]


@pytest.mark.parametrize("ending", [".csv", ".txt", ".csv.gz", ".csv.zst"])
def test_plain_and_compressed_text(ending: str, tmp_path: Path, read: ReadPaths) -> None:
    path = tmp_path / f"trips{ending}"
    kind = {".gz": "gzip", ".zst": "zstd"}.get(path.suffix)
    with pa.output_stream(str(path), compression=kind) as stream:
        stream.write(CSV.encode())
    assert read(path).rows("o_id, d_id") == [("A", "B"), ("C", "D")]


@pytest.mark.parametrize(
    ("delimiter", "name"), [("\t", "a.tsv"), (";", "a.csv"), ("|", "a.txt"), (",", "a.csv")]
)
def test_delimiters(delimiter: str, name: str, write_text: WriteText, read: ReadPaths) -> None:
    assert read(write_text(name, CSV.replace(",", delimiter))).rows("o_id, d_id") == [("A", "B"), ("C", "D")]


def test_byte_order_mark_line_ends_quotes_and_blank_lines(write_text: WriteText, read: ReadPaths) -> None:
    text = '\ufeff"origin" , "destination",note\r\n"A, b","say ""x""",\r\n\r\nC,D,"two\r\nlines"\r\n'
    result = read(write_text("a.csv", text))
    assert result.rows("o_id, d_id") == [("A, b", 'say "x"'), ("C", "D")]
    assert result.report.rows == 2


def test_files_with_columns_in_another_order_or_name_are_read_together(
    write_text: WriteText, write_parquet: WriteParquet, read: ReadPaths, tmp_path: Path
) -> None:
    write_text("a.csv", "user_id,origin,destination\np,A,B\n")
    write_text("b.csv", "destination;origin\nB;A\n")
    write_parquet("c.parquet", {"to": ["B"], "from": ["A"], "person_id": [7]})
    result = read(tmp_path)
    assert result.canonical.files == 3
    assert result.rows("o_id, d_id, person") == [("A", "B", "7"), ("A", "B", "p"), ("A", "B", None)]


def test_integer_ids_stay_integers(write_parquet: WriteParquet, read: ReadPaths) -> None:
    one = write_parquet("a.parquet", {"o": ["A"], "d": ["B"], "uid": pa.array([3], pa.int16())})
    two = write_parquet("b.parquet", {"o": ["A"], "d": ["B"], "uid": pa.array([2**40], pa.int64())})
    assert read(one, two).rows("person, typeof(person)") == [(3, "BIGINT"), (2**40, "BIGINT")]


def test_files_of_different_kinds_are_refused(write_text: WriteText, read: ReadPaths, tmp_path: Path) -> None:
    write_text("a.csv", CSV)
    write_text("b.csv", "o_lat,o_lon,d_lat,d_lon\n1,2,3,4\n")
    with pytest.raises(InputError, match="different kinds of tables"):
        read(tmp_path)


def test_names_without_a_name_and_trailing_commas(write_text: WriteText) -> None:
    top = read_top(write_text("a.csv", ",name,Name,x\n1,2,3,4,,\n"))
    assert top.names == ("column0", "name", "Name_1", "x", "column4", "column5")


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.pdf", b"PK", "ends in"),
        ("a.xlsx", b"PK", "could not be read"),
        ("a.parquet.gz", b"PK", "ends in"),
        ("a.csv", b"", "is empty"),
        ("a.csv", b"\n\n", "empty line"),
        ("a.parquet", b"", "is empty"),
        ("a.parquet", b"PAR1 secret42 PAR1", "damaged"),
        ("a.csv.gz", b"secret42,secret42\n", "damaged"),
        ("a.csv", b"origin,destination\nA,\0\0\0\n", "UTF-8"),
    ],
)
def test_unreadable_files(name: str, content: bytes, words: str, tmp_path: Path, read: ReadPaths) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InputError, match=words) as caught:
        read(path)
    assert name in str(caught.value)
    assert "secret42" not in str(caught.value)


def test_a_gzip_file_cut_short(tmp_path: Path, read: ReadPaths) -> None:
    path = tmp_path / "a.csv.gz"
    whole = gzip.compress(
        b"origin,destination\n" + b"".join(b"A%d,B%d\n" % (i, i * i) for i in range(60_000))
    )
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InputError, match=r"could not be read|damaged"):
        assert read(path).report.kept


def test_missing_files(tmp_path: Path) -> None:
    for path, words in (("no.csv", "there is no file"), ("no*.csv", "no file matches")):
        with pytest.raises(InputError, match=words):
            expand_paths([str(tmp_path / path)])
    with pytest.raises(InputError, match="holds no Parquet or CSV file"):
        expand_paths([str(tmp_path)])


@pytest.mark.parametrize("text", ["origin,destination\n", "origin,destination"])
def test_names_but_no_rows(text: str, write_text: WriteText, read: ReadPaths) -> None:
    with pytest.raises(EmptyInputError, match="holds no rows"):
        read(write_text("a.csv", text))


def test_parquet_without_rows(write_parquet: WriteParquet, read: ReadPaths) -> None:
    with pytest.raises(EmptyInputError, match="holds no rows"):
        read(write_parquet("a.parquet", {"o": pa.array([], pa.string()), "d": pa.array([], pa.string())}))


def test_one_empty_file_among_others_is_fine(write_text: WriteText, read: ReadPaths) -> None:
    assert read(write_text("a.csv", CSV), write_text("b.csv", "origin,destination\n")).report.kept == 2


@pytest.mark.parametrize(
    "cell", ["48.85", "2024-05-01", "2024-05-01 08:30:00", "a@b.org", "9f86d081884c7d65"]
)
def test_a_first_line_of_data_is_not_listed_as_column_names(cell: str, write_text: WriteText) -> None:
    with pytest.raises(InputError, match="looks like data") as caught:
        read_top(write_text("a.csv", f"A,{cell}\n"))
    assert cell not in str(caught.value)
