"""Boxes off the grid, as papers draw them: for tests of which flows a method puts together."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tripcloak.flows.methods import boxed


@pytest.fixture(scope="module", autouse=True)
def plain_boxes() -> Iterator[None]:
    """Leave boxes as small as they can be, so that their corners are those of their tiles."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(boxed, "on_grid", lambda tree, tight: tight)
        yield
