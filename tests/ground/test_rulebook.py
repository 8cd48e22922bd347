"""How rules are run: what ends an audit, and what is a finding."""

from __future__ import annotations

import os
import signal
import threading

import duckdb
import pytest

from tripcloak.ground.engine import connect
from tripcloak.ground.errors import InputError, InternalError
from tripcloak.ground.rulebook import BrokenPart, Finding, NotPromised, Remark, Rulebook, Verdict, passed

ENDLESS = {
    "while main waits": "select count(*) from range(1_000_000) a, range(1_000_000) b where hash(a, b) = 0",
    "while main works": "select sum(hash(range)) from range(1_000_000_000_000)",
    "in a recursive query": """with recursive up(n) as (select 0 union all select n + 1 from up where n < 1e9)
        select count(*) from up""",
}


class Nothing:
    """A case that has no parts."""

    def load(self, part: str) -> None:
        """Do nothing."""


def book_of(check: object) -> Rulebook[Nothing]:
    book: Rulebook[Nothing] = Rulebook()
    book.rule("made-up")(check)  # type: ignore[arg-type]
    return book


@pytest.mark.parametrize("query", ENDLESS)
def test_ctrl_c_ends_an_audit_in_the_middle_of_a_query(query: str) -> None:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)

    def count(case: Nothing) -> None:
        """Counts for ever."""
        with connect() as con:
            threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
            con.execute(ENDLESS[query])

    try:
        with pytest.raises(KeyboardInterrupt):
            book_of(count).judge(Nothing())
    finally:
        signal.signal(signal.SIGINT, before)


def test_no_room_for_a_thread_is_no_room_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    def start(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    before = signal.set_wakeup_fd(-1)
    monkeypatch.setattr(threading.Thread, "start", start)
    with pytest.raises(MemoryError, match="new thread"), connect():
        pass
    assert signal.set_wakeup_fd(before) == -1, "nobody is woken any more"


def test_other_errors_of_a_rule_are_not_swallowed() -> None:
    def stumble(case: Nothing) -> None:
        """Stumbles over its own feet."""
        raise RuntimeError("a bug")

    with pytest.raises(RuntimeError, match="a bug"):
        book_of(stumble).judge(Nothing())


def test_a_remark_is_no_failure_and_speaks_for_itself() -> None:
    def remark(case: Nothing) -> Remark:
        """Every flow holds ten people."""
        return Remark("not promised: numbers are noisy")

    assert book_of(remark).judge(Nothing()) == (Finding("made-up", True, "not promised: numbers are noisy"),)


def test_what_is_not_promised_is_neither_ok_nor_broken() -> None:
    def silent(case: Nothing) -> NotPromised:
        """Every flow holds ten people."""
        return NotPromised("not promised: numbers are noisy")

    (found,) = book_of(silent).judge(Nothing())
    assert (found.ok, found.promised, found.state) == (True, False, "not promised")
    assert found.to_dict()["state"] == "not promised"
    assert (Finding("made-up", True, "").state, Finding("made-up", False, "").state) == ("ok", "broken")


def test_a_verdict_says_in_a_sentence_what_is_broken_and_what_was_never_promised() -> None:
    held, silent = Finding("held", True, "it holds"), Finding("silent", True, "not promised", promised=False)
    assert Verdict.of([held, silent]).sentence() == (
        "Safe: every rule holds. 1 was checked; 1 more is about what is not promised."
    )
    assert Verdict.of([held, Finding("torn", False, "")]).sentence() == (
        "NOT SAFE: do not publish. 1 of 2 rules is broken: torn."
    )
    assert Verdict.of([]).sentence() == "NOT SAFE: do not publish. Nothing was checked."


def test_an_audit_without_findings_is_not_safe_and_lets_nothing_pass() -> None:
    assert not Verdict.of([]).safe
    assert not Verdict.of([]).to_dict()["safe"]
    with pytest.raises(InternalError, match="failed its own audit"):
        passed(Verdict.of([]))


def test_rules_are_left_out_by_what_they_need_or_named_one_by_one() -> None:
    book: Rulebook[Nothing] = Rulebook()

    def held(case: Nothing) -> None:
        """Holds."""

    for name, needs in (("bare", ()), ("one", ("raw",)), ("two", ("raw", "flows"))):
        book.rule(name, *needs)(held)
    judged = [
        [found.rule for found in book.judge(Nothing(), **chosen)]  # type: ignore[arg-type]
        for chosen in ({}, {"without": ["flows"]}, {"without": ["raw"]}, {"only": ["two"]}, {"only": []})
    ]
    assert judged == [["bare", "one", "two"], ["bare", "one"], ["bare"], ["two"], []]


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (BrokenPart("a part is broken"), "a part is broken"),
        (duckdb.ConversionException("p17 lives at 48.85"), "could not be checked"),
        (duckdb.InvalidInputException("p17"), "could not be checked"),
    ],
)
def test_what_cannot_be_read_is_broken_and_not_quoted(error: Exception, words: str) -> None:
    def stumble(case: Nothing) -> None:
        """Reads a cell."""
        raise error

    (found,) = book_of(stumble).judge(Nothing())
    assert not found.ok
    assert words in found.words
    assert "p17" not in found.words


@pytest.mark.parametrize("error", [duckdb.ParserException, duckdb.BinderException, duckdb.CatalogException])
def test_a_rule_that_is_itself_broken_ends_the_audit(error: type[Exception]) -> None:
    def stumble(case: Nothing) -> None:
        """Cannot be read."""
        raise error("p17")

    with pytest.raises(InternalError, match="rule made-up is broken") as caught:
        book_of(stumble).judge(Nothing())
    assert "p17" not in str(caught.value)


def test_too_little_memory_is_no_verdict() -> None:
    def stumble(case: Nothing) -> None:
        """Needs more."""
        raise duckdb.OutOfMemoryException("p17")

    with pytest.raises(InputError, match="more memory") as caught:
        book_of(stumble).judge(Nothing())
    assert "p17" not in str(caught.value)


def test_one_broken_rule_among_many_is_not_safe_and_nothing_passes() -> None:
    held, torn = Finding("held", True, ""), Finding("torn", False, "")
    silent = Finding("silent", True, "", promised=False)
    assert Verdict.of([held, silent]).safe
    assert passed(Verdict.of([held])).safe
    assert not Verdict.of([held, torn, held]).safe
    with pytest.raises(InternalError, match="torn"):
        passed(Verdict.of([held, torn]))
    assert Verdict.of([held, held, torn, torn, silent, silent]).sentence() == (
        "NOT SAFE: do not publish. 2 of 4 rules are broken: torn, torn."
    )
    assert Verdict.of([held, held, silent, silent]).sentence() == (
        "Safe: every rule holds. 2 were checked; 2 more are about what is not promised."
    )


def test_a_rule_promises_the_first_line_of_its_docstring() -> None:
    def check(case: Nothing) -> None:
        """Every ``zone`` is known.

        Others are none.
        """

    assert [rule.words for rule in book_of(check)] == ["every zone is known"]
