"""Rules about pseudonyms: they name one trajectory each and tell nothing about whose it is."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from typing import Any

import numpy as np

from tripcloak.ground.arrays import Ints
from tripcloak.ground.rulebook import BrokenPart, Remark
from tripcloak.trajectories.audit.evidence import BOOK, TrajectoryEvidence

HASHES = ("md5", "sha1", "sha256", "sha512", "blake2b")
PAGES = ("README.md", "map.html", "manifest.json")
PSEUDONYM = re.compile(r"t[0-9a-f]{16}")
TOKEN = re.compile(r"[\w.@-]+")
WORD = re.compile(r"(?=.*[^\W\d])(?=.*[\d._@-])[\w.@-]{4,}")
"""Ids that do not come about by chance: four signs or more, letters and others among them."""

ENOUGH = 10
"""Trajectories below which an order by chance cannot be told from one on purpose."""

DEVIATIONS = 6.0
"""A correlation this many standard deviations from none does not come by chance."""


@BOOK.rule("pseudonyms-fresh")
def pseudonyms_fresh(case: TrajectoryEvidence) -> str | None:
    """No pseudonym is the id of a person, a common hash of one, or anything but drawn letters."""
    names = {name for (name,) in case.fetch(f"SELECT DISTINCT trajectory FROM {case.table}")}
    if not all(PSEUDONYM.fullmatch(name) for name in names):
        return "a pseudonym is not of the kind that is drawn at random: a t and 16 hexadecimal digits"
    known = {*names, *(name[1:] for name in names)}
    users = [str(user) for user in case.tracks.users]
    if known & set(users):
        return "a pseudonym is the id of a person of the input"
    lengths = {len(name) for name in known if len(name) >= 8}
    for hashed in _hashes(users):
        if any(hashed[:length] in known for length in lengths):
            return "a pseudonym is a hash of the id of a person of the input, which anybody can repeat"
    return None


def _hashes(users: Iterable[str]) -> Iterable[str]:
    for user in users:
        for kind in HASHES:
            yield hashlib.new(kind, user.encode(), usedforsecurity=False).hexdigest()


@BOOK.rule("pages-name-nobody")
def pages_name_nobody(case: TrajectoryEvidence) -> str | None:
    """No id of a person stands in the pages for readers, unless it is a mere number or word."""
    users = {str(user) for user in case.tracks.users if WORD.fullmatch(str(user))}
    for name in PAGES:
        try:
            text = case.public(name).read_text(encoding="utf-8")
        except (OSError, ValueError):
            raise BrokenPart(f"release/{name} cannot be read") from None
        if not users.isdisjoint(TOKEN.findall(text)):
            return f"release/{name} holds the id of a person of the input"
    return None


@BOOK.rule("order-tells-nothing")
def order_tells_nothing(case: TrajectoryEvidence) -> str | Remark | None:
    """The order of pseudonyms has nothing to do with that of people, by id or by their first sample."""
    ranks, rows = _mapped(case)
    if len(ranks) < ENOUGH:
        return Remark("could not be told: with so few trajectories any order may come by chance")
    first = case.tracks.instant[case.tracks.offsets[:-1]]
    for order in (np.arange(len(first)), np.argsort(np.argsort(first, kind="stable"))):
        limit = min(0.999, DEVIATIONS / np.sqrt(len(ranks) - 1))
        if abs(np.corrcoef(_ranked(order[rows]), _ranked(ranks))[0, 1]) > limit:
            return "the order of pseudonyms follows that of people in the input"
    return None


def _ranked(values: Ints) -> Ints:
    return np.argsort(np.argsort(values, kind="stable"))


def _mapped(case: TrajectoryEvidence) -> tuple[Ints, Ints]:
    """Return the rank of each mapped pseudonym, and the row of the person it stands for."""
    pairs = _mapping(case)
    names = sorted(name for (name,) in case.fetch(f"SELECT DISTINCT trajectory FROM {case.table}"))
    told = [name for _, name in pairs if name is not None]
    users = [user for user, _ in pairs]
    if sorted(users) != sorted(str(user) for user in case.tracks.users):
        raise BrokenPart("private/mapping.parquet does not name the people of the input, each once")
    if sorted(told) != names:
        raise BrokenPart("private/mapping.parquet does not name the released trajectories, each once")
    rank = {name: at for at, name in enumerate(names)}
    row = {str(user): at for at, user in enumerate(case.tracks.users)}
    kept = [(rank[name], row[user]) for user, name in pairs if name is not None]
    return np.array([at for at, _ in kept]), np.array([at for _, at in kept])


def _mapping(case: TrajectoryEvidence) -> list[tuple[str, str | None]]:
    path = case.folder / "private" / "mapping.parquet"
    if not path.is_file():
        raise BrokenPart("private/mapping.parquet is missing, so the order of pseudonyms cannot be checked")
    literal = "'" + str(path).replace("'", "''") + "'"
    rows: list[Any] = case.fetch(f'SELECT "user"::VARCHAR, trajectory::VARCHAR FROM read_parquet({literal})')
    return rows
