"""A fixture that writes lines of fixes to files and reads them as trajectories."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from tripcloak.trajectories.reading import ReadTrajectories, TrajectorySource, read_trajectories
from worlds.fix_lines import HEADER, ReadLines


@pytest.fixture
def read(tmp_path: Path) -> ReadLines:
    def read_lines(
        lines: Iterable[str], *more: Iterable[str], header: str = HEADER, **options: Any
    ) -> ReadTrajectories:
        paths = []
        for number, part in enumerate((lines, *more)):
            path = tmp_path / f"fixes-{number}.csv"
            path.write_text("\n".join([header, *part]) + "\n", encoding="utf-8")
            paths.append(str(path))
        k = options.pop("k", None)
        return read_trajectories(TrajectorySource(paths=tuple(paths), **options), k=k)

    return read_lines
