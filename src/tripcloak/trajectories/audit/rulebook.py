"""Rulebook: the rules of an audit of trajectories, and how they are run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, NamedTuple, TypeVar

from tripcloak.ground.rulebook import Finding


class BrokenPart(Exception):
    """A part of a release that cannot be checked; its words become a failed finding."""


class Remark(NamedTuple):
    """The verdict that nothing is wrong, in other words than the rule's, which would say too much."""

    words: str


C = TypeVar("C")
Check = Callable[[C], str | Remark | None]
"""Returns what is wrong, in words; None where nothing is, or a remark where the rule's words say too much."""


class Rulebook(Generic[C]):
    """Rules in the order they were written down.

    Examples
    --------
    >>> book = Rulebook()
    >>> @book.rule("never-empty")
    ... def never_empty(bag):
    ...     "The bag is never empty."
    ...     return None if bag else "the bag is empty"
    >>> book.judge([])
    (Finding(rule='never-empty', ok=False, words='the bag is empty'),)
    """

    def __init__(self) -> None:
        self._rules: dict[str, tuple[str, Check[C]]] = {}

    def rule(self, name: str) -> Callable[[Check[C]], Check[C]]:
        """Return a decorator that enters a check under a name; its docstring is what the rule promises."""

        def enter(check: Check[C]) -> Check[C]:
            words = (check.__doc__ or "").partition("\n")[0].rstrip(".").replace("``", "")
            assert words
            assert name not in self._rules
            self._rules[name] = (words[0].lower() + words[1:], check)
            return check

        return enter

    def judge(self, case: C) -> tuple[Finding, ...]:
        """Return one finding per rule."""
        return tuple(_judge(name, words, check, case) for name, (words, check) in self._rules.items())


def _judge(name: str, words: str, check: Check[C], case: C) -> Finding:
    try:
        wrong = check(case)
    except BrokenPart as broken:
        wrong = str(broken)
    if isinstance(wrong, Remark):
        return Finding(name, True, wrong.words)
    return Finding(name, wrong is None, words if wrong is None else wrong)
