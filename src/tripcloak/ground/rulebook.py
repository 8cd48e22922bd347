"""Rulebook and verdict: the rules of an audit, what became of each, and whether all of them hold."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, NamedTuple, TypeVar

from tripcloak.ground.errors import InputError, InternalError
from tripcloak.ground.progress import Progress
from tripcloak.ground.spelling import spelt

State = Literal["ok", "broken", "not promised"]


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
    promised : bool
        Whether anything was promised that the rule could break.

    Examples
    --------
    >>> Finding("zones-diverse", True, "not promised: no number of places", promised=False).state
    'not promised'
    """

    rule: str
    ok: bool
    words: str
    promised: bool = field(default=True, repr=False)

    @property
    def state(self) -> State:
        """Return in a word what became of it; that nothing was promised is no praise."""
        if not self.ok:
            return "broken"
        return "ok" if self.promised else "not promised"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {"rule": self.rule, "ok": self.ok, "state": self.state, "words": self.words}


class BrokenPart(Exception):
    """A part of a release that cannot be checked; its words become a failed finding."""


class Remark(NamedTuple):
    """The verdict that nothing is wrong, in other words than the rule's, which would say too much."""

    words: str


class NotPromised(Remark):
    """The verdict that the rule asks for something that this release does not promise at all."""


@dataclass(frozen=True)
class Verdict:
    """The result of an audit.

    Attributes
    ----------
    findings : tuple of Finding
        One per rule, in the order they were checked.
    numbers : mapping
        What the auditor counted afresh, such as the smallest support. Of a release that is not safe
        these are unreleased numbers: they stay inside.
    notes : tuple of str
        What else whoever asked should know, such as that this is another input than the release was made of.

    Examples
    --------
    >>> verdict = Verdict.of([Finding("digests-match", False, "a file was changed")])
    >>> verdict.safe, verdict.broken
    (False, ('digests-match',))
    >>> verdict
    Verdict(safe=False, broken='digests-match')
    """

    findings: tuple[Finding, ...]
    numbers: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, findings: Iterable[Finding], **numbers: Any) -> Verdict:
        """Return the verdict of these findings; without any, nothing was shown to be safe."""
        return cls(tuple(findings), numbers)

    @property
    def safe(self) -> bool:
        """Return whether every rule holds."""
        return bool(self.findings) and not self.broken

    @property
    def broken(self) -> tuple[str, ...]:
        """Return the names of the rules that do not hold."""
        return tuple(finding.rule for finding in self.findings if not finding.ok)

    def sentence(self) -> str:
        """Return the verdict in a sentence, with the names of the rules that are broken.

        >>> Verdict.of([Finding("digests-match", False, "a file was changed")]).sentence()
        'NOT SAFE: do not publish. 1 of 1 rules is broken: digests-match.'
        """
        promised, broken = [one for one in self.findings if one.promised], self.broken
        if not self.findings:
            return "NOT SAFE: do not publish. Nothing was checked."
        if broken:
            are = "is" if len(broken) == 1 else "are"
            of = f"{len(broken)} of {len(promised)} rules {are} broken"
            return f"NOT SAFE: do not publish. {of}: {', '.join(broken)}."
        were = "was" if len(promised) == 1 else "were"
        others = len(self.findings) - len(promised)
        more = (
            f"; {others} more {'is' if others == 1 else 'are'} about what is not promised" if others else ""
        )
        return f"Safe: every rule holds. {len(promised)} {were} checked{more}."

    @property
    def smallest_support(self) -> Any:
        """Return what stands behind the smallest of all that was released, in the auditor's own recount."""
        return self.numbers.get("smallest_support")

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        findings = [finding.to_dict() for finding in self.findings]
        return {"safe": self.safe, **self.numbers, "notes": list(self.notes), "findings": findings}

    def __repr__(self) -> str:
        broken = "" if self.safe else f", broken={', '.join(self.broken)!r}"
        return f"Verdict(safe={self.safe}{broken})"


def passed(audit: Verdict) -> Verdict:
    """Return the audit of what we made ourselves; where it fails, that is our own bug.

    >>> passed(Verdict.of([Finding("never-empty", True, "the bag is never empty")])).safe
    True
    """
    if audit.safe:
        return audit
    raise InternalError(f"the release failed its own audit ({', '.join(audit.broken)}); nothing was written")


C = TypeVar("C")
Check = Callable[[C], str | Remark | None]
"""Returns what is wrong, in words; None where nothing is, or a remark where the rule's words say too much."""


@dataclass(frozen=True)
class Rule(Generic[C]):
    """One rule: its name, the parts it reads, what it promises in words, and its check.

    Parts are loaded by the case's own ``load``, which raises :class:`BrokenPart` where one cannot be read.
    """

    name: str
    needs: tuple[str, ...]
    words: str
    check: Check[C]


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
        self,
        case: C,
        *,
        without: Iterable[str] = (),
        only: Iterable[str] | None = None,
        progress: Progress | None = None,
    ) -> tuple[Finding, ...]:
        """Return one finding per rule, leaving out the rules that need a part named in ``without``.

        Parameters
        ----------
        only
            The names of the rules to judge by; all of them if not given.
        """
        left_out, named = set(without), None if only is None else set(only)
        chosen = [rule for rule in self if not left_out & set(rule.needs)]
        chosen = [rule for rule in chosen if named is None or rule.name in named]
        findings = []
        for done, rule in enumerate(chosen):
            if progress is not None:
                progress(rule.name, done, len(chosen))
            findings.append(_judge(rule, case))
        if progress is not None:
            progress("audited", len(chosen), len(chosen))
        return tuple(findings)


def _judge(rule: Rule[C], case: C) -> Finding:
    try:
        for part in rule.needs:
            case.load(part)  # type: ignore[attr-defined]
        wrong: str | Remark | None = rule.check(case)
    except BrokenPart as broken:
        wrong = str(broken)
    except Exception as error:
        if not _is_of_engine(error):
            raise
        wrong = _refused_by_engine(error, rule.name)
    if isinstance(wrong, Remark):
        return Finding(rule.name, True, wrong.words, promised=not isinstance(wrong, NotPromised))
    return Finding(rule.name, wrong is None, rule.words if wrong is None else wrong)


def _is_of_engine(error: Exception) -> bool:
    """Return whether the engine for files says so; an audit in memory never loads it."""
    engine = sys.modules.get("duckdb")
    return engine is not None and isinstance(error, engine.Error)


def _refused_by_engine(error: Exception, rule: str) -> str:
    """Return why a rule could not be checked, or raise where that is no fault of the files."""
    import duckdb

    match error:
        case duckdb.InterruptException():
            raise error
        case duckdb.OutOfMemoryException():
            raise InputError(
                f"the audit needs more memory than it was given; raise the limit ({spelt('memory')})"
            ) from None
        case duckdb.ParserException() | duckdb.BinderException() | duckdb.CatalogException():
            raise InternalError(f"the audit's own rule {rule} is broken ({type(error).__name__})") from None
    # The engine's own words may quote cells of the files, so none of them are passed on.
    return "could not be checked: a file holds values of an unexpected kind"
