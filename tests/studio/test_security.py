"""Who is let in, from where, under which name; and what nobody gets."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest
from starlette.testclient import TestClient

from studio.conftest import PORT, TOKEN
from tripcloak.ground.errors import InputError
from tripcloak.studio.security import Guard
from tripcloak.studio.server import StudioPlan
from tripcloak.studio.uploads import UploadError, receive

HOME = f"http://127.0.0.1:{PORT}"


@pytest.fixture
def stranger(studio) -> TestClient:
    """The same studio, asked by somebody without a token."""
    return TestClient(studio.client.app, base_url=HOME, follow_redirects=False)


@pytest.mark.parametrize(
    "path", ["/", "/studio.js", "/api/runs", "/api/openapi.json", "/api/docs", "/nothing"]
)
def test_nobody_gets_anything_without_the_token(stranger, path):
    for headers in ({}, {"Authorization": "Bearer wrong"}, {"Cookie": f"tripcloak_studio_{PORT}=wrong"}):
        answer = stranger.get(path, headers=headers)
        assert answer.status_code == 401
        assert "token" in answer.text
        assert "set-cookie" not in answer.headers


def test_the_token_of_the_first_address_becomes_a_cookie(stranger):
    assert stranger.get("/", params={"token": "wrong"}).status_code == 401
    answer = stranger.get("/", params={"token": TOKEN})
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    cookie = answer.headers["set-cookie"]
    assert all(part in cookie for part in ("HttpOnly", "SameSite=Strict", "Path=/"))
    assert TOKEN not in cookie
    assert stranger.get("/api/runs").status_code == 200


def test_the_page_may_talk_to_nobody_else(studio):
    headers = studio.client.get("/").headers
    policy = dict(part.split(" ", 1) for part in headers["content-security-policy"].split("; "))
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == policy["connect-src"] == "'self'"
    assert policy["frame-ancestors"] == "'none'"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"


@pytest.mark.parametrize(
    "host", ["evil.example", f"evil.example:{PORT}", "127.0.0.1:1", "", f"127.0.0.1.evil:{PORT}"]
)
def test_another_name_is_not_answered(studio, host):
    assert studio.client.get("/api/runs", headers={"Host": host}).status_code == 421


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_other_pages_change_nothing(studio, headers):
    answer = studio.client.post("/api/inputs", json={"path": str(studio.raw)}, headers=headers)
    assert answer.status_code == 403
    own = {"Origin": HOME, "Sec-Fetch-Site": "same-origin"}
    assert studio.client.post("/api/inputs", json={"path": str(studio.raw)}, headers=own).status_code == 201
    if "Origin" in headers:
        assert studio.client.get("/api/runs", headers=headers).status_code == 403


def test_elsewhere_names_are_numbers_or_our_own():
    guard = Guard(None, token=TOKEN, host="0.0.0.0", port=80)  # type: ignore[arg-type]
    assert guard.names_us("192.0.2.7")
    assert guard.names_us("localhost:80")
    assert not guard.names_us("evil.example")


def test_another_host_demands_a_token(tmp_path):
    with pytest.raises(InputError, match="--token"):
        StudioPlan(workspace=tmp_path, host="0.0.0.0", largest_upload=1)
    with pytest.raises(InputError, match="16"):
        StudioPlan(workspace=tmp_path, host="0.0.0.0", token="short", largest_upload=1)


@pytest.mark.parametrize(
    "what",
    [
        "../private/run.json",
        "..%2fprivate%2frun.json",
        "%2e%2e/private/run.json",
        "run.json",
        "private%2frun.json",
    ],
)
def test_no_path_leads_to_the_private_part(studio, what):
    number = studio.run()
    studio.ended(number)
    answer = studio.client.get(f"/api/runs/{number}/show/{what}")
    assert answer.status_code == 404
    assert "secret" not in answer.text


@pytest.mark.parametrize("name", ["..", "%2e%2e%2fx", "a%2fb", "a%5Cb", "-rf", "a%00b", "x" * 300])
def test_a_name_that_is_none_is_not_taken(studio, name):
    before = sorted(studio.desk.workspace.folder.rglob("*"))
    answer = studio.client.put(f"/api/uploads/{name}", content=b"x")
    assert answer.status_code in (400, 404, 405)
    assert sorted(studio.desk.workspace.folder.rglob("*")) == before


def test_what_is_sent_is_kept_whole(studio):
    answer = studio.client.put("/api/uploads/my trips.csv", content=b"a,b\n1,2\n")
    assert answer.status_code == 201
    told = answer.json()
    assert (told["name"], told["uploaded"], told["there"]) == ("my trips.csv", True, True)
    with open(told["path"], "rb") as file:
        assert file.read() == b"a,b\n1,2\n"


def test_too_much_is_refused_before_and_while_it_is_sent(studio):
    uploads = studio.desk.workspace.folder / "uploads"
    for content in (b"x" * 1001, iter([b"x" * 600, b"x" * 600])):
        answer = studio.client.put("/api/uploads/a.csv", content=content)
        assert answer.status_code == 413
        assert "--max-upload" in answer.json()["error"]
        assert list(uploads.iterdir()) == []
    assert studio.client.put("/api/uploads/a.csv", content=b"").status_code == 400


def test_what_is_cut_off_or_stalls_leaves_nothing(tmp_path):
    (tmp_path / "uploads").mkdir()

    async def few():
        yield b"abc"

    async def stalled():
        yield b"abc"
        await asyncio.sleep(60)

    for chunks, size, words in ((few(), 10, "only 3 of 10"), (stalled(), 10, "no byte arrived")):
        arriving = receive(tmp_path / "uploads", "a.csv", chunks, size=size, largest=100, patience=0.05)
        # In a thread of its own: a browser of another test may have a loop running in this one.
        with ThreadPoolExecutor(1) as alone, pytest.raises(UploadError, match=words):
            alone.submit(asyncio.run, arriving).result()
        assert list((tmp_path / "uploads").iterdir()) == []


@pytest.mark.parametrize(
    ("path", "words"),
    [("trips.csv", "whole path"), ("/no/such/file.csv", "no file file.csv"), ("/a\0b", "no path")],
)
def test_inputs_by_path_must_be_there(studio, path, words):
    answer = studio.client.post("/api/inputs", json={"path": path})
    assert answer.status_code in (400, 404)
    assert words in answer.json()["error"]


def test_what_is_not_understood_is_not_repeated(studio):
    answer = studio.client.post("/api/runs", json={"command": "secret-word", "input": "other-word"})
    assert answer.status_code == 422
    assert "other-word" not in answer.text


def test_fifty_requests_at_once_are_all_answered(studio):
    with ThreadPoolExecutor(10) as many:
        codes = list(many.map(lambda _: studio.client.get("/api/runs").status_code, range(50)))
    assert codes == [200] * 50


def test_the_api_tells_of_itself(studio):
    told = studio.client.get("/api/openapi.json").json()
    assert {"/api/runs", "/api/inputs", "/api/uploads/{name}", "/api/ledger"} <= set(told["paths"])
    page = studio.client.get("/api/docs").text
    assert all(path in page for path in told["paths"])
    assert "://" not in page
