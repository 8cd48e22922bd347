"""How rules are run: what ends an audit, and what is a finding."""

from __future__ import annotations

import os
import signal
import threading

import duckdb
import pytest

from tripcloak.audit.rulebook import Remark, Rulebook
from tripcloak.findings import Finding

ENDLESS = """with recursive climb(n) as (select 0 union all select n + 1 from climb where n < 1_000_000_000)
    select count(*) from climb"""


class Nothing:
    """A case that has no parts."""

    def load(self, part: str) -> None:
        """Do nothing."""


def book_of(check: object) -> Rulebook[Nothing]:
    book: Rulebook[Nothing] = Rulebook()
    book.rule("made-up")(check)  # type: ignore[arg-type]
    return book


def test_ctrl_c_ends_an_audit_in_the_middle_of_a_recursive_query() -> None:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)

    def climb(case: Nothing) -> None:
        """Climbs for ever."""
        with duckdb.connect() as con:
            threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
            con.execute(ENDLESS)

    try:
        with pytest.raises(KeyboardInterrupt):
            book_of(climb).judge(Nothing())
    finally:
        signal.signal(signal.SIGINT, before)


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
