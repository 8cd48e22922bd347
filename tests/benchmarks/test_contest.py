"""The benchmark against NIST's scorer: what it makes is what the scorer takes; what is missing is said."""

from __future__ import annotations

import numpy as np

from benchmarks import contest
from benchmarks.peers import NoPeers
from tripcloak.flows.measures.nist import MARGINALS, NEEDED, nist_score


def test_without_the_scorer_it_is_said_where_it_is(monkeypatch, tmp_path):
    monkeypatch.delenv(contest.SCORER, raising=False)
    (line,) = contest.contest(tmp_path)
    assert line.ok
    assert "NIST_SCORER names no metric.py" in str(line)


def test_without_its_packages_the_reason_is_said(monkeypatch, tmp_path):
    def no_package(*_: object) -> None:
        raise NoPeers("no matching distribution")

    monkeypatch.setenv(contest.SCORER, "metric.py")
    monkeypatch.setattr(contest, "environment", no_package)
    (line,) = contest.contest(tmp_path)
    assert "no matching distribution" in str(line)


def test_made_tables_have_all_that_the_scorer_wants():
    truth = contest.made_truth()
    assert set(truth) == {*NEEDED, *MARGINALS}
    assert len(np.unique(truth["shift"])) + len(np.unique(truth["pickup_community_area"])) == 99
    tables = contest.made_tables(truth)
    assert len(np.unique(tables["gaps"]["pickup_community_area"])) < 78
    assert nist_score(truth, tables["doubled"]).penalised > 0
    scores = [nist_score(truth, table).score for table in tables.values()]
    assert all(0 < score < 1000 for score in scores)


def test_pins_are_names_and_versions():
    lines = [line for line in contest.PINS.read_text().splitlines() if not line.startswith("#")]
    assert set(contest.PACKAGES) == {line.partition("==")[0] for line in lines}
