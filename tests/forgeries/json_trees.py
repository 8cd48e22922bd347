"""Forgeries of JSON: every entry of a tree changed, retyped, removed, repeated, and others put beside it."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from forgeries.forgery import MESSAGE, Forgery

Place = tuple[str | int, ...]
Write = Callable[[Path, Any], object]


def forged_trees(tree: Any, write: Write, *, name: str, every: bool = True) -> Iterator[Forgery]:
    """Yield one forgery for every way in which one entry of a tree may be another.

    Parameters
    ----------
    write
        Writes a forged tree into a folder.
    every
        Take every entry; else, of the entries of a list, the first and the last alone.
    """
    for place, value in places(tree, every=every):
        for what, other in variants(value):
            yield _forgery(tree, write, f"{name}: {spelt(place)} {what}", _set(place, other))
        if isinstance(value, dict):
            for key in value:
                yield _forgery(tree, write, f"{name}: {spelt((*place, key))} gone", _gone(place, key))


def forged_texts(path: str, *, every: bool = True) -> Callable[[Path], Iterator[Forgery]]:
    """Return what gives the forgeries of a JSON file by its letters: keys twice, numbers spelt otherwise."""

    def forgeries(safe: Path) -> Iterator[Forgery]:
        text = (safe / path).read_text(encoding="utf-8")
        tree = json.loads(text)
        keys = {key for place, value in places(tree, every=every) if isinstance(value, dict) for key in value}
        for key in sorted(keys):
            twice = f'"{key}": "{MESSAGE}", "{key}"'
            yield text_forgery(path, f"{key} twice", f'"{key}"', twice)
        for old, new, what in SPELLINGS:
            if old in text:
                yield text_forgery(path, what, old, new)

    return forgeries


SPELLINGS = (
    ("{", "{ ", "a blank after a brace"),
    ("[", "[ ", "a blank after a bracket"),
    (",", ", ", "a blank after a comma"),
    (":", " :", "a blank before a colon"),
    (".", ".0", "a nought after a point"),
    ("0,", "0.0,", "a whole number with a point"),
    ("1,", "1e0,", "a number with a power of ten"),
    ("e", "\\u0065", "a letter as its number"),
    ("\n", "\r\n", "another end of a line"),
)


def text_forgery(path: str, what: str, old: str, new: str) -> Forgery:
    """Return the forgery that replaces the first of some letters of a file by others."""

    def change(folder: Path) -> None:
        whole = (folder / path).read_bytes()
        assert old.encode() in whole
        (folder / path).write_bytes(whole.replace(old.encode(), new.encode(), 1))

    return Forgery(f"{path}: {what}", change)


def places(tree: Any, *, every: bool, at: Place = ()) -> Iterator[tuple[Place, Any]]:
    """Yield the place and the value of every entry of a tree, itself included."""
    yield at, tree
    inner: Iterable[tuple[str | int, Any]] = ()
    if isinstance(tree, dict):
        inner = tree.items()
    elif isinstance(tree, list):
        ends = {0, len(tree) - 1} if tree else set()
        inner = [(n, value) for n, value in enumerate(tree) if every or n in ends]
    for key, value in inner:
        yield from places(value, every=every, at=(*at, key))


def variants(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield other values that an entry could have, each with words on it."""
    match value:
        case bool():
            yield from (("negated", not value), ("as a number", int(value)), ("null", None))
        case int():
            yield from (("one more", value + 1), ("one less", value - 1), ("as a float", float(value)))
            yield from (("as text", str(value)), ("null", None), ("huge", value + 10**15))
        case float():
            yield from (("a hair more", value * (1 + 1e-15) + 1e-16), ("a hundredth more", value * 1.01))
            yield from (("as text", str(value)), ("negative", -value - 1))
        case str():
            yield from (("with a message", value + MESSAGE), ("with a blank", value + " "), ("null", None))
            yield from (("empty", ""), ("in capitals", value.swapcase()), ("a number", 17))
        case None:
            yield from (("nought", 0), ("a number", 17), ("text", MESSAGE), ("false", False), ("a list", []))
        case list():
            yield from (("with a message", [*value, MESSAGE]), ("with null", [*value, None]))
            yield from (("with its last twice", [*value, *value[-1:]]), ("as a table", {}))
            if len(value) > 1:
                yield from (("turned", value[::-1]), ("without its last", value[:-1]))
        case dict():
            yield from (("with a message", {**value, "id": MESSAGE}), ("with a number", {**value, "": 17}))
            yield "as a list", list(value.values())
            if len(value) > 1:
                yield "turned", dict(reversed(value.items()))


def spelt(place: Place) -> str:
    """Return a place in words."""
    return ".".join(map(str, place)) or "all of it"


def _forgery(tree: Any, write: Write, name: str, change: Callable[[Any], Any]) -> Forgery:
    return Forgery(name, lambda folder: write(folder, change(copy.deepcopy(tree))))


def _set(place: Place, other: Any) -> Callable[[Any], Any]:
    def change(tree: Any) -> Any:
        if not place:
            return other
        found = tree
        for key in place[:-1]:
            found = found[key]
        found[place[-1]] = other
        return tree

    return change


def _gone(place: Place, key: str) -> Callable[[Any], Any]:
    def change(tree: Any) -> Any:
        found = tree
        for step in place:
            found = found[step]
        del found[key]
        return tree

    return change
