"""Rules about the manifest: a promise that means something, and nothing beyond what the samples show."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable
from typing import Any

import numpy as np

from tripcloak.ground.arrays import Ints
from tripcloak.ground.errors import InputError
from tripcloak.ground.exact_files import exact_literal
from tripcloak.ground.manifest import read_run
from tripcloak.ground.rulebook import BrokenPart, NotPromised, Remark
from tripcloak.trajectories.audit.evidence import ALONE, BOOK, TrajectoryEvidence
from tripcloak.trajectories.audit.promise import is_small

ORDER = (
    *("format", "kind", "version", "method", "parameters", "promise", "counted"),
    *("grid", "released", "guess", "left_out", "files"),
)
"""Entries of a manifest as they follow each other; another order could tell something."""
OPTIONAL = {"guess", "left_out"}
INNER = {
    "promise": (*("kind", "k", "id_is", "delta", "m", "epsilon", "unit", "window", "parts", "sentence"),),
    "counted": ("trajectories",),
    "grid": ("seconds", "metres", "start", "projection", "clock"),
    "released": ("trajectories", "samples"),
    "guess": ("people", "right", "blind"),
}

NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
ENTRY = re.compile(r"[a-z]+(_[a-z]+)*")
VERSION = re.compile(r"\d{1,3}(\.\d{1,3}){1,3}((a|b|rc|\.dev|\.post)\d{1,3})?")
LONG = 30
"""Letters that no name of a method, of a parameter or of a choice has."""
MANY = 16
"""Parameters that no method has."""


@BOOK.rule("manifest-whole")
def manifest_whole(case: TrajectoryEvidence) -> str | None:
    """The manifest has every entry that it should, as it should be written, and no other."""
    facts = case.facts
    expected = [name for name in ORDER if name in facts or name not in OPTIONAL]
    if missing := sorted(set(expected) - set(facts)):
        return f"the manifest lacks {', '.join(missing)}"
    if set(facts) - set(expected):
        return "the manifest holds an entry that this audit does not know"
    if not isinstance(facts["version"], str) or not VERSION.fullmatch(facts["version"]):
        return "the manifest's version must be numbers with dots"
    if not _is_name(facts["method"], NAME):
        return "the manifest's method must be a short name: small letters, digits and hyphens"
    if not _are_plain(facts["parameters"]):
        return "the manifest's parameters must be named, and each a number or a short name"
    return _writing_faults(case, expected)


def _is_name(value: Any, shape: re.Pattern[str]) -> bool:
    return isinstance(value, str) and len(value) < LONG and shape.fullmatch(value) is not None


def _are_plain(parameters: Any) -> bool:
    """Return whether parameters are so few and so short that they can hold no list of people."""
    return (
        isinstance(parameters, dict)
        and len(parameters) < MANY
        and all(_is_name(name, ENTRY) for name in parameters)
        and all(is_small(value) or _is_name(value, NAME) for value in parameters.values())
    )


def _writing_faults(case: TrajectoryEvidence, expected: list[str]) -> str | None:
    """Return whether the file says anything by how it is written: order, blanks, repeated entries."""
    facts = case.facts
    inner = {name: entries for name, entries in INNER.items() if name in expected}
    if not all(isinstance(facts[name], dict) for name in ("files", *inner)):
        return "the manifest's promise, grid, numbers and digests must be named one by one"
    orders = [(facts, expected), (facts["files"], sorted(facts["files"]))]
    orders += [
        (facts[name], [entry for entry in entries if entry in facts[name]]) for name, entries in inner.items()
    ]
    if any(list(entries) != order for entries, order in orders):
        return "the entries of the manifest come in another order than they should"
    try:
        plain = json.dumps(facts, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
        same = case.public("manifest.json").read_bytes() == plain.encode()
    except (OSError, ValueError):
        raise BrokenPart("release/manifest.json holds values that it should not") from None
    return None if same else "the manifest holds an entry twice, or something between its entries"


@BOOK.rule("promise-valid")
def promise_valid(case: TrajectoryEvidence) -> str | None:
    """The manifest states k, a promise and a grid that mean something, and no less than was ordered."""
    told = case.manifest.promise
    if case.ordered is not None and told.asked < case.ordered:
        return f"the manifest promises less than the k of {case.ordered} that was ordered"
    return None


SPOKEN = {
    "person": ("people:", "a person's"),
    "vehicle": ("vehicles, not people:", "a vehicle's (not a person's)"),
    "device": ("devices, not people:", "a device's (not a person's)"),
    "card": ("cards, not people:", "a card's (not a person's)"),
    "household": ("households, not people:", "a household's (not a person's)"),
    "unknown": ("ids of unknown kind:", "one id's (of unknown kind)"),
}
"""How the manifest must speak of ids: what its entry `counted` begins with, and what its sentence holds."""


@BOOK.rule("counted-as-said")
def counted_as_said(case: TrajectoryEvidence) -> str | None:
    """Trajectories are called those of people only where ids stand for people."""
    stated, told = case.manifest.promise, case.facts.get("counted")
    words = told.get("trajectories") if isinstance(told, dict) and len(told) == 1 else None
    if not isinstance(words, str) or re.search(r"\d", words):
        return "the manifest does not say whose the trajectories are"
    begins, holds = SPOKEN[stated.id_is]
    silent = stated.moves and stated.id_is == "person"
    if not words.startswith(begins) or not (silent or holds in case.facts["promise"]["sentence"]):
        return "the manifest calls whose the trajectories are other than what it says its ids stand for"
    source = read_run(case.folder).get("source")
    said = source.get("id_is") if isinstance(source, dict) else None
    return "the manifest calls ids other than their owner did" if said not in (None, stated.id_is) else None


@BOOK.rule("manifest-consistent")
def manifest_consistent(case: TrajectoryEvidence) -> str | None:
    """The manifest tells the numbers of released trajectories and samples that the files hold."""
    trajectories, samples = case.fetch(f"SELECT count(DISTINCT trajectory), count(*) FROM {case.table}")[0]
    right = {"trajectories": trajectories, "samples": samples}
    # 1 and 1.0 and true are equal, and each is written otherwise.
    same = repr(case.facts.get("released")) == repr(right)
    return None if same else "the manifest's numbers differ from the samples"


TRIED, FEW, BAND, HUNDRED = 1000, 10, 10, 100
"""People tried at most by a guess; fewer of whom nothing is told; steps in which it is told of up to 100."""


@BOOK.rule("guess-told-safely")
def guess_told_safely(case: TrajectoryEvidence) -> str | Remark | None:
    """The manifest says of how many people in 100 a guess names the right trajectory, and no closer."""
    told = case.facts.get("guess")
    if case.manifest.promise.moves:
        return (
            "a guess is told where no trajectory need fit"
            if "guess" in case.facts
            else NotPromised(
                "not promised: released points may lie elsewhere than the original ones, and none need fit"
            )
        )
    if not isinstance(told, dict) or list(told) != list(INNER["guess"]):
        return "the manifest does not say how often a simple guess is right"
    people = min(TRIED, len(case.spans.offsets) - 1)
    if type(told["people"]) is not int or told["people"] != people:
        return "the guess was tried on another number of people than it should be"
    numbers = (told["blind"], told["right"])
    if people < FEW:
        return None if numbers == (None, None) else "the guess is told of too few people"
    if any(type(number) is not int for number in numbers) or not 0 <= numbers[0] <= numbers[1] <= HUNDRED:
        return "the guess must be whole numbers of 100 people, of a simple one no fewer than of a blind one"
    closely = people < HUNDRED and any(number % BAND for number in numbers)
    return "the guess is told more closely than so few people allow" if closely else None


@BOOK.rule("grid-of-the-input")
def grid_of_the_input(case: TrajectoryEvidence) -> str | Remark | None:
    """The grid is the one on which the raw input was read: no finer one, and no other projection."""
    told = case.manifest
    # Read before it is asked: where the input itself cannot be read, that is no finding.
    assert case.tracks is not None
    try:
        right = case.raw.grid()
    except InputError:
        raise BrokenPart("could not be checked: no one projection serves the input") from None
    if right is None:
        return Remark("not checked: nothing says with which resolution the input was read")
    if any(getattr(told, name) != getattr(right, name) for name in INNER["grid"]):
        return "the manifest states another grid than the input was read with"
    return None


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
    if case.manifest.promise.made_up:
        return NotPromised("not promised: released trajectories are nobody's")
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
    exact = exact_literal(case.con, path)
    rows: list[Any] = case.fetch(
        f'SELECT "user"::VARCHAR, trajectory::VARCHAR FROM read_parquet({exact}, {ALONE})'
    )
    return rows
