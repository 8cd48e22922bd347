"""Releases that the tests of the ledger share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tripcloak.ledger.store import Ledger
from worlds.ledgers import Releases, ledger_of_fixed_key


@pytest.fixture(scope="session")
def releases(tmp_path_factory: pytest.TempPathFactory) -> Releases:
    return Releases(tmp_path_factory.mktemp("releases"))


@pytest.fixture
def new_ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Ledger]:
    def made(name: str = "ledger", **options: Any) -> Ledger:
        return ledger_of_fixed_key(tmp_path / name, monkeypatch, **options)

    return made
