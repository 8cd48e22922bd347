"""Findings: what became of a rule that an audit checks, in words that give nothing away."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Generic, NamedTuple, Protocol, TypeVar

from tripcloak.ground.errors import InputError, InternalError
from tripcloak.ground.progress import Progress

FEW = 10
"""Smaller numbers of people, flows, zones, samples or rows are not told in words."""


@dataclass(frozen=True)
class Finding:
    """What became of one rule.

    Attributes
    ----------
    rule : str
        The rule's name.
    ok : bool
        Whether it holds.
    words : str
        What holds, or what does not. Never an id, a coordinate or an unreleased number.
    """

    rule: str
    ok: bool
    words: str


def some(number: int, noun: str) -> str:
    """Return a number of things in words that do not tell a small one.

    Examples
    --------
    >>> some(3, "flows"), some(1250, "flows")
    ('fewer than 10 flows', '1,250 flows')
    """
    return f"fewer than {FEW} {noun}" if number < FEW else f"{number:,} {noun}"


class BrokenPart(Exception):
    """A part of a release that cannot be checked; its words become a failed finding."""


class Remark(NamedTuple):
    """The verdict that nothing is wrong, in other words than the rule's, which would say too much."""

    words: str


class Case(Protocol):
    """What is being audited."""

    def load(self, part: str) -> None:
        """Make a part ready for SQL, or raise :class:`BrokenPart`."""


C = TypeVar("C", bound=Case)
Check = Callable[[C], str | Remark | None]
"""Returns what is wrong, in words; None where nothing is, or a remark where the rule's words say too much."""


@dataclass(frozen=True)
class Rule(Generic[C]):
    """One rule: its name, the parts it reads, what it promises in words, and its check."""

    name: str
    needs: tuple[str, ...]
    words: str
    check: Check[C]


class Rulebook(Generic[C]):
    """Rules in the order they were written down.

    Examples
    --------
    >>> class Bag:
    ...     def load(self, part): pass
    >>> book = Rulebook()
    >>> @book.rule("never-empty")
    ... def never_empty(case):
    ...     "The bag is never empty."
    ...     return "the bag is empty"
    >>> book.judge(Bag())
    (Finding(rule='never-empty', ok=False, words='the bag is empty'),)
    """

    def __init__(self) -> None:
        self._rules: dict[str, Rule[C]] = {}

    def __iter__(self) -> Iterator[Rule[C]]:
        return iter(self._rules.values())

    def rule(self, name: str, *needs: str) -> Callable[[Check[C]], Check[C]]:
        """Return a decorator that enters a check under a name; its docstring is what the rule promises."""

        def enter(check: Check[C]) -> Check[C]:
            words = (check.__doc__ or "").partition("\n")[0].rstrip(".").replace("``", "")
            assert words
            assert name not in self._rules
            self._rules[name] = Rule(name, needs, words[0].lower() + words[1:], check)
            return check

        return enter

    def judge(
        self, case: C, *, without: Iterable[str] = (), progress: Progress | None = None
    ) -> tuple[Finding, ...]:
        """Return one finding per rule, leaving out the rules that need a part named in ``without``."""
        left_out = set(without)
        chosen = [rule for rule in self if not left_out & set(rule.needs)]
        findings = []
        for done, rule in enumerate(chosen):
            if progress is not None:
                progress(rule.name, done, len(chosen))
            findings.append(_judge(rule, case))
        if progress is not None:
            progress("audited", len(chosen), len(chosen))
        return tuple(findings)


def _judge(rule: Rule[C], case: C) -> Finding:
    import duckdb

    try:
        for part in rule.needs:
            case.load(part)
        wrong: str | Remark | None = rule.check(case)
    except BrokenPart as broken:
        wrong = str(broken)
    except duckdb.InterruptException:
        raise
    except duckdb.OutOfMemoryException:
        raise InputError(
            "the audit needs more memory than it was given; raise the limit (--memory)"
        ) from None
    except (duckdb.ParserException, duckdb.BinderException, duckdb.CatalogException) as error:
        raise InternalError(f"the audit's own rule {rule.name} is broken ({type(error).__name__})") from None
    except duckdb.Error:
        # The engine's own words may quote cells of the files, so none of them are passed on.
        wrong = "could not be checked: a file holds values of an unexpected kind"
    if isinstance(wrong, Remark):
        return Finding(rule.name, True, wrong.words)
    return Finding(rule.name, wrong is None, rule.words if wrong is None else wrong)
