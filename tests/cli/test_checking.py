"""tripcloak audit and tripcloak metrics: exit codes and words, on honest releases and on others."""

from __future__ import annotations

import json
import shutil

import pytest

from tripcloak.cli.run import run
from worlds.trips import leaks, some_trips, write_csv, write_zones, zone_trips


@pytest.fixture(scope="module")
def made_once(tmp_path_factory):
    """A release of the trips at k = 10, for all tests."""
    home = tmp_path_factory.mktemp("made")
    file = write_csv(home / "trips.csv", some_trips())
    assert run(["anonymise", str(file), "--out", str(home / "out"), "--method", "odkanon"]) == 0
    return home / "out"


@pytest.fixture
def made(made_once, tmp_path, trips):
    """A copy of it, beside the trips."""
    return shutil.copytree(made_once, tmp_path / "out")


def test_an_honest_release_is_safe(tripcloak, made, trips):
    told = tripcloak("audit", made, "--against", trips)
    assert (told.code, told.err) == (0, "")
    assert "Safe: every rule holds." in told.out
    assert "BROKEN" not in told.out


@pytest.mark.one_in(2)
@pytest.mark.parametrize("spec", ["h3:8", "h3:9/root=5", "quadtree:7", "dendrogram", "table:county"])
@pytest.mark.parametrize("method", ["odkanon", "twincut", "productcut"])
def test_so_is_one_of_every_hierarchy(tripcloak, tmp_path, trips, spec, method):
    file, zones = trips, []
    if spec.startswith(("dendrogram", "table")):
        file = write_csv(tmp_path / "zoned.csv", zone_trips())
        zones = ["--zones", write_zones(tmp_path / "zones.csv")]
    order = ("--hierarchy", spec, *zones, "--method", method, "--out", tmp_path / "out")
    assert tripcloak("anonymise", file, *order).code == 0
    told = tripcloak("audit", tmp_path / "out", "--against", file, "--json")
    assert told.code == 0, told.out
    assert told.json["safe"] is True


def test_an_order_for_more_people_is_not_met(tripcloak, made, trips):
    told = tripcloak("audit", made, "--against", trips, "--k", 20)
    assert told.code == 1
    assert "BROKEN" in told.out
    assert "every-group-safe" in told.out
    assert "NOT SAFE: do not publish." in told.out
    assert tripcloak("audit", made, "--against", trips, "--k", 10).code == 0
    assert tripcloak("audit", made, "--against", trips, "--k", 5).code == 0


def test_an_order_for_readers_who_know_all_is_not_met_for_those_who_know_less(tripcloak, tmp_path, trips):
    out = tmp_path / "out"
    assert tripcloak("anonymise", trips, "--method", "km-apriori", "--m", 1, "--k", 5, "--out", out).code == 0
    told = tripcloak("audit", out, "--against", trips)
    assert told.code == 0, told.out
    assert "not promised of a flow alone" in " ".join(told.out.replace("│", " ").split())
    assert tripcloak("audit", out, "--against", trips, "--k", 5).code == 1
    assert tripcloak("audit", out, "--against", trips, "--k", 5, "--m", 1).code == 0
    assert tripcloak("audit", out, "--against", trips, "--m", 1).code == 2


def test_another_input_breaks_rules_and_names_them(tripcloak, made, tmp_path, rows):
    others = some_trips(seed=99)
    file = write_csv(tmp_path / "other.csv", others)
    told = tripcloak("audit", made, "--against", file, "--json")
    assert told.code == 1
    broken = {finding["rule"] for finding in told.json["findings"] if not finding["ok"]}
    assert {"flows-match-recount", "every-flow-accounted", "totals-add-up"} <= broken
    assert leaks(told.out, [*rows, *others]) == []


def test_the_verdict_comes_first_and_what_is_broken_is_said_again_at_the_end(tripcloak, made, trips):
    lines = tripcloak("audit", made, "--against", trips).out.strip().splitlines()
    assert lines[0].startswith("Safe: every rule holds. ")
    told = tripcloak("audit", made, "--against", trips, "--k", 20)
    first, last = told.out.strip().splitlines()[0], told.out.strip().splitlines()[-1]
    assert first == last
    assert first.startswith("NOT SAFE: do not publish. ")
    assert first.endswith("every-group-safe.")
    ending = told.out[told.out.index("\nBroken:\n") :]
    assert "every-group-safe: the manifest promises less than the 20 travellers that were ordered" in ending
    assert "digests-match" not in ending


