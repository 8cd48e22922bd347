"""tripcloak difference on two releases of trajectories: a measured risk, and a limit on it."""

from __future__ import annotations

import pytest

from worlds.weeks import two_weeks


@pytest.fixture(scope="module")
def weeks(tmp_path_factory):
    return two_weeks(tmp_path_factory.mktemp("weeks"))


def test_the_command_measures_and_limits(tripcloak, weeks, tmp_path):
    told = tripcloak("difference", weeks / "first", weeks / "second", "--json")
    assert told.code == 0
    risk = told.json["risk"]
    for limit, code in ((risk - 0.001, 1), (risk, 0)):
        limited = tripcloak("difference", weeks / "first", weeks / "second", "--risk", f"{limit!r}", "--json")
        assert (limited.code, limited.json["within"]) == (code, code == 0)
    words = tripcloak("difference", weeks / "first", weeks / "second", "--risk", "0.1%")
    assert words.code == 1
    assert "are matched first" in words.out
    assert "do not publish both" in words.out
    for given, said in (
        (["--public"], "leave out"),
        (["--k", "5"], "leave out"),
        (["--risk", "much"], "share"),
    ):
        wrong = tripcloak("difference", weeks / "first", weeks / "second", *given)
        assert (wrong.code, said in wrong.err) == (2, True)
    assert "two folders" in tripcloak("difference", weeks / "first").err
    ledger = tmp_path / "ledger"
    assert tripcloak("ledger", "init", ledger).code == 0
    refused = tripcloak("ledger", "add", weeks / "first", "--ledger", ledger)
    assert refused.code == 2
    assert "trajectories" in refused.err
