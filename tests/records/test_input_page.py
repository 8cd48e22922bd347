"""The page on input names every rule, preset, form and flag there is."""

from __future__ import annotations

from pathlib import Path

import pytest

from tripcloak.ground.spelling import flag
from tripcloak.records.cleaning import REASONS
from tripcloak.records.presets import PRESETS
from tripcloak.records.schema import FLAGGED, FORMS

PAGE = Path(__file__).parents[2] / "docs" / "input.md"


@pytest.mark.parametrize(
    "name",
    [
        *(reason.name for reason in REASONS),
        *PRESETS,
        *FORMS,
        *(flag(name) for name in FLAGGED),
    ],
)
def test_the_page_names(name: str) -> None:
    assert f"`{name}" in PAGE.read_text(encoding="utf-8") or f"{name}`" in PAGE.read_text(encoding="utf-8")
