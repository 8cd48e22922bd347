"""Files of other file systems are read as the same files here, and leave nothing behind."""

from __future__ import annotations

import gzip
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from tripcloak.flows.reading.cluster import reading
from tripcloak.ground.engine import connect
from tripcloak.ground.errors import InputError, MissingFileError
from tripcloak.records.files import distant
from tripcloak.records.files.databases.fetching import forget_fetched
from tripcloak.records.files.distant import bring, is_distant
from tripcloak.records.files.fingerprints import input_digests, same_input
from tripcloak.records.files.frames import input_name
from tripcloak.records.files.paths import expand_paths
from tripcloak.records.files.tables import Table, literal, open_tables
from tripcloak.records.source import TripSource

ROWS = pa.table(
    {"start_lat": [48.8, 48.9], "start_lon": [2.3, 2.4], "end_lat": [48.7] * 2, "end_lon": [2.2] * 2}
)


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Give the address of a folder on a file system of its own: this one, under another name."""
    monkeypatch.setitem(distant.SCHEMES, "shelf", "file")
    folder = tmp_path / "trips"
    (folder / "day=2").mkdir(parents=True)
    parquet.write_table(ROWS, folder / "part-0.parquet")
    parquet.write_table(ROWS, folder / "day=2" / "part-1.parquet")
    (folder / "_SUCCESS").touch()
    (folder / "_temporary").mkdir()
    parquet.write_table(ROWS, folder / "_temporary" / "part-9.parquet")
    return f"shelf://{folder}"


def test_a_folder_a_pattern_and_a_file(shelf: str) -> None:
    own = {}
    for address in (shelf, f"{shelf}/", f"{shelf}/*", f"{shelf}/*.parquet", f"{shelf}/part-0.parquet"):
        found = expand_paths([bring(address)])
        own[address] = [path.name for path in found]
        assert all(path.read_bytes() for path in found)
    assert list(own.values()) == [["part-1.parquet", "part-0.parquet"]] * 3 + [["part-0.parquet"]] * 2
    # Below folders that fit a pattern too.
    assert [path.name for path in expand_paths([bring(f"{shelf}/day=*")])] == ["part-1.parquet"]


def test_text_that_is_packed_stays_packed(shelf: str, tmp_path: Path) -> None:
    packed = gzip.compress(b"start_lat,start_lon\n1,2\n")
    (tmp_path / "trips" / "a.csv.gz").write_bytes(packed)
    assert Path(bring(f"{shelf}/a.csv.gz")).read_bytes() == packed


def test_they_are_known_by_their_addresses(shelf: str) -> None:
    source = TripSource(paths=(shelf,))
    assert source.to_dict()["paths"] == [shelf]
    assert TripSource(paths=source.paths).to_dict()["paths"] == [shelf]
    assert input_name(source.paths[0]) == shelf
    with connect() as con:
        tables = open_tables(con, source.paths, None)
    named = {path for table in tables for path in table.paths}
    assert named == {f"{shelf}/day=2/part-1.parquet", f"{shelf}/part-0.parquet"}
    # A release is known to be of these files, whenever they are brought.
    here = input_digests([shelf.removeprefix("shelf://")])
    assert same_input(here, TripSource(paths=(shelf,)).paths)


def test_what_is_asked_of_a_file_system_goes_with_every_file(shelf: str) -> None:
    with connect() as con:
        tables = open_tables(con, TripSource(paths=(f"{shelf}/*.parquet?use_mmap=true",)).paths, None)
    assert tables[0].paths == (f"{shelf}/part-0.parquet?use_mmap=true",)


def test_copies_are_private_and_go_away(shelf: str) -> None:
    folder = Path(bring(shelf)).parent
    assert folder.stat().st_mode & 0o077 == 0
    forget_fetched()
    assert not folder.exists()


def test_what_is_not_there_is_said(shelf: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "room"))
    (tmp_path / "room").mkdir()
    with pytest.raises(MissingFileError, match=r"there is no file shelf://.*no\.parquet; check the address"):
        bring(f"{shelf}/no.parquet")
    with pytest.raises(MissingFileError, match=r"there is no file shelf://.*\*\.csv"):
        bring(f"{shelf}/*.csv")
    for address in ("s3://ana:secret@bucket/trips", "abfs://box/trips?sas_token=secret"):
        with pytest.raises(InputError, match="must not hold a password or a secret key") as error:
            bring(address)
        assert "secret@" not in str(error.value)
        assert "=secret" not in str(error.value)
    monkeypatch.setitem(distant.SCHEMES, "tape", "tape")
    with pytest.raises(InputError, match=r"tape://vault/trips: the file system cannot be reached"):
        bring("tape://vault/trips")
    monkeypatch.setattr(distant, "_found", refuse)
    with pytest.raises(InputError, match=r"the file system gives no list of files \(not for you\)"):
        bring(shelf)
    assert not list((tmp_path / "room").iterdir())


def refuse(*asked: object) -> None:
    raise pa.ArrowException("not for you. A detail")


def test_a_file_that_changes_meanwhile_is_refused(shelf: str, monkeypatch: pytest.MonkeyPatch) -> None:
    listed = distant._found

    def shorter(*asked: object) -> list[object]:
        return [file._replace(size=file.size - 1) for file in listed(*asked)]  # type: ignore[arg-type]

    monkeypatch.setattr(distant, "_found", shorter)
    with pytest.raises(InputError, match="changed while it was read"):
        bring(shelf)
    # What is asked of the file system is left out.
    with pytest.raises(InputError, match=r"\.parquet changed while"):
        bring(f"{shelf}?use_mmap=true")


def test_another_machine_makes_a_copy_of_its_own(
    shelf: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = str(tmp_path / "on the driver" / "[0].parquet")
    address = f"{shelf}/part-0.parquet"
    table = Table(files=(file,), paths=(address,), name="0.parquet", types={}, scan="", probe="")
    task = reading.ReadTask(0, "0.parquet", table, f"SELECT * FROM read_parquet([{literal(file)}])")
    monkeypatch.setattr(reading, "task_folder", lambda: tmp_path / "node")
    with connect() as con:
        here = reading._at_hand(con, task)
        assert con.execute(here.sql).fetchall() == ROWS.to_pandas().to_records(index=False).tolist()
        assert Path(here.table.files[0]).is_relative_to(tmp_path / "node")
        # The next task finds it there.
        (tmp_path / "trips" / "part-0.parquet").unlink()
        assert reading._at_hand(con, task) == here
        monkeypatch.setattr(reading, "task_folder", lambda: None)
        with pytest.raises(FileNotFoundError):
            reading._at_hand(con, task)


def test_addresses_are_told_from_paths() -> None:
    assert is_distant("HDFS://namenode:8020/trips")
    assert not any(map(is_distant, ("hdfs:/trips", "s3", "postgresql://host/db#t", "C://trips", "")))
