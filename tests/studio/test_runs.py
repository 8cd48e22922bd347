"""Runs: processes of their own, kept, cancelled, and put into words."""

from __future__ import annotations

import io
import json
import shlex
import tomllib
import zipfile
from pathlib import Path

import pytest

from studio.conftest import Studio, opened
from tripcloak.ground.errors import OutputExistsError
from tripcloak.studio.workspace import INTERRUPTED, Workspace


def test_a_run_is_the_ordinary_command_line(studio):
    number = studio.run("x > 1", settings={"where": "x > 1", "k": 5, "with_margins": True, "suppress": 0.1})
    run = studio.ended(number)
    assert run["state"] == "done"
    out = studio.desk.workspace.release_folder(number)
    assert run["result"]["argv"] == [
        "anonymise", str(studio.raw), "--where=x > 1", "--k=5", "--with-margins", f"--out={out}", "--json"
    ]  # fmt: skip
    told = run["recipe"]
    assert shlex.split(told["command"])[:4] == ["tripcloak", "anonymise", str(studio.raw), "--where=x > 1"]
    held = tomllib.loads(told["toml"])
    assert held == {
        "inputs": [str(studio.raw)], "out": f"run-{number}", "where": "x > 1", "k": 5, "with_margins": True
    }  # fmt: skip
    compile(told["python"], "cell", "exec")
    notebook = studio.client.get(f"/api/runs/{number}/run.ipynb").json()
    assert "".join(notebook["cells"][1]["source"]) == told["python"]


@pytest.mark.parametrize(
    ("how", "state", "words"),
    [
        ("wrong", "failed", "no such column"),
        ("gone", "failed", "moved or removed while this ran"),
        ("killed", "failed", "memory ran out"),
        ("crashed", "failed", "signal 11"),
    ],
)
def test_how_a_run_ends_is_told_in_words_and_leaves_nothing_half_done(studio, how, state, words):
    number = studio.run(how)
    run = studio.ended(number)
    assert run["state"] == state
    assert words in run["words"]
    assert "Next:" not in run["words"], "what to type next is of no use on a page"
    assert not studio.desk.workspace.release_folder(number).exists()
    studio.raw.touch()
    assert studio.ended(studio.run())["state"] == "done", "the server lives on"


@pytest.mark.parametrize("how", ["slow", "stubborn"])
def test_cancel_stops_a_run_that_listens_and_one_that_does_not(studio, how):
    number = studio.run(how)
    awaited = {"slow": "working", "stubborn": "deaf"}[how]
    studio.until(number, lambda run: run["progress"].get("what") == awaited)
    assert studio.client.post(f"/api/runs/{number}/cancel").json() == {"asked": True}
    run = studio.ended(number)
    assert (run["state"], run["words"]) == (
        "cancelled",
        "Cancelled; no half-written release was left behind.",
    )
    assert not studio.desk.workspace.release_folder(number).exists()
    assert studio.client.post(f"/api/runs/{number}/cancel").json() == {"asked": False}


def test_a_waiting_run_can_be_cancelled_before_its_turn(tmp_path):
    desk, client = opened(tmp_path / "space", at_once=1)
    (tmp_path / "a.csv").write_text("x")
    client.post("/api/inputs", json={"path": str(tmp_path / "a.csv")})
    first, second = (
        client.post(
            "/api/runs", json={"command": "describe", "input": 1, "settings": {"where": "slow"}}
        ).json()["id"]
        for _ in range(2)
    )
    assert client.get(f"/api/runs/{second}").json()["state"] == "waiting"
    for number in (second, first):
        client.post(f"/api/runs/{number}/cancel")
    Studio(desk, client, tmp_path).ended(first)
    desk.supervisor.close()
    assert [run.state for run in desk.workspace.runs()] == ["cancelled", "cancelled"]
    desk.workspace.close()


def test_after_a_restart_finished_runs_are_there_and_others_are_interrupted(studio, tmp_path):
    done = studio.run()
    studio.ended(done)
    space = studio.desk.workspace
    lost = space.add_run("anonymise", "trips", 1, {"k": 5})
    space.change(lost.id, "running")
    space.release_folder(lost.id).mkdir()
    (space.run_folder(lost.id) / ".set-aside").mkdir()
    (space.run_folder(lost.id) / "part.tmp").write_text("half")
    (space.run_folder(lost.id) / "log.txt").write_text("words")
    (space.folder / "uploads" / "ab.part").write_text("half")
    space.close()
    again = Workspace(space.folder)
    assert [(run.id, run.state, run.words) for run in again.runs()] == [
        (lost.id, "interrupted", INTERRUPTED),
        (done, "done", ""),
    ]
    assert [file.name for file in again.run_folder(lost.id).iterdir()] == ["log.txt"]
    assert again.release_folder(done).exists()
    assert list((space.folder / "uploads").iterdir()) == []
    again.close()
    object.__setattr__(studio.desk, "workspace", Workspace(space.folder))


