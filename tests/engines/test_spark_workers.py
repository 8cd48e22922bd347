"""What a worker of Spark does beside its work."""

from __future__ import annotations

import importlib
import sys
import zipfile
from pathlib import Path
from zipimport import zipimporter

import pytest

from tripcloak.engines.spark import _keep_archives


def test_archives_that_modules_come_from_are_listed_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "some.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("tripcloak_said.py", "said = 1")
    finder = zipimporter(str(path))
    monkeypatch.setitem(sys.path_importer_cache, str(path), finder)
    _keep_archives()
    away = path.rename(tmp_path / "away.zip")
    importlib.invalidate_caches()
    away.rename(path)
    assert finder.find_spec("tripcloak_said") is not None
