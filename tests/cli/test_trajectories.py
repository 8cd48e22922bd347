"""The commands on trajectories, from a made-up input to a checked release and back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tripcloak.synth import Cdr, write_cdr
from worlds.fixes import leaked, some_fixes
from worlds.trips import write_csv

METHODS = {"k-scale", "glove", "w4m", "nwa"}
PUBLIC = {
    "README.md",
    "manifest.json",
    "map.html",
    "samples.csv",
    "samples.parquet",
    "trajectories.geojson",
    "trajectories.mfjson",
}
KEYS = {
    *("method", "parameters", "k", "promise", "users", "samples", "released", "cleaning", "grid"),
    *("measures", "metrics"),
    *("facts", "audit", "guess", "seconds", "notes", "plain_words", "out"),
}


@pytest.fixture(scope="module")
def calls(tmp_path_factory) -> Path:
    """The calls of some people who do not exist."""
    file: Path = tmp_path_factory.mktemp("calls") / "calls.parquet"
    write_cdr(Cdr(users=40, samples=30, days=5, antennas=80, seed=3), file)
    return file


@pytest.fixture(scope="module")
def folders(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("released")


@pytest.fixture
def anonymised(tripcloak, calls, folders):
    """A release by a method, made once, with what the command printed."""

    def made(method):
        out, told = folders / method, folders / f"{method}.json"
        if not told.exists():
            done = tripcloak(
                *("trajectories", "anonymise", calls, "--method", method, "--k", 3, "--out", out, "--json")
            )
            assert (done.code, done.err) == (0, "")
            told.write_text(done.out)
        return out, json.loads(told.read_text())

    return made


@pytest.mark.parametrize("method", sorted(METHODS))
def test_a_release_says_what_it_is_and_stands_its_audit(tripcloak, calls, anonymised, method):
    out, told = anonymised(method)
    assert set(told) == KEYS
    assert (told["guess"] is None) == (method in {"w4m", "nwa"})
    assert (told["method"], told["k"], told["users"]) == (method, 3, 40)
    assert told["audit"]["safe"]
    assert told["cleaning"]["kept"] == told["samples"]
    assert told["cleaning"]["people_lacking"] == 0
    assert {"read", "solve", "write"} <= set(told["seconds"])
    assert {path.name for path in (out / "release").iterdir()} == PUBLIC
    manifest = json.loads((out / "release" / "manifest.json").read_text())
    assert manifest["promise"].pop("sentence").startswith(("k = 3:", "(k, delta) = (3, "))
    assert manifest["promise"] == told["promise"]
    assert manifest["released"] == told["released"]
    audit = tripcloak("trajectories", "audit", out, "--against", calls, "--k", 3, "--json")
    assert (audit.code, audit.err) == (0, "")
    assert audit.json["smallest_support"] == told["audit"]["smallest_support"]


@pytest.mark.parametrize("method", ["k-scale", "glove"])
def test_containment_reaches_k_and_invents_nothing(anonymised, method):
    _, told = anonymised(method)
    assert told["promise"] == {"kind": "containment", "k": 3, "id_is": "person"}
    assert told["audit"]["smallest_support"] >= 3
    assert (told["metrics"]["created"], told["metrics"]["deleted"]) == (0, 0)
    assert not told["notes"]


@pytest.mark.parametrize("constraint", ["full", "k-pick", "nu-k-pick"])
def test_every_constraint_of_k_scale_reaches_k(tripcloak, calls, tmp_path, constraint):
    told = tripcloak(
        *("trajectories", "anonymise", calls, "--k", 4, "--constraint", constraint, "--neighbours", 20),
        *("--jobs", 1, "--out", tmp_path / "out", "--json"),
    )
    assert (told.code, told.err) == (0, "")
    assert told.json["parameters"].items() >= {"neighbours": 20, "constraint": constraint}.items()
    assert told.json["audit"]["smallest_support"] >= 4
    unlike = [note for note in told.json["notes"] if "not equally likely; --constraint full" in note]
    assert len(unlike) == (constraint != "full")


@pytest.mark.parametrize("method", ["w4m", "nwa"])
def test_colocation_says_loudly_that_it_promises_less(tripcloak, calls, anonymised, tmp_path, method):
    _, told = anonymised(method)
    assert told["promise"]["kind"] == "colocation"
    assert told["promise"]["delta"] > 0
    assert any("(k, delta)-anonymity alone" in note for note in told["notes"])
    shown = tripcloak(
        *("trajectories", "anonymise", calls, "--method", method, "--k", 2, "--out", tmp_path / "out")
    )
    words = " ".join(shown.out.replace("│", " ").split())
    assert f"Note: {method} promises (k, delta)-anonymity alone" in words
    assert "no smallest support is promised" in words


def test_the_summary_for_people(tripcloak, calls, tmp_path):
    told = tripcloak("trajectories", "anonymise", calls, "--k", 2, "--out", tmp_path / "out")
    assert (told.code, told.err) == (0, "")
    words = " ".join(told.out.replace("│", " ").split())
    assert told.out.startswith("40 trajectories of ")
    for part in (
        "A typical sample became a box",
        "0.0% of the people and 0.0% of the samples are withheld",
        "people 40",
        "released trajectories 40",
        "space error, mean km",
        "time error, mean minutes",
        "released area, median km2",
        "samples created 0",
        "samples deleted 0",
        "safe by containment (k = 2); smallest support",
        "names the right trajectory for up to",
        "seconds read",
        str(tmp_path / "out" / "release"),
    ):
        assert part in words, part


def test_an_audit_against_more_than_was_promised_fails(tripcloak, calls, anonymised):
    out, _ = anonymised("k-scale")
    told = tripcloak("trajectories", "audit", out, "--against", calls, "--k", 20)
    assert told.code == 1
    assert "NOT SAFE" in told.out


def test_an_audit_against_another_input_fails(tripcloak, anonymised, tmp_path):
    out, _ = anonymised("k-scale")
    rows = some_fixes(8)
    told = tripcloak("trajectories", "audit", out, "--against", write_csv(tmp_path / "fixes.csv", rows))
    assert told.code == 1
    assert leaked(told.out + told.err, rows) == []


def test_a_release_of_flows_is_none_of_trajectories(tripcloak, tmp_path, trips, calls):
    assert tripcloak("anonymise", trips, "--out", tmp_path / "flows").code == 0
    told = tripcloak("trajectories", "audit", tmp_path / "flows", "--against", calls)
    assert told.code == 2
    assert "not of trajectories" in told.words


@pytest.mark.parametrize("verb", ["audit", "measures", "metrics"])
def test_one_command_knows_both_kinds(tripcloak, anonymised, calls, verb):
    out, _ = anonymised("k-scale")
    alias = "measures" if verb == "metrics" else verb
    for more in ((), ("--json",)):
        told = tripcloak(verb, out, "--against", calls, *more)
        assert (told.code, told.err) == (0, "")
        assert told == tripcloak("trajectories", alias, out, "--against", calls, *more)


def test_one_command_audits_both_kinds_against_what_was_ordered(tripcloak, anonymised, calls):
    out, _ = anonymised("k-scale")
    assert tripcloak("audit", out, "--against", calls, "--k", 3).code == 0
    assert tripcloak("audit", out, "--against", calls, "--k", 4).code == 1
    for k in ("2.5", "nan", "inf"):
        told = tripcloak("audit", out, "--against", calls, "--k", k)
        assert (told.code, told.out) == (2, "")
        assert "--k takes a whole number" in told.words


@pytest.mark.parametrize(
    ("verb", "option", "value"),
    [
        ("audit", "--m", 2),
        ("audit", "--l", 3),
        ("audit", "--l-places", 3),
        ("audit", "--t", 0.5),
        ("measures", "--volume", "trips"),
        ("metrics", "--volume", "trips"),
    ],
)
def test_what_only_flows_have_is_refused(tripcloak, anonymised, calls, verb, option, value):
    out, _ = anonymised("k-scale")
    told = tripcloak(verb, out, "--against", calls, option, value)
    assert (told.code, told.out) == (2, "")
    assert f"{option} is for releases of flows; {out} holds a release of trajectories" in told.words


def test_a_release_says_itself_how_its_input_was_read(tripcloak, anonymised, calls, tmp_path):
    out, _ = anonymised("k-scale")
    since = ("--since", "2024-09-03")
    attacked = tripcloak("trajectories", "attack", calls, "--release", out, *since)
    trips = tripcloak("trajectories", "trips", out, *since, "--out", tmp_path / "trips.parquet")
    for told in (attacked, trips):
        assert told.code == 2
        assert "leave out the options" in told.words
    assert not (tmp_path / "trips.parquet").exists()


def test_only_the_formats_that_were_asked_for(tripcloak, calls, tmp_path):
    arguments = (
        "trajectories",
        "anonymise",
        calls,
        "--k",
        2,
        "--formats",
        "mfjson",
        "--out",
        tmp_path / "out",
    )
    assert tripcloak(*arguments).code == 0
    assert {path.name for path in (tmp_path / "out" / "release").iterdir()} == PUBLIC - {
        "trajectories.geojson"
    }
    assert tripcloak("trajectories", "audit", tmp_path / "out", "--against", calls).code == 0


def test_measures_are_those_of_the_release(tripcloak, calls, anonymised):
    out, told = anonymised("k-scale")
    again = tripcloak("trajectories", "measures", out, "--against", calls, "--json")
    assert (again.code, again.err) == (0, "")
    assert again.json["metrics"]["spatial_error_km"] == pytest.approx(told["metrics"]["spatial_error_km"])
    shown = tripcloak("trajectories", "measures", out, "--against", calls)
    assert shown.code == 0
    assert "spatial error km" in shown.out


def test_what_is_in_an_input(tripcloak, calls):
    told = tripcloak("trajectories", "describe", calls, "--json")
    assert (told.code, told.err) == (0, "")
    assert told.json["users"] == 40
    assert told.json["resolution"] == {"seconds": 60, "metres": 100}
    shown = tripcloak("trajectories", "describe", calls)
    assert shown.code == 0
    assert "minutes from one sample to the next" in shown.out
    assert "samples of one person" in shown.out
    shown = tripcloak("trajectories", "describe", calls, "--id-is", "vehicle")
    assert "vehicles" in shown.out
    assert "samples of one vehicle" in shown.out
    assert "│ people" not in shown.out


def test_only_some_people_drawn_by_a_seed(tripcloak, calls):
    def drawn(seed):
        told = tripcloak(
            *("trajectories", "describe", calls, "--sample-users", 15, "--seed", seed, "--json")
        ).json
        assert told["users"] == 15
        return told["samples"], str(told["radius_of_gyration_km"])

    assert drawn(1) == drawn(1) != drawn(2)


def test_methods_side_by_side(tripcloak, calls, tmp_path):
    arguments = ("trajectories", "compare", calls, "--methods", "k-scale,w4m", "--k", 2, "--delta", 3000)
    told = tripcloak(*arguments, "--json")
    assert (told.code, told.err) == (0, "")
    kscale, w4m = told.json["rows"]
    assert kscale["safe"]
    assert kscale["smallest_support"] >= 2
    assert (kscale["created"], kscale["deleted"]) == (0, 0)
    assert w4m["promise"] == "colocation"
    assert 0 < kscale["guessed_blindly"] <= 50
    assert (w4m["guessed"], w4m["guessed_blindly"]) == (None, None)
    assert all(row["cpu_seconds"] > 0 for row in (kscale, w4m))
    assert told.json["recommended"] == "k-scale"
    lines = tripcloak(*arguments, "--markdown").out.splitlines()
    assert [line.split(" | ")[0] for line in lines] == ["| method", "| :--", "| k-scale", "| w4m"]
    assert "(k, delta) only" in lines[3]
    assert lines[0].split(" | ")[1] == "CPU s"
    assert lines[2].split(" | ")[-2] == str(kscale["guessed"])
    shown = tripcloak(*arguments, "--out", tmp_path / "out").out
    assert told.json["advice"] in " ".join(shown.split())
    assert "compare.html" in shown
    written = json.loads((tmp_path / "out" / "compare.json").read_text())
    assert [row["spatial_km"] for row in written["rows"]] == [kscale["spatial_km"], w4m["spatial_km"]]
    again = tripcloak(*arguments, "--out", tmp_path / "out")
    assert again.code != 0
    assert "already holds a comparison" in again.err


def test_a_comparison_without_a_release_is_a_no(tripcloak, calls):
    told = tripcloak("trajectories", "compare", calls, "--methods", "k-scale", "--k", 99)
    assert told.code == 1
    assert "k-scale did not run" in told.out
    none = tripcloak("trajectories", "compare", calls, "--methods", "k-scale,glove", "--delta", 10)
    assert none.code == 2
    assert "none of k-scale, glove has an option --delta" in none.words


def test_the_methods_and_their_promises(tripcloak):
    told = tripcloak("trajectories", "methods", "--json").json["methods"]
    assert {one["method"]: one["promise"] for one in told} == {
        "k-scale": "containment",
        "glove": "containment",
        "w4m": "colocation",
        "nwa": "colocation",
        "grid": "presence",
        "k-m": "k^m-anonymity of trajectories",
        "safepath": "differential privacy of trajectories",
        "dptd": "differential privacy of trajectories",
        "adatrace": "differential privacy of trajectories",
        "mix-zones": "mixing",
        "locations": "differential privacy of trajectories",
        "dummies": "disclosure",
    }
    assert next(one for one in told if one["method"] == "k-scale")["parameters"]["constraint"] == "full"
    assert "colocation" in tripcloak("trajectories", "methods").out
    both = tripcloak("methods", "--json").json
    assert both["trajectories"] == told
    assert {one["method"] for one in both["methods"]} & METHODS <= {"glove"}
    assert "Methods on trajectories" in tripcloak("methods").out


def test_every_parameter_of_a_method_has_an_option(tripcloak):
    listed = tripcloak("trajectories", "methods", "--json").json["methods"]
    page = tripcloak("trajectories", "anonymise", "--help").out
    named = {name for one in listed for name in one["parameters"]}
    assert {"neighbours", "delta", "period"} <= named
    assert not [name for name in named if f"--{name.replace('_', '-')} " not in page]


def test_trips_of_calls_feed_the_od_side_and_come_back(tripcloak, calls, anonymised, tmp_path):
    raw, released = tmp_path / "trips.parquet", tmp_path / "released.csv"
    told = tripcloak("trajectories", "trips", calls, "--stay", 0, "--out", raw, "--json")
    assert (told.code, told.err) == (0, "")
    assert told.json["trips"] > 20
    assert "keep the file inside" in " ".join(told.json["notes"])
    out, _ = anonymised("k-scale")
    shown = tripcloak("trajectories", "trips", out, "--stay", 0, "--out", released)
    assert shown.code == 0
    assert "no more than the release does" in shown.out
    for file in (raw, released):
        od = tripcloak("anonymise", file, "--k", 3, "--out", tmp_path / file.stem, "--json")
        assert (od.code, od.err) == (0, "")
        assert od.json["audit"]["smallest_support"] >= 3
    back = tripcloak("trajectories", "anonymise", raw, "--k", 2, "--out", tmp_path / "back", "--json")
    assert (back.code, back.err) == (0, "")
    assert back.json["cleaning"]["read"] == 2 * told.json["trips"]


def test_attackers_find_everybody_before_and_nobody_after(tripcloak, calls, anonymised):
    out, told = anonymised("k-scale")
    arguments = ("trajectories", "attack", calls, "--release", out, "--kind", "points,window")
    found = tripcloak(*arguments, "--points", "2..4", "--json")
    assert (found.code, found.err) == (0, "")
    rows = found.json["attacks"]
    assert [(row["kind"], row["knowledge"]) for row in rows] == [
        (kind, known) for kind in ("points", "window") for known in (2, 3, 4)
    ]
    for row in rows:
        assert row["before"]["unique"] > 0.5
        assert row["after"]["unique"] == 0
        assert row["after"]["matches"]["0"] >= told["k"]
    shown = tripcloak(*arguments)
    assert shown.code == 0
    assert "100.0% → 0.0%" in shown.out


def test_the_remains_of_a_killed_run_are_noted(tripcloak, calls, tmp_path):
    (tmp_path / "out" / ".partial-1234").mkdir(parents=True)
    arguments = (
        "trajectories",
        "anonymise",
        calls,
        "--k",
        2,
        "--jobs",
        1,
        "--out",
        tmp_path / "out",
        "--json",
    )
    told = tripcloak(*arguments)
    assert (told.code, told.err) == (0, "")
    assert any(".partial-1234" in note and "may be deleted" in note for note in told.json["notes"])


def test_simple_guesses_stand_beside_the_blind_one(tripcloak, calls, anonymised):
    out, _ = anonymised("k-scale")
    arguments = ("trajectories", "attack", calls, "--release", out, "--kind", "owner")
    (row,) = tripcloak(*arguments, "--json").json["attacks"]
    assert (row["knowledge"], row["before"]) == (None, None)
    named = row["after"]["named"]
    assert 0 < named["blind"] <= 1 / 2
    shown = tripcloak(*arguments).out
    best = max((name for name in named if name != "blind"), key=named.get)
    assert f"a blind guess among those that fit names {named['blind']:.1%} of people" in shown
    assert f"the best simple guess ({best}) names {named[best]:.1%} of people" in shown
    bare = tripcloak("trajectories", "attack", calls, "--kind", "owner")
    assert bare.code == 2
    assert "--release" in bare.err


def test_an_attack_needs_no_release(tripcloak, calls):
    found = tripcloak("trajectories", "attack", calls, "--kind", "all", "--people", 5, "--json")
    assert (found.code, found.err) == (0, "")
    assert len(found.json["attacks"]) == 11
    assert all(row["after"] is None for row in found.json["attacks"])
    assert "found" in tripcloak("trajectories", "attack", calls).out


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--kind", "guess"), "home-work"),
        (("--known", "many"), "1..10"),
        (("--known", "0"), "one thing or more"),
        (("--tolerance", 7), "from 0 to 1"),
        (("--precision", "era"), "minute"),
    ],
)
def test_attackers_that_cannot_be(tripcloak, calls, options, words):
    told = tripcloak("trajectories", "attack", calls, *options)
    assert (told.code, told.out) == (2, "")
    assert words in told.words


def test_both_sides_read_call_records_by_the_places_of_base_stations(tripcloak, tmp_path):
    calls, stations = tmp_path / "calls.csv", tmp_path / "stations.csv"
    arguments = ("--users", 60, "--samples", 30, "--antennas", 40, "--days", 4)
    made = tripcloak(*("synth", "cdr", *arguments, "--no-positions", "--stations", stations, "--out", calls))
    assert made.code == 0
    flows = tripcloak(
        *("anonymise", calls, "--stations", stations, "--silence", 7200, "--hierarchy", "h3:5", "--k", 5),
        *("--out", tmp_path / "flows", "--json"),
    )
    assert flows.code == 0
    assert flows.err.startswith("Warning: these are fixes, not trips")
    assert flows.json["audit"]["smallest_support"] >= 5
    described = tripcloak("trajectories", "describe", calls, "--stations", stations, "--json")
    assert described.json["users"] == 60
    assert tripcloak("audit", tmp_path / "flows", "--against", calls).code == 0
    without = tripcloak("trajectories", "describe", calls)
    assert without.code == 2
    assert "--stations" in without.words


def test_each_region_is_shown_and_told_by_itself(tripcloak, tmp_path):
    towns = ((40.7, -74.1), (48.8, 2.3))
    lines = [
        f"p{town}{who},{1_714_550_400 + 600 * at + 60 * (who % 3)},{lat + 0.001 * ((who + at) % 4)},{lon}"
        for town, (lat, lon) in enumerate(towns)
        for who in range(12)
        for at in range(3)
    ]
    path = tmp_path / "fixes.csv"
    path.write_text("\n".join(["user_id,timestamp,lat,lon", *lines]))
    asked = ("trajectories", "anonymise", path, "--method", "glove", "--k", 2, "--regions")
    told = tripcloak(*asked, "auto", "--out", tmp_path / "found", "--json")
    assert [region["users"] for region in told.json["regions"]] == [12, 12]
    shown = tripcloak(*asked, "40,-75,41,-74;48,2,49,3", "--out", tmp_path / "out")
    assert shown.code == 0
    lost = ["Used 36 of 72 fixes. Dropped:", "  fixes.csv: outside the box: 36"]
    boxes = ("40,-75,41,-74", "48,2,49,3")
    assert shown.err.splitlines() == [f"{box}: {line}" for box in boxes for line in lost]
    assert "Region 2 of 2: 48,2,49,3" in shown.out
    assert "The regions hold 72 of 72 fixes" in shown.out
    assert (tmp_path / "out" / "region-2" / "release" / "manifest.json").is_file()
    wrong = tripcloak(*asked, "everywhere", "--out", tmp_path / "wrong")
    assert wrong.code == 2
    assert "expected auto, or boxes" in wrong.err
