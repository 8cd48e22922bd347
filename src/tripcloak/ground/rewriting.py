"""Rewriting: what a release says is written anew, and compared with its files byte by byte.

An audit that shares no code with methods and writers cannot know which parameters a method has, how
numbers are written, or what the pages for readers say. Whoever may ask the writers checks it here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Generic, TypeVar

from tripcloak.ground.folders import BACKGROUND
from tripcloak.ground.manifest import NAME
from tripcloak.ground.rulebook import Finding

C = TypeVar("C")

OTHERWISE = (
    "release/{} is not what this version of tripcloak writes of {}: it was changed, or made by another "
    "version of tripcloak or of Arrow (audit with those)"
)
"""The words where a file differs, with its name and what it is written of."""

BLOCK = 1 << 20


@dataclass(frozen=True)
class Rewriting(Generic[C]):
    """One rule: its name, the check, and the words where it holds and where it does not.

    Where the rule is about files, ``write`` writes them of the content into a folder.
    """

    rule: str
    check: Callable[[Path, C], bool]
    holds: str
    fails: str
    write: Callable[[Path, C], object] | None = None

    @classmethod
    def of_files(
        cls, rule: str, files: str, source: str, write: Callable[[Path, C], object], holds: str = ""
    ) -> Rewriting[C]:
        """Return the rule that some files are what comes of writing the content.

        Parameters
        ----------
        files, source
            Which files these are, and what they are written of, in words.
        holds
            What is said where they are, if it is more than that.
        """
        return cls(
            rule,
            lambda public, content: same_files(public, lambda aside: write(aside, content)),
            holds or f"{files} is, byte by byte, what {source} gives",
            OTHERWISE.format(files, source),
            write,
        )


def readme_rewriting(text: Callable[[C], str]) -> Rewriting[C]:
    """Return the rule on the page for readers, which both wings write of the manifest alone."""
    return Rewriting.of_files("readme-as-written", "README.md", "the manifest", _text_of("README.md", text))


def manifest_rewriting(text: Callable[[C], str]) -> Rewriting[C]:
    """Return the rule on the manifest, which both wings write of its own entries."""
    return Rewriting.of_files(
        "manifest-as-written",
        NAME,
        "its entries",
        _text_of(NAME, text),
        "manifest.json is, byte by byte, what its own entries give, each once and in its order",
    )


def map_rewriting(text: Callable[[C], str], source: str) -> Rewriting[C]:
    """Return the rule on the page with the map, which both wings write of their tables and the manifest."""
    return Rewriting.of_files("map-as-written", "map.html", source, _text_of("map.html", text))


def background_rewriting(check: Callable[[Path, C], bool]) -> Rewriting[C]:
    """Return the rule on what is drawn behind the map, which holds where nothing is."""
    return Rewriting(
        "background-as-written",
        check,
        f"{BACKGROUND}, if there is one, is, byte by byte, what comes of writing its shapes",
        f"{BACKGROUND} holds something beside lines and polygons, or is not as they are written",
    )


def _text_of(name: str, text: Callable[[C], str]) -> Callable[[Path, C], object]:
    return lambda folder, content: (folder / name).write_bytes(text(content).encode())


def rewritten_findings(public: Path, content: C, rewritings: Iterable[Rewriting[C]]) -> tuple[Finding, ...]:
    """Return whether the public files are what this version writes of their content.

    Parameters
    ----------
    public
        The public part of a release.
    content
        What was read of it, for the checks.
    """
    return tuple(_judged(public, content, rewritings))


def _judged(public: Path, content: C, rewritings: Iterable[Rewriting[C]]) -> Iterator[Finding]:
    for one in rewritings:
        try:
            ok = one.check(public, content)
        except MemoryError:
            raise
        except Exception:
            # A forged file may do anything to a writer, whose words may quote what is hidden in it.
            ok = False
        yield Finding(one.rule, ok, one.holds if ok else one.fails)


def same_files(public: Path, write: Callable[[Path], object]) -> bool:
    """Return whether all that is written into an empty folder equals the public files of the same names."""
    with TemporaryDirectory() as aside:
        write(Path(aside))
        written = list(Path(aside).iterdir())
        return bool(written) and all(same_bytes(path, public / path.name) for path in written)


def same_bytes(one: Path, other: Path) -> bool:
    """Return whether two files hold the same, a block at a time; one that is not there holds nothing."""
    if not (one.is_file() and other.is_file()) or one.stat().st_size != other.stat().st_size:
        return False
    with one.open("rb") as left, other.open("rb") as right:
        while block := left.read(BLOCK):
            if block != right.read(BLOCK):
                return False
    return True
