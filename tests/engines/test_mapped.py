"""Mapped columns are what was appended, and stay so when their pages are let go."""

from __future__ import annotations

import gc
from pathlib import Path

import numpy as np
import pytest

from tripcloak.engines import mapped
from tripcloak.engines.disk import appended
from tripcloak.engines.mapped import MappedColumns
from tripcloak.ground.errors import InputError


def test_columns_come_back_as_they_went_in(tmp_path: Path) -> None:
    columns = MappedColumns(memory=10**12, folder=tmp_path)
    parts = np.arange(5, dtype=np.int32), np.arange(3, dtype=np.int64), np.empty(0, np.int32)
    for part in parts:
        columns.append("tile", part)
    columns.append("nothing", np.empty(0, np.float64))
    tile = columns.column("tile")
    assert (tile.tolist(), tile.dtype, tile.flags.writeable) == ([0, 1, 2, 3, 4, 0, 1, 2], np.int32, True)
    assert columns.column("nothing").dtype == np.float64
    assert len(columns.column("nothing")) == 0


def test_the_folder_goes_with_the_columns_and_what_is_mapped_stays(tmp_path: Path) -> None:
    columns = MappedColumns(memory=10**12, folder=tmp_path)
    columns.append("tile", np.arange(9))
    tile = columns.column("tile")
    (folder,) = tmp_path.iterdir()
    assert folder.stat().st_mode & 0o077 == 0
    del columns
    gc.collect()
    assert not folder.exists()
    assert tile.sum() == 36


def test_pages_are_let_go_above_the_limit_and_nothing_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mapped, "WORTH_IT", 0)
    columns = MappedColumns(memory=1)
    columns.append("value", np.arange(1 << 20))
    value = columns.column("value")
    value[7] = 70
    assert int(value.sum()) > 0
    before = mapped._pages()[1]
    assert mapped._WATCH._look()
    after = mapped._pages()[1]
    # The whole column was in memory; what is left of it are pages that were touched since.
    assert before - after > value.nbytes // 2
    assert (value[7], int(value[8:].sum())) == (70, sum(range(8, 1 << 20)))


def test_nothing_is_let_go_below_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    columns = MappedColumns(memory=10**12)
    columns.append("value", np.arange(1 << 20))
    value = columns.column("value")
    monkeypatch.setattr(mapped._WATCH, "memory", 10**12)
    touched = int(value.sum())
    before = mapped._pages()[1]
    mapped._WATCH._look()
    assert mapped._pages()[1] >= before - (1 << 20)
    assert touched == int(value.sum())


def test_a_full_disk_is_told_in_words() -> None:
    with pytest.raises(InputError, match=r"the disk cannot hold .*No space left on device.* larger disk"):
        appended(Path("/dev/full"), [np.arange(3)])
