"""What a worker of Spark does beside its work."""

from __future__ import annotations

import gc
import importlib
import sys
import zipfile
from pathlib import Path
from types import ModuleType
from zipimport import zipimporter

import pytest

from tripcloak.engines.spark import _Aside, _keep_archives, _set_modules_aside


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


def test_modules_are_set_aside_whenever_more_were_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    frozen: list[int] = []
    monkeypatch.setattr(gc, "freeze", lambda: frozen.append(len(sys.modules)))
    monkeypatch.setattr(_Aside, "modules", 0)
    for name in (None, None, "tripcloak_said", None):
        if name is not None:
            monkeypatch.setitem(sys.modules, name, ModuleType(name))
        _set_modules_aside()
    assert frozen == [len(sys.modules) - 1, len(sys.modules)]