def test_what_nobody_promised_is_not_called_ok(tripcloak, made, trips):
    states = {
        finding["rule"]: (finding["state"], finding["ok"])
        for finding in tripcloak("audit", made, "--against", trips, "--json").json["findings"]
    }
    for rule in ("zones-diverse", "destinations-close", "noise-as-stated", "segments-safe"):
        assert states[rule] == ("not promised", True)
    for rule in ("every-group-safe", "zones-disjoint", "digests-match"):
        assert states[rule] == ("ok", True)
    ordered = tripcloak("audit", made, "--against", trips, "--l", 2, "--json").json["findings"]
    assert {one["rule"]: one["state"] for one in ordered}["zones-diverse"] == "broken"


def test_another_file_is_called_that_and_audited_all_the_same(tripcloak, made, tmp_path, trips, rows):
    assert tripcloak("audit", made, "--against", trips, "--json").json["same_input"] is True
    copied = tmp_path / "copied.csv"
    copied.write_bytes(trips.read_bytes())
    assert tripcloak("audit", made, "--against", copied, "--json").json["same_input"] is True
    # The same trips in another order, and still another file.
    write_csv(copied, rows[::-1])
    told = tripcloak("audit", made, "--against", copied)
    assert told.code == 0
    assert "this is not the file it was made from" in told.out
    other = tripcloak(
        "audit", made, "--against", write_csv(tmp_path / "other.csv", some_trips(seed=99)), "--json"
    )
    assert (other.code, other.json["same_input"]) == (1, False)
    assert any("not the file it was made from" in note for note in other.json["notes"])


def test_a_changed_file_is_named(tripcloak, made, trips):
    (made / "release" / "flows.csv").write_text("origin,destination,trips,travellers\n")
    told = tripcloak("audit", made, "--against", trips)
    assert told.code == 1
    assert "flows.csv" in told.out


@pytest.mark.parametrize("command", ["audit", "metrics"])
@pytest.mark.parametrize("part", ["", "/", "/release", "/release/"])
def test_a_release_is_found_by_its_folder_or_its_public_part(tripcloak, made, trips, command, part):
    told = tripcloak(command, f"{made}{part}", "--against", trips, "--json")
    assert (told.code, told.err) == (0, "")


@pytest.mark.parametrize("command", ["audit", "metrics"])
@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"format": "tripcloak release 1"}, "tripcloak 0.1 reads"),
        ({"format": "tripcloak release 7"}, "update tripcloak"),
        ({"format": "something else"}, "not a manifest of tripcloak"),
    ],
)
def test_a_release_of_another_format_says_what_to_do(tripcloak, made, trips, command, change, words):
    path = made / "release" / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    told = tripcloak(command, made, "--against", trips)
    assert (told.code, told.out) == (2, "")
    assert words in told.words


@pytest.mark.parametrize("command", ["audit", "metrics"])
def test_what_cannot_be_checked_is_bad_input(tripcloak, made, tmp_path, trips, command):
    bare = write_csv(tmp_path / "bare.csv", [{"a": "1"}])
    for folder, against, words in [
        (tmp_path / "none", trips, "holds no release"),
        (trips, trips, "holds no release"),
        (tmp_path, trips, "holds no release"),
        (made, tmp_path / "none.csv", "no file"),
        (made, bare, "missing columns"),
    ]:
        told = tripcloak(command, folder, "--against", against)
        assert (told.code, told.out) == (2, "")
        assert words in told.words


@pytest.mark.parametrize("options", [["--k", "1"], ["--k", "nan"], ["--memory", "x"]])
def test_bad_options_of_audit(tripcloak, made, trips, options):
    told = tripcloak("audit", made, "--against", trips, *options)
    assert (told.code, told.out) == (2, "")


@pytest.mark.parametrize("command", ["audit", "metrics"])
def test_the_raw_input_must_be_named(tripcloak, made, command):
    told = tripcloak(command, made)
    assert told.code == 2
    assert "--against" in told.words


