"""Files that are not what their names say: told by their first bytes, with what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from tripcloak.ground.errors import UnreadableFileError
from tripcloak.records.files.beginnings import BEGINNINGS, refuse_other_kind


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
