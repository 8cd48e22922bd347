"""Files that are not what their names say: told by their first bytes, with what to do."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from tripcloak.ground.errors import UnreadableFileError
from tripcloak.records.files.beginnings import BEGINNINGS, WORKBOOK, refuse_other_kind


@pytest.mark.parametrize("one", BEGINNINGS, ids=lambda one: one.words)
def test_another_beginning_is_told_and_what_to_do(one, tmp_path: Path) -> None:
    file = tmp_path / "trips.csv"
    file.write_bytes(one.bytes + b" and more")
    with pytest.raises(
        UnreadableFileError, match=f"is {one.words.split('(')[0].strip()}.* by its first bytes"
    ) as error:
        refuse_other_kind(file, "text")
    assert (one.ending or "CSV") in str(error.value)
    for kind in one.kinds:
        refuse_other_kind(file, kind)


@pytest.mark.parametrize("top", [b"", b"a,b\n", b"PAR1", b"PARE"])
def test_parquet_begins_like_parquet(top: bytes, tmp_path: Path) -> None:
    file = tmp_path / "trips.parquet"
    file.write_bytes(top)
    if top == b"a,b\n":
        with pytest.raises(UnreadableFileError, match=r"does not begin like a Parquet file.*\.csv"):
            refuse_other_kind(file, "parquet")
    else:
        refuse_other_kind(file, "parquet")


def test_what_is_compressed_may_begin_so(tmp_path: Path) -> None:
    file = tmp_path / "trips.csv.gz"
    file.write_bytes(b"\x1f\x8b and more")
    refuse_other_kind(file, "text")
    refuse_other_kind(tmp_path / "nowhere.csv", "text")


@pytest.mark.parametrize(("kind", "member", "told"), [("zip", WORKBOOK, ".xlsx"), ("xlsx", "a.csv", ".zip")])
def test_a_workbook_is_no_archive_of_tables(kind: str, member: str, told: str, tmp_path: Path) -> None:
    file = tmp_path / f"trips.{kind}"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(member, "a,b")
    with pytest.raises(UnreadableFileError, match=rf"by its contents.* let it end in \{told}"):
        refuse_other_kind(file, kind)
    refuse_other_kind(file, told.removeprefix("."))


def test_a_damaged_archive_is_left_to_its_reader(tmp_path: Path) -> None:
    (tmp_path / "trips.zip").write_bytes(b"PK\x03\x04 and more")
    refuse_other_kind(tmp_path / "trips.zip", "zip")
