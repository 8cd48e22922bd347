"""Files compared byte by byte: one byte more, less or other is seen, wherever it stands."""

from __future__ import annotations

from pathlib import Path

import pytest

from tripcloak.ground.rewriting import BLOCK, Rewriting, rewritten_findings, same_bytes, same_files


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (b"", b"", True),
        (b"abc", b"abc", True),
        (b"abc", b"abd", False),
        (b"abc", b"abcd", False),
        (b"abcd", b"abc", False),
        (b"", b"a", False),
        (b"a" * BLOCK + b"b", b"a" * BLOCK + b"b", True),
        (b"a" * BLOCK + b"b", b"a" * BLOCK + b"c", False),
        (b"a" * BLOCK, b"a" * BLOCK + b"b", False),
    ],
)
def test_files_are_the_same_to_the_last_byte(one: bytes, other: bytes, same: bool, tmp_path: Path) -> None:
    (tmp_path / "one").write_bytes(one)
    (tmp_path / "other").write_bytes(other)
    assert same_bytes(tmp_path / "one", tmp_path / "other") is same


def test_what_is_not_there_or_no_file_is_never_the_same(tmp_path: Path) -> None:
    (tmp_path / "one").write_bytes(b"")
    (tmp_path / "folder").mkdir()
    for other in ("missing", "folder"):
        assert not same_bytes(tmp_path / "one", tmp_path / other)
        assert not same_bytes(tmp_path / other, tmp_path / "one")


def write_two(folder: Path) -> None:
    (folder / "a").write_bytes(b"a")
    (folder / "b").write_bytes(b"b")


def test_every_written_file_counts_and_nothing_written_proves_nothing(tmp_path: Path) -> None:
    write_two(tmp_path)
    assert same_files(tmp_path, write_two)
    assert not same_files(tmp_path, lambda aside: None)
    for name in ("a", "b"):
        (tmp_path / name).write_bytes(b"x")
        assert not same_files(tmp_path, write_two), name
        write_two(tmp_path)


def failing(folder: Path, content: str) -> None:
    raise ValueError(f"hidden: {content}")


def exhausted(folder: Path, content: str) -> None:
    raise MemoryError


def test_a_writer_that_fails_is_a_broken_rule_without_its_words(tmp_path: Path) -> None:
    rule = Rewriting.of_files("as-written", "a", "the tables", failing)
    (finding,) = rewritten_findings(tmp_path, "p17", [rule])
    assert not finding.ok
    assert finding.rule == "as-written"
    assert "p17" not in str(finding)
    # Too little memory says nothing of a release.
    with pytest.raises(MemoryError):
        rewritten_findings(tmp_path, "p17", [Rewriting.of_files("as-written", "a", "the tables", exhausted)])
