"""Forgeries of files whatever they hold, of texts, of CSV, and of the folder they lie in."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

from forgeries.forgery import MESSAGE, Forgery

Change = Callable[[bytes], bytes]


def forged_files(safe: Path) -> Iterator[Forgery]:
    """Yield what can be done to every public file, by what kind of file it is."""
    for path in sorted((safe / "release").iterdir()):
        for what, change in (*ANY, *BY_SUFFIX.get(path.suffix, ())):
            yield of_bytes(path.name, what, change)
        for what, swap in SWAPS:
            yield Forgery(f"{path.name}: {what}", lambda folder, n=path.name, s=swap: s(folder, n))


def of_bytes(name: str, what: str, change: Change) -> Forgery:
    """Return the forgery that changes the bytes of a public file."""

    def forge(folder: Path) -> None:
        path = folder / "release" / name
        whole = path.read_bytes()
        forged = change(whole)
        assert forged != whole, (name, what)
        path.write_bytes(forged)

    return Forgery(f"{name}: {what}", forge)


def _first(old: str, new: str) -> Change:
    return lambda whole: whole.replace(old.encode(), new.encode(), 1)


def _last(old: str, new: str) -> Change:
    return lambda whole: new.encode().join(whole.rsplit(old.encode(), 1))


def _bit(at: float) -> Change:
    def change(whole: bytes) -> bytes:
        place = int(at * len(whole))
        return whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :]

    return change


def _line(turn: Callable[[list[bytes]], list[bytes]]) -> Change:
    return lambda whole: b"".join(turn(whole.splitlines(keepends=True)))


ANY: tuple[tuple[str, Change], ...] = (
    ("a blank behind it", lambda whole: whole + b" "),
    ("a line behind it", lambda whole: whole + b"\n"),
    ("a message behind it", lambda whole: whole + MESSAGE.encode()),
    ("a nought behind it", lambda whole: whole + b"\0"),
    ("a mark of byte order", lambda whole: b"\xef\xbb\xbf" + whole),
    ("a blank before it", lambda whole: b" " + whole),
    ("twice", lambda whole: whole + whole),
    ("empty", lambda whole: b""),
    ("without its last byte", lambda whole: whole[:-1]),
    ("half of it", lambda whole: whole[: len(whole) // 2]),
    ("one bit of the middle", _bit(0.5)),
    ("one bit near the end", _bit(0.9)),
)

TEXT: tuple[tuple[str, Change], ...] = (
    ("other ends of lines", lambda whole: whole.replace(b"\n", b"\r\n")),
    ("in another alphabet", lambda whole: whole.decode().encode("utf-16")),
    ("a zero-width letter", _first(" ", " \u200b")),
    ("a tab for a blank", _first(" ", "\t")),
)

TABLE = f'<script type="application/json" id="more">["{MESSAGE}"]</script>'
PAGE: tuple[tuple[str, Change], ...] = (
    ("a remark", _first("</body>", f"<!-- {MESSAGE} --></body>")),
    ("a remark in the head", _first("<head>", f"<head><!-- {MESSAGE} -->")),
    ("an external script", _first("</head>", '<script src="https://example.org/x.js"></script></head>')),
    ("an external picture", _first("</body>", '<img src="https://example.org/p17.png"></body>')),
    ("a second table", _last("</body>", f"{TABLE}</body>")),
    ("a table before the table", _first("<script", f"{TABLE}<script")),
    ("a hidden element", _first("<body>", f'<body><p hidden data-id="{MESSAGE}"></p>')),
    ("a style", _first("<style>", f"<style>/* {MESSAGE} */")),
    ("a meta entry", _first("<head>", f'<head><meta name="id" content="{MESSAGE}">')),
    ("another title", _first("<title>", f"<title>{MESSAGE} ")),
    ("an attribute", _first("<body", f'<body data-x="{MESSAGE}"')),
)  # fmt: skip

MARKDOWN: tuple[tuple[str, Change], ...] = (
    ("a remark", _first("\n", f"\n<!-- {MESSAGE} -->\n")),
    ("a link", _first("\n", f"\n[more](https://example.org/{MESSAGE})\n")),
    ("a footnote", lambda whole: whole + f"\n[^1]: {MESSAGE}\n".encode()),
    ("blanks at a line's end", _first("\n", "  \n")),
    ("its last line gone", _line(lambda lines: lines[:-1])),
)

CSV: tuple[tuple[str, Change], ...] = (
    ("a row twice", _line(lambda lines: [*lines, lines[-1]])),
    ("a row gone", _line(lambda lines: lines[:-1])),
    ("two rows exchanged", _line(lambda lines: [lines[0], lines[2], lines[1], *lines[3:]])),
    ("an empty row", _line(lambda lines: [*lines[:2], b"\n", *lines[2:]])),
    ("a remark", _line(lambda lines: [f"# {MESSAGE}\n".encode(), *lines])),
    ("a column more", _line(lambda lines: [line[:-1] + b",x\n" for line in lines])),
    ("a cell more", _line(lambda lines: [*lines[:-1], lines[-1][:-1] + f",{MESSAGE}\n".encode()])),
    ("a comma at the end", _line(lambda lines: [*lines[:-1], lines[-1][:-1] + b",\n"])),
    ("semicolons", lambda whole: whole.replace(b",", b";")),
    ("a number with a sign", _line(lambda lines: [*lines[:-1], b",+".join(lines[-1].rsplit(b",", 1))])),
    ("a number with a nought", _line(lambda lines: [*lines[:-1], b",0".join(lines[-1].rsplit(b",", 1))])),
    ("a number with a point", _line(lambda lines: [*lines[:-1], lines[-1][:-1] + b".0\n"])),
    ("a blank before a number", _line(lambda lines: [*lines[:-1], b", ".join(lines[-1].rsplit(b",", 1))])),
    ("its header gone", _line(lambda lines: lines[1:])),
    ("its header twice", _line(lambda lines: [lines[0], *lines])),
    ("its header in capitals", _line(lambda lines: [lines[0].upper(), *lines[1:]])),
    ("quotes", _line(lambda lines: [*lines[:-1], b'"' + lines[-1][:-1].replace(b",", b'","') + b'"\n'])),
)  # fmt: skip

BY_SUFFIX = {
    ".md": (*TEXT, *MARKDOWN),
    ".html": (*TEXT, *PAGE),
    ".csv": (*TEXT[:2], *CSV),
    ".json": TEXT,
    ".geojson": TEXT[1:2],
    ".mfjson": TEXT[1:2],
}


def _removed(folder: Path, name: str) -> None:
    (folder / "release" / name).unlink()


def _in_capitals(folder: Path, name: str) -> None:
    path = folder / "release" / name
    path.rename(path.with_name(name.swapcase()))


def _behind_a_link(folder: Path, name: str) -> None:
    elsewhere = folder / "private" / f"moved-{name}"
    (folder / "release" / name).rename(elsewhere)
    (folder / "release" / name).symlink_to(elsewhere)


def _shared(folder: Path, name: str) -> None:
    os.link(folder / "release" / name, folder / "private" / f"linked-{name}")


def _a_folder(folder: Path, name: str) -> None:
    path = folder / "release" / name
    path.unlink()
    path.mkdir()


SWAPS: tuple[tuple[str, Callable[[Path, str], None]], ...] = (
    ("gone", _removed),
    ("by another name", _in_capitals),
    ("behind a link", _behind_a_link),
    ("shared with another folder", _shared),
    ("a folder in its place", _a_folder),
)


STRANGERS = (
    *("notes.txt", ".hidden", ".DS_Store", "flows.csv~", "flows.csv.bak", "Flows.csv", "manifest.json "),
    *("README", "index.html", "private", "groups.parquet", "map.html.gz", "zones.gpkg"),
)


def forged_folders(safe: Path) -> Iterator[Forgery]:
    """Yield what can lie beside the public files, and in their place."""
    for name in STRANGERS:
        yield Forgery(f"a file more: {name}", lambda folder, n=name: _file(folder / "release" / n))
        yield Forgery(f"a folder more: {name}", lambda folder, n=name: _file(folder / "release" / n / "x"))
    yield Forgery("an empty file more", lambda folder: (folder / "release" / "empty").touch())
    yield Forgery("an empty folder more", lambda folder: (folder / "release" / "empty").mkdir())
    yield Forgery("a link to nowhere", lambda folder: (folder / "release" / "x").symlink_to("nowhere"))
    yield Forgery("a pipe", lambda folder: os.mkfifo(folder / "release" / "pipe"))
    yield Forgery("a private file copied", _copied)
    yield Forgery("release/ behind a link", _whole_behind_a_link)
    yield Forgery("release/ behind a link next to it", lambda folder: _whole_behind_a_link(folder, "other"))


def _file(path: Path) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(MESSAGE)


def _copied(folder: Path) -> None:
    inside = next(path for path in sorted((folder / "private").iterdir()) if path.suffix == ".parquet")
    shutil.copy(inside, folder / "release" / inside.name)


def _whole_behind_a_link(folder: Path, name: str = "private/elsewhere") -> None:
    (folder / "release").rename(folder / name)
    (folder / "release").symlink_to(folder / name)
