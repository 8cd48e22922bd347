"""Approval: what is asked of the command line, and what is not."""

from __future__ import annotations

import pytest

from tripcloak.studio.routes import approvals


@pytest.fixture
def asked(monkeypatch):
    lines: list[list[str]] = []
    monkeypatch.setattr(approvals, "asked_at_once", lambda line: lines.append(line) or {"line": line})
    return lines


def test_a_judgement_is_signed_by_the_command_line(studio, asked):
    said = {"folder": "/a/ledger", "release": 3, "verdict": "reject", "by": "--ledger=x", "key": "/a/k.key"}
    assert studio.client.post("/api/ledger/judgements", json=said).status_code == 201
    line = ["ledger", "approve", "3", "--ledger=/a/ledger", "--by=--ledger=x", "--key=/a/k.key"]
    assert asked == [[*line, "--verdict=reject", "--comment=", "--json"]]
    assert studio.client.get("/api/ledger", params={"folder": "/a/ledger"}).status_code == 200
    assert asked[1] == ["ledger", "list", "/a/ledger", "--json"]


@pytest.mark.parametrize(
    "wrong", [{"verdict": "maybe"}, {"release": 0}, {"by": ""}, {"folder": "here"}, {"key": "-k"}]
)
def test_a_judgement_that_is_none_is_not_asked_for(studio, asked, wrong):
    said = {"folder": "/a", "release": 3, "verdict": "reject", "by": "me", "key": "/a/k.key", **wrong}
    assert studio.client.post("/api/ledger/judgements", json=said).status_code in (400, 422)
    assert asked == []