def test_metrics_are_those_that_anonymise_told(tripcloak, tmp_path, trips):
    first = tripcloak("anonymise", trips, "--out", tmp_path / "out", "--json")
    again = tripcloak("metrics", tmp_path / "out", "--against", trips, "--json")
    assert (again.code, again.err) == (0, "")
    assert again.json == dict.fromkeys(("measures", "metrics"), first.json["metrics"])
    words = tripcloak("metrics", tmp_path / "out", "--against", trips).out
    assert all(name in words for name in first.json["metrics"])


def test_metrics_of_another_input_are_refused(tripcloak, made, tmp_path, rows):
    others = some_trips(seed=99)
    told = tripcloak("metrics", made, "--against", write_csv(tmp_path / "other.csv", others))
    assert (told.code, told.out) == (2, "")
    assert "another input" in told.words
    assert leaks(told.err, [*rows, *others]) == []


@pytest.mark.parametrize(
    ("volume", "words"), [("people", "trips or population"), ("population", "no population")]
)
def test_metrics_on_a_volume_that_is_not_there(tripcloak, tmp_path, volume, words):
    file = write_csv(tmp_path / "zoned.csv", zone_trips())
    zones = write_zones(tmp_path / "zones.csv")
    order = ("--hierarchy", "table:county", "--zones", zones, "--out", tmp_path / "out")
    assert tripcloak("anonymise", file, *order, "--method", "odkanon").code == 0
    told = tripcloak("metrics", tmp_path / "out", "--against", file, "--volume", volume)
    assert (told.code, told.out) == (2, "")
    assert words in told.words


def test_several_inputs_are_given_as_several(tripcloak, tmp_path, rows):
    parts = [write_csv(tmp_path / f"part{n}.csv", rows[n::2]) for n in range(2)]
    assert tripcloak("anonymise", *parts, "--out", tmp_path / "out").code == 0
    both = [word for part in parts for word in ("--against", part)]
    assert tripcloak("audit", tmp_path / "out", *both).code == 0
    assert tripcloak("audit", tmp_path / "out", "--against", tmp_path / "part*.csv").code == 0
    assert tripcloak("audit", tmp_path / "out", "--against", parts[0]).code == 1


def test_the_options_of_reading_are_remembered(tripcloak, tmp_path, rows):
    renamed = [{f"x_{name}": value for name, value in row.items()} for row in rows]
    file = write_csv(tmp_path / "trips.csv", renamed)
    flags = ["--origin-lat", "x_start_lat", "--origin-lon", "x_start_lon", "--destination-lat", "x_end_lat"]
    flags += ["--destination-lon", "x_end_lon", "--person", "x_person_id", "--where", "x_weight > '1'"]
    assert tripcloak("anonymise", file, *flags, "--out", tmp_path / "out").code == 0
    assert tripcloak("audit", tmp_path / "out", "--against", file).code == 0
    assert tripcloak("metrics", tmp_path / "out", "--against", file).code == 0
    source = json.loads((tmp_path / "out" / "private" / "run.json").read_text())["source"]
    assert source["columns"]["person"] == "x_person_id"
    assert source["where"] == "x_weight > '1'"


def test_an_order_on_the_part_of_one_traveller_is_not_met_where_nothing_is_promised(
    tripcloak, made, trips, tmp_path
):
    against = ("audit", made, "--against", trips)
    told = tripcloak(*against, "--dominance", "50%", "--json")
    assert told.code == 1
    broken = [finding["rule"] for finding in told.json["findings"] if not finding["ok"]]
    assert broken == ["no-traveller-dominates"]
    assert tripcloak(*against, "--p-percent", 10).code == 1
    for wrong in (("--dominance", 1), ("--dominance", 0), ("--p-percent", 0), ("--p-percent", 100.5)):
        assert tripcloak(*against, *wrong).code == 2
    assert tripcloak("keygen", tmp_path / "publisher").code == 0
    signed = tripcloak(*against, "--p-percent", 10, "--sign", tmp_path / "publisher.key")
    assert "what is signed is what the release promises" in signed.words