def test_a_workspace_by_a_relative_path_is_where_it_was_meant_to_be(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    workspace = Workspace(Path("space"))
    assert workspace.release_folder(1).is_relative_to(tmp_path / "space")
    workspace.close()


def test_a_second_server_in_one_workspace_is_refused(studio):
    with pytest.raises(OutputExistsError, match="another studio works in"):
        Workspace(studio.desk.workspace.folder)


def test_a_full_disk_is_told_in_words_and_what_was_there_stays(studio):
    rows = studio.desk.workspace._rows
    (pages,) = rows.execute("PRAGMA page_count").fetchone()
    rows.execute(f"PRAGMA max_page_count = {pages}")
    asked = {"command": "describe", "input": 1, "settings": {"where": "x" * 3000}}
    answers = (studio.client.post("/api/runs", json=asked) for _ in range(20))
    answer = next(one for one in answers if one.status_code != 201)
    assert answer.status_code == 400
    assert "disk is full" in answer.json()["error"]
    assert "free some space" in answer.json()["error"]
    assert [one["id"] for one in studio.client.get("/api/inputs").json()["inputs"]] == [1]


def test_a_file_that_vanished_is_told(studio):
    studio.raw.unlink()
    run = studio.ended(studio.run())
    assert run["state"] == "failed"
    assert "no longer where it was" in run["words"]
    assert studio.client.get("/api/inputs/1").json()["there"] is False


def test_a_run_never_changes_once_it_ended(studio):
    number = studio.run()
    studio.ended(number)
    assert studio.desk.workspace.change(number, "failed", "no") is False
    assert studio.client.get(f"/api/runs/{number}").json()["state"] == "done"


def test_long_lists_come_in_pages(studio):
    space = studio.desk.workspace
    made = [space.add_run("describe", "trips", 1, {}).id for _ in range(5)]
    for number in made:
        space.change(number, "done")
    seen, before = [], None
    while True:
        asked = {"limit": 2, **({} if before is None else {"before": before})}
        page = studio.client.get("/api/runs", params=asked).json()
        seen += [run["id"] for run in page["runs"]]
        before = page["before"]
        if before is None:
            break
    assert seen == made[::-1]
    assert studio.client.get("/api/runs", params={"command": "audit"}).json()["runs"] == []


def test_what_is_downloaded_is_the_public_part_alone(studio):
    number = studio.run()
    studio.ended(number)
    body = studio.client.get(f"/api/runs/{number}/release.zip").content
    assert zipfile.ZipFile(io.BytesIO(body)).namelist() == ["flows.csv", "map.html"]
    assert studio.client.get(f"/api/runs/{number}/release.zip").content == body
    shown = studio.client.get(f"/api/runs/{number}/show/map")
    assert shown.text == "<p>map</p>"
    assert "sandbox allow-scripts" in shown.headers["content-security-policy"]
    assert studio.client.get(f"/api/runs/{number}/show/readme").status_code == 404


def test_a_report_is_the_public_one_and_made_once(studio, monkeypatch):
    asked = []

    def writes(arguments):
        asked.append(arguments)
        (page,) = (one.removeprefix("--out=") for one in arguments if one.startswith("--out="))
        Path(page).write_text("<p>report</p>")

    monkeypatch.setattr("tripcloak.studio.routes.results.asked_at_once", writes)
    number = studio.run()
    assert studio.ended(number)["state"] == "done"
    for _ in range(2):
        answer = studio.client.get(f"/api/runs/{number}/report.html")
        assert (answer.status_code, answer.text) == (200, "<p>report</p>")
        assert f'filename="report-{number}.html"' in answer.headers["content-disposition"]
        assert "default-src 'none'" in answer.headers["content-security-policy"]
    ((command, release, *flags),) = asked
    assert (command, release) == ("report", str(studio.desk.workspace.release_folder(number)))
    assert "--public-only" in flags
    described = studio.run(command="describe")
    assert studio.ended(described)["state"] == "done"
    refused = studio.client.get(f"/api/runs/{described}/report.html")
    assert refused.status_code == 404
    assert "no release to report on" in refused.text
    assert len(asked) == 1


def test_an_audit_is_of_a_release(studio):
    assert studio.client.post("/api/runs", json={"command": "audit", "input": 1}).status_code == 400
    failed = studio.run("wrong")
    studio.ended(failed)
    asked = {"command": "audit", "input": 1, "of_run": failed}
    assert "made no release" in studio.client.post("/api/runs", json=asked).json()["error"]
    made = studio.run()
    studio.ended(made)
    run = studio.ended(studio.run(command="audit", of_run=made))
    release = studio.desk.workspace.release_folder(made)
    assert run["result"]["argv"] == ["audit", str(release), f"--against={studio.raw}", "--json"]


def test_settings_are_those_that_methods_declare(studio):
    for wing in ("trips", "trajectories"):
        told = studio.client.get(f"/api/settings/{wing}/anonymise").json()
        named = {one["name"]: one for one in told["options"]}
        assert named["k"]["help"]
        assert all(option in named for method in told["methods"] for option in method["options"])
    assert named["k"]["default"] == 5
    json.dumps(told)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"kk": 1}, "did you mean k?"),
        ({"k": "many"}, "takes a number"),
        ({"k": [1]}, "k takes"),
        ({"publish": "all"}, "must be one of"),
        ({"with_margins": "yes"}, "true or false"),
        ({"out": "/etc"}, "there is no setting out"),
        ({"where": "a\0b"}, "character"),
    ],
)
def test_settings_that_are_none_are_refused_in_words(studio, settings, words):
    answer = studio.client.post("/api/runs", json={"command": "anonymise", "input": 1, "settings": settings})
    assert answer.status_code == 400
    assert words in answer.json()["error"]
    assert studio.client.get("/api/runs").json()["runs"] == []
