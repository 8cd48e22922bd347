"""Sizes in words, and how a budget is shared out."""

import pytest

from tripcloak.ground import memory
from tripcloak.ground.errors import InputError
from tripcloak.ground.memory import Budget


@pytest.mark.parametrize(
    ("words", "size"),
    [
        ("200MB", 200 * 10**6),
        ("1GB", 10**9),
        ("1.5 gb", 1_500_000_000),
        (" 512MiB ", 512 * 2**20),
        ("2TB", 2 * 10**12),
        ("300000kb", 3 * 10**8),
    ],
)
def test_sizes_in_words(words, size):
    assert Budget.of(words).total == size


@pytest.mark.parametrize("words", ["", "1", "GB", "-1GB", "1 GB!", "1PB", "one GB", "199MB", "nanGB", "1e9B"])
def test_sizes_that_are_none(words):
    with pytest.raises(InputError, match="memory limit"):
        Budget.of(words)


def test_half_of_the_machine_by_default():
    assert 10**8 < Budget.of(None).total < 10**14
    assert Budget.of("1GB").engine == 400_000_000


@pytest.mark.parametrize(("told", "there"), [("max\n", 8 << 30), (f"{2 << 30}\n", 2 << 30), (None, 8 << 30)])
def test_a_container_may_have_less_than_the_machine(monkeypatch, tmp_path, told, there):
    limit = tmp_path / "memory.max"
    if told is not None:
        limit.write_text(told)
    monkeypatch.setattr(memory, "_CONTAINER", (limit,))
    monkeypatch.setattr(memory.os, "sysconf", {"SC_PAGE_SIZE": 1 << 12, "SC_PHYS_PAGES": 1 << 21}.get)
    assert memory.machine_memory() == there
