"""Approval: what is asked of the command line, and what is not."""

from __future__ import annotations

import json

import pytest

from tripcloak.ground.keys import make_keys
from tripcloak.studio.routes import approvals


@pytest.fixture
def asked(monkeypatch):
    lines: list[tuple[list[str], str | None]] = []

    def answer(line, *, passphrase=None):
        lines.append((line, passphrase))
        return {"line": line}

    monkeypatch.setattr(approvals, "asked_at_once", answer)
    return lines


def test_a_judgement_is_signed_by_the_command_line(studio, asked):
    said = {"folder": "/a/ledger", "release": 3, "verdict": "reject", "by": "--ledger=x", "key": "/a/k.key"}
    assert studio.client.post("/api/ledger/judgements", json=said).status_code == 201
    line = ["ledger", "approve", "3", "--ledger=/a/ledger", "--by=--ledger=x", "--key=/a/k.key"]
    line += ["--verdict=reject", "--comment=", "--json"]
    assert asked == [(line, None)]
    assert studio.client.get("/api/ledger", params={"folder": "/a/ledger"}).status_code == 200
    assert asked[1] == (["ledger", "list", "/a/ledger", "--json"], None)


def test_what_unlocks_a_key_is_asked_for_and_stands_in_no_list_of_processes(studio, asked, tmp_path):
    pytest.importorskip("cryptography", reason="signing needs cryptography: pip install 'tripcloak[signing]'")
    key = tmp_path / "officer.key"
    make_keys(key, tmp_path / "officer.pub", passphrase="open sesame")
    said = {"folder": "/a", "release": 3, "verdict": "approve", "by": "me", "key": str(key)}
    refused = studio.client.post("/api/ledger/judgements", json=said)
    assert refused.status_code == 400
    assert refused.json() == {"error": "the key is locked; give its passphrase, too"}
    assert asked == []
    answer = studio.client.post("/api/ledger/judgements", json={**said, "passphrase": "open sesame"})
    assert answer.status_code == 201
    ((line, passphrase),) = asked
    assert passphrase == "open sesame"
    assert not any("sesame" in word for word in line)


@pytest.mark.parametrize(
    "wrong", [{"verdict": "maybe"}, {"release": 0}, {"by": ""}, {"folder": "here"}, {"key": "-k"}]
)
def test_a_judgement_that_is_none_is_not_asked_for(studio, asked, wrong):
    said = {"folder": "/a", "release": 3, "verdict": "reject", "by": "me", "key": "/a/k.key", **wrong}
    assert studio.client.post("/api/ledger/judgements", json=said).status_code in (400, 422)
    assert asked == []


@pytest.mark.parametrize("safe", [True, False, None])
def test_a_release_is_looked_at_before_it_is_judged(studio, monkeypatch, tmp_path, safe):
    """Its files are checked anew; what the audit said is in its private record, if that is there."""
    if safe is not None:
        (tmp_path / "private").mkdir()
        told = {"audit": {"safe": safe}, "plain_words": ["162 flows"]}
        (tmp_path / "private" / "run.json").write_text(json.dumps(told))
    answers = {
        "ledger": {"folder": str(tmp_path), "changed_files": ["map.html"]},
        "check": {"untouched": False},
    }
    monkeypatch.setattr(approvals, "asked_at_once", lambda line: answers[line[0]])
    found = studio.client.get("/api/ledger/releases/1", params={"folder": "/a/ledger"}).json()
    assert found == {
        "changed_files": ["map.html"],
        "check": {"untouched": False},
        "safe": safe,
        "plain_words": [] if safe is None else ["162 flows"],
    }
