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
from tripcloak.ground.manifest import read_run
from tripcloak.ground.rulebook import BrokenPart, NotPromised, Remark
from tripcloak.trajectories.audit.evidence import BOOK, TrajectoryEvidence
from tripcloak.trajectories.audit.promise import NO_CHANGES, NO_DUMMIES, is_small

ORDER = (
    *("format", "kind", "version", "method", "parameters", "promise", "counted"),
    *("grid", "released", "guess", "links", "apart", "left_out", "title"),
    *("names", "background", "files"),
)
"""Entries of a manifest as they follow each other; another order could tell something."""
OPTIONAL = {"guess", "links", "apart", "left_out", "title", "names", "background"}
INNER = {
    "promise": (
        *("kind", "k", "id_is", "delta", "m", "width", "longest", "sd", "ld", "dst", "cell"),
        *("epsilon", "unit", "window", "parts", "sentence"),
    ),
    "counted": ("trajectories",),
    "grid": ("seconds", "metres", "start", "projection", "clock"),
    "released": ("trajectories", "samples"),
    "guess": ("people", "right", "blind"),
    "links": ("changes", "blind", "timing", "transition", "both", "places", "alike"),
    "apart": ("people", "right", "blind"),
    "names": ("source", "attribution", "towns"),
}

NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
ENTRY = re.compile(r"[a-z]+(_[a-z]+)*")
VERSION = re.compile(r"\d{1,3}(\.\d{1,3}){1,3}((a|b|rc|\.dev|\.post)\d{1,3})?")
LONG = 30
"""Letters that no name of a method, of a parameter or of a choice has."""
LINE, TOWNS = 200, 40
"""Letters of a title at most, and towns on a map."""
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
    return _on_map_faults(facts) or _writing_faults(case, expected)


def _on_map_faults(facts: dict[str, Any]) -> str | None:
    """Return whether title, towns or what is behind the map could hold more than they should."""
    title, names, drawn = facts.get("title", "-"), facts.get("names"), facts.get("background", "-")
    if not all(isinstance(text, str) and text.isprintable() and len(text) <= LINE for text in (title, drawn)):
        return "the manifest's title, and its words on a background, must be one line each"
    if names is None:
        return None
    towns = names.get("towns") if isinstance(names, dict) else None
    if not isinstance(towns, list) or len(towns) > TOWNS or not all(map(_is_town, towns)):
        return "the manifest's towns must each have a name, a place and a number of people"
    return None


def _is_town(town: Any) -> bool:
    kinds = {"name": str, "lat": float, "lon": float, "people": int}
    return isinstance(town, dict) and {name: type(value) for name, value in town.items()} == kinds


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
    return _guess_faults(told, min(TRIED, _people_told(case)))


def _people_told(case: TrajectoryEvidence) -> int:
    """Return how many trajectories, or pieces of them, are people's own."""
    if case.manifest.promise.profile is None:
        return len(case.spans.offsets) - 1
    return int((case.whose >= 0).sum())


@BOOK.rule("apart-told-safely")
def apart_told_safely(case: TrajectoryEvidence) -> str | Remark | None:
    """The manifest says of how many people in 100 the trajectory is told from its dummies, and no closer."""
    told = case.facts.get("apart")
    if case.manifest.promise.profile is None:
        return "dummies are told apart where there are none" if told else NotPromised(NO_DUMMIES)
    if not isinstance(told, dict) or list(told) != list(INNER["apart"]):
        return "the manifest does not say how often dummies are told apart"
    return _guess_faults(told, min(TRIED, _people_told(case)), better=False)


def _guess_faults(told: dict[str, Any], people: int, *, better: bool = True) -> str | None:
    """Return whether numbers of 100 people are told more closely than so many people allow."""
    if type(told["people"]) is not int or told["people"] != people:
        return "the guess was tried on another number of people than it should be"
    numbers = (told["blind"], told["right"])
    if people < FEW:
        return None if numbers == (None, None) else "the guess is told of too few people"
    if any(type(number) is not int or not 0 <= number <= HUNDRED for number in numbers) or (
        better and numbers[0] > numbers[1]
    ):
        return "the guess must be whole numbers of 100 people, of a simple one no fewer than of a blind one"
    closely = people < HUNDRED and any(number % BAND for number in numbers)
    return "the guess is told more closely than so few people allow" if closely else None


MOST_ALIKE = 1e7
"""As many equally likely pieces no release has."""


@BOOK.rule("links-told-safely")
def links_told_safely(case: TrajectoryEvidence) -> str | Remark | None:
    """The manifest says after how many changes of pseudonym in 100 pieces are linked, and no closer."""
    told = case.facts.get("links")
    if not case.manifest.promise.parted:
        return (
            "links are told where there are no pieces" if "links" in case.facts else NotPromised(NO_CHANGES)
        )
    if not isinstance(told, dict) or list(told) != list(INNER["links"]):
        return "the manifest does not say how often pieces of one person are linked"
    changes = min(TRIED, len(case.whose) - len(np.unique(case.whose)))
    if type(told["changes"]) is not int or told["changes"] != changes:
        return "links were tried on another number of changes than they should be"
    if changes < FEW:
        numbers = [told[name] for name in INNER["links"][1:]]
        return None if numbers == [None] * len(numbers) else "links are told of too few changes"
    return _link_faults(told, changes)


def _link_faults(told: dict[str, Any], changes: int) -> str | None:
    """Return whether numbers on links are told more closely than so many changes allow."""
    numbers, alike = [told[name] for name in INNER["links"][1:-1]], told["alike"]
    if any(type(number) is not int or not 0 <= number <= HUNDRED for number in numbers):
        return "links must be whole numbers of 100 changes"
    if type(alike) is not float or not 1.0 <= alike < MOST_ALIKE or round(alike, 1) != alike:
        return "how many are alike must be a number with one decimal, 1 or more"
    closely = changes < HUNDRED and any(number % BAND for number in numbers)
    return "links are told more closely than so few changes allow" if closely else None


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
    ranks = np.flatnonzero(case.whose >= 0)
    rows = case.whose[ranks]
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
