"""Cell arithmetic against the h3 library."""

from __future__ import annotations

import h3.api.basic_int as h3
import numpy as np
import pytest

from tripcloak.hierarchy import OUTSIDE, cells_to_text, parent_cells, resolution_of, text_to_cells
from tripcloak.hierarchy.h3.cells import (
    PENTAGONS,
    base_cell_of,
    child_cells,
    descendants,
    is_cell,
    is_pentagon,
    last_digits,
)


def some_cells(resolution: int, number: int = 300) -> np.ndarray:
    """Return cells all over the globe, every pentagon, and descendants of every pentagonal base cell."""
    rng = np.random.default_rng(resolution)
    lat = np.degrees(np.arcsin(rng.uniform(-1, 1, number)))
    lon = rng.uniform(-180, 180, number)
    cells = {h3.latlng_to_cell(a, b, resolution) for a, b in zip(lat, lon, strict=True)}
    cells |= set(h3.get_pentagons(resolution))
    for pentagon in h3.get_pentagons(0):
        lat_0, lon_0 = h3.cell_to_latlng(pentagon)
        for reach in (1e-5, 1e-3, 0.1, 3):
            shift = rng.normal(0, reach, (5, 2))
            cells |= {h3.latlng_to_cell(lat_0 + a, lon_0 + b, resolution) for a, b in shift}
    return np.array(sorted(cells), dtype=np.uint64)


@pytest.mark.parametrize("resolution", range(16))
def test_arithmetic_equals_the_library(resolution: int) -> None:
    cells = some_cells(resolution)
    numbers = cells.tolist()
    assert np.all(resolution_of(cells) == resolution)
    assert base_cell_of(cells).tolist() == [h3.get_base_cell_number(cell) for cell in numbers]
    assert is_pentagon(cells).tolist() == [h3.is_pentagon(cell) for cell in numbers]
    assert np.count_nonzero(is_pentagon(cells)) == 12
    for coarser in range(resolution + 1):
        expected = [h3.cell_to_parent(cell, coarser) for cell in numbers]
        assert parent_cells(cells, coarser).tolist() == expected
    for finer in range(resolution, 16):
        assert descendants(cells, finer).tolist() == [
            h3.cell_to_children_size(cell, finer) for cell in numbers
        ]


@pytest.mark.parametrize("resolution", range(15))
def test_children_and_their_digits_are_the_librarys(resolution: int) -> None:
    cells = some_cells(resolution, 60)
    for cell, lacks_one in zip(cells.tolist(), is_pentagon(cells).tolist(), strict=True):
        digits = np.array([0, 2, 3, 4, 5, 6] if lacks_one else range(7))
        children = child_cells(np.full(len(digits), cell, dtype=np.uint64), digits)
        assert children.tolist() == sorted(h3.cell_to_children(cell))
        assert last_digits(children).tolist() == digits.tolist()


@pytest.mark.parametrize("resolution", [0, 1, 7, 15])
def test_text_goes_there_and_back_and_sorts_like_numbers(resolution: int) -> None:
    cells = some_cells(resolution)
    texts = cells_to_text(cells)
    assert texts.tolist() == [h3.int_to_str(cell) for cell in cells.tolist()]
    assert sorted(texts.tolist()) == texts.tolist()
    np.testing.assert_array_equal(text_to_cells(texts), cells)
    np.testing.assert_array_equal(text_to_cells(np.char.upper(texts)), cells)


def test_pentagons_are_the_librarys() -> None:
    assert sorted(PENTAGONS) == sorted(h3.get_base_cell_number(cell) for cell in h3.get_pentagons(0))


def test_validity_equals_the_library_when_bits_flip() -> None:
    cells = np.concatenate([some_cells(resolution, 60) for resolution in range(16)])
    rng = np.random.default_rng(0)
    flipped = cells ^ (np.uint64(1) << rng.integers(0, 64, len(cells)).astype(np.uint64))
    tried = np.concatenate([cells, flipped])
    expected = [h3.is_valid_cell(cell) for cell in tried.tolist()]
    assert is_cell(tried).tolist() == expected
    assert 0.5 < np.mean(expected) < 0.95


@pytest.mark.parametrize(
    "text",
    ["", "8", "zone 12", "8a2a1072b59fff", "8a2a1072b59fffff", "8a2a1072b59fffé", "8a2a1072b59ff1f", "0"],
)
def test_text_that_names_no_cell_is_outside(text: str) -> None:
    assert text_to_cells([text, "8a2a1072b59ffff"]).tolist() == [int(OUTSIDE), 0x8A2A1072B59FFFF]
