"""Rules on published tables and manifests at their very edge: one past the line fails, the line holds."""

from __future__ import annotations

import json
from types import SimpleNamespace

import duckdb
import numpy as np
import pytest

from tripcloak.ground.rulebook import BrokenPart, NotPromised, Remark
from tripcloak.trajectories.audit.evidence import TrajectoryEvidence
from tripcloak.trajectories.audit.promise import LARGE, Stated, is_small, read_stated, understand
from tripcloak.trajectories.audit.rules import manifest as on_manifest
from tripcloak.trajectories.audit.rules import samples as on_samples

PROJECTION = "+proj=laea +lat_0=48.9 +lon_0=2.3 +datum=WGS84 +units=m +no_defs"
FACTS = {
    "promise": {"kind": "containment", "k": 2, "sentence": "k = 2: in 2 trajectories"},
    "grid": {"seconds": 60, "metres": 100, "start": 0, "projection": PROJECTION, "clock": "UTC"},
}
ROWS = [
    ["t1", 60, 180, 0, 300, -100, 0],
    ["t1", 180, 240, 100, 200, 0, 100],
    ["t2", 0, 60, 0, 100, 0, 100],
]
TIMES = {1: "t_start", 2: "t_end"}


def case(rows: list[list], facts: dict = FACTS, **more) -> TrajectoryEvidence:
    """Return evidence of a table of samples: who, from and to in seconds, and edges in metres."""
    con = duckdb.connect()
    con.execute("SET TimeZone = 'UTC'")
    con.execute(
        "CREATE TABLE s (row INT, trajectory VARCHAR, t_start TIMESTAMPTZ, t_end TIMESTAMPTZ, x_min BIGINT, "
        "x_max BIGINT, y_min BIGINT, y_max BIGINT)"
    )
    when = "to_timestamp(?)"
    for at, row in enumerate(rows):
        con.execute(f"INSERT INTO s VALUES (?, ?, {when}, {when}, ?, ?, ?, ?)", [at, *row])
    # A table will do for rules on tables: there is no folder that it was read from.
    made = TrajectoryEvidence.__new__(TrajectoryEvidence)
    vars(made).update(facts=facts, con=con, raw=more.get("raw"), ordered=more.get("ordered"), table="s")
    return made


def changed(row: int, column: int, value: object) -> list[list]:
    rows = [list(one) for one in ROWS]
    rows[row][column] = value
    return rows


TABLE_RULES = (
    on_samples.boxes_have_extent,
    on_samples.edges_on_the_grid,
    on_samples.no_overlap_in_time,
    on_samples.ordered_by_pseudonym,
)


def test_boxes_that_are_right_pass():
    assert [rule(case(ROWS)) for rule in TABLE_RULES] == [None] * 4


@pytest.mark.parametrize(("low", "high"), [(1, 2), (3, 4), (5, 6)])
def test_a_box_needs_an_extent_along_every_axis(low, high):
    assert on_samples.boxes_have_extent(case(changed(2, high, ROWS[2][low] + 1))) is None
    assert on_samples.boxes_have_extent(case(changed(2, high, ROWS[2][low]))) is not None


@pytest.mark.parametrize("column", [1, 2, 3, 4, 5, 6])
@pytest.mark.parametrize("off", [1, -1])
def test_every_edge_lies_on_the_grid(column, off):
    value = ROWS[0][column] + off
    assert on_samples.edges_on_the_grid(case(changed(0, column, value))) is not None


def test_steps_of_time_are_counted_from_where_the_grid_begins():
    later = {**FACTS, "grid": {**FACTS["grid"], "start": 60}}
    assert on_samples.edges_on_the_grid(case(ROWS, later)) is None
    finer = {**FACTS, "grid": {**FACTS["grid"], "seconds": 120}}
    assert on_samples.edges_on_the_grid(case(ROWS, finer)) is not None


def test_boxes_may_meet_in_time_and_not_overlap():
    assert on_samples.no_overlap_in_time(case(changed(0, 2, 180))) is None
    assert on_samples.no_overlap_in_time(case(changed(0, 2, 181))) is not None
    # Another trajectory may be at any time.
    assert on_samples.no_overlap_in_time(case(changed(2, 2, 6000))) is None


def test_rows_come_by_pseudonym_and_time():
    for turned in ([ROWS[1], ROWS[0], ROWS[2]], [ROWS[2], ROWS[0], ROWS[1]], [ROWS[0], ROWS[0], ROWS[2]]):
        assert on_samples.ordered_by_pseudonym(case(turned)) is not None


@pytest.mark.parametrize(("people", "words"), [(2, None), (3, "no released"), (1, "more released")])
def test_there_are_as_many_as_people(people, words):
    told = on_samples.as_many_as_people(
        case(ROWS, raw=SimpleNamespace(fixes=SimpleNamespace(n_users=people)))
    )
    assert (told is None) if words is None else words in told


def test_where_samples_move_people_may_be_deleted_and_not_added():
    moves = {"kind": "colocation", "k": 2, "delta": 5.0, "sentence": "(k, delta) = (2, 5 m): 2 together"}
    for people, fine in ((3, True), (2, True), (1, False)):
        raw = SimpleNamespace(fixes=SimpleNamespace(n_users=people))
        told = on_samples.as_many_as_people(case(ROWS, {**FACTS, "promise": moves}, raw=raw))
        assert isinstance(told, Remark) == fine


def test_the_manifest_counts_trajectories_and_samples_in_whole_numbers():
    for told, fine in (
        ({"trajectories": 2, "samples": 3}, True),
        ({"trajectories": 3, "samples": 3}, False),
        ({"trajectories": 2, "samples": 4}, False),
        ({"trajectories": 2.0, "samples": 3}, False),
        ({"trajectories": 2, "samples": 3, "people": 9}, False),
    ):
        assert (on_manifest.manifest_consistent(case(ROWS, {**FACTS, "released": told})) is None) == fine


@pytest.mark.parametrize(("ordered", "fine"), [(None, True), (1, True), (2, True), (3, False)])
def test_no_less_than_ordered_is_promised(ordered, fine):
    assert (on_manifest.promise_valid(case(ROWS, ordered=ordered)) is None) == fine


@pytest.mark.parametrize(
    "entry",
    [
        {"kind": "containment", "k": 1},
        {"kind": "containment", "k": 2.0},
        {"kind": "containment", "k": True},
        {"kind": "containment", "k": 2, "delta": 0.0},
        {"kind": "containment", "k": 2, "l": 2},
        {"kind": "colocation", "k": 2},
        {"kind": "colocation", "k": 2, "delta": -1e-9},
        {"kind": "colocation", "k": 2, "delta": float("inf")},
        {"kind": "colocation", "k": 2, "delta": float("nan")},
        {"kind": "colocation", "k": 2, "delta": True},
        {"kind": "colocation", "k": 2, "delta": "5"},
        {"kind": "colocation", "k": 2, "delta": 5.0, "l": 2},
        {"k": 2},
        "containment",
    ],
    ids=str,
)
def test_a_promise_one_past_the_line_is_none(entry):
    with pytest.raises(BrokenPart):
        read_stated(entry)


def test_a_promise_on_the_line_is_one():
    assert read_stated({"kind": "containment", "k": 2}) == Stated("containment", 2)
    assert read_stated({"kind": "colocation", "k": 2, "delta": 0}) == Stated("colocation", 2, 0)


@pytest.mark.parametrize(
    "grid",
    [
        {"seconds": 0},
        {"metres": 0},
        {"start": 30},
        {"seconds": 60.0},
        {"metres": True},
        {"more": 1},
        {"start": None},
        {"start": 60 * LARGE},
        {"metres": LARGE},
        {"projection": 3},
        {"projection": f"{PROJECTION} +x=1"},
        {"clock": "GMT"},
    ],
    ids=str,
)
def test_a_grid_one_past_the_line_is_none(grid):
    with pytest.raises(BrokenPart):
        understand({**FACTS, "grid": {**FACTS["grid"], **grid}})


def test_a_grid_on_the_line_is_one():
    told = understand({**FACTS, "grid": {**FACTS["grid"], "seconds": 1, "metres": 1, "start": 30}})
    assert (told.seconds, told.metres, told.start) == (1, 1, 30)


def test_no_number_is_longer_than_one_has_to_be():
    assert is_small(LARGE - 1)
    assert is_small(1 - LARGE)
    assert not is_small(LARGE)
    assert not is_small(-LARGE)
    assert not is_small("1")


def test_names_are_short_and_parameters_few():
    plain = on_manifest._are_plain
    assert plain({"a" * 29: 1})
    assert not plain({"a" * 30: 1})
    assert plain({"a": "b" * 29})
    assert not plain({"a": "b" * 30})
    letters = "abcdefghijklmnop"
    assert plain(dict.fromkeys(letters[:15], 1))
    assert not plain(dict.fromkeys(letters[:16], 1))


@pytest.mark.parametrize(
    ("name", "fine"),
    [
        ("t0123456789abcdef", True),
        ("t0123456789abcde", False),
        ("t0123456789abcdef0", False),
        ("t0123456789abcdeF", False),
        ("t0123456789abcdeg", False),
        ("x0123456789abcdef", False),
    ],
)
def test_pseudonyms_are_a_letter_and_sixteen_digits(name, fine):
    raw = SimpleNamespace(fixes=SimpleNamespace(users=np.array(["somebody"])))
    rows = [[name, *row[1:]] for row in ROWS[:2]]
    assert (on_manifest.pseudonyms_fresh(case(rows, raw=raw)) is None) == fine


@pytest.mark.parametrize("user", ["t0123456789abcdef", "0123456789abcdef"])
def test_no_pseudonym_is_an_id(user):
    raw = SimpleNamespace(fixes=SimpleNamespace(users=np.array(["somebody", user])))
    rows = [["t0123456789abcdef", *row[1:]] for row in ROWS[:2]]
    assert "is the id" in on_manifest.pseudonyms_fresh(case(rows, raw=raw))


def ranked(monkeypatch, ranks: list[int], first: list[int] | None = None):
    """Return what is said of these ranks of pseudonyms, of people in the order of their ids."""
    monkeypatch.setattr(TrajectoryEvidence, "whose", np.argsort(ranks))
    instants = np.array(first if first is not None else np.random.default_rng(3).permutation(len(ranks)))
    fixes = SimpleNamespace(instant=instants, offsets=np.arange(len(ranks) + 1))
    return on_manifest.order_tells_nothing(case(ROWS, raw=SimpleNamespace(fixes=fixes)))


def test_the_order_of_ten_is_looked_at_and_that_of_nine_is_not(monkeypatch):
    assert isinstance(ranked(monkeypatch, list(range(9))), Remark)
    assert isinstance(ranked(monkeypatch, list(range(10))), str)
    assert isinstance(ranked(monkeypatch, list(range(10))[::-1]), str)


def test_an_order_by_first_samples_is_found_and_a_drawn_one_is_none(monkeypatch):
    drawn = np.random.default_rng(1).permutation(40).tolist()
    assert isinstance(ranked(monkeypatch, drawn, first=drawn), str)
    assert ranked(monkeypatch, drawn) is None


def test_an_order_that_is_half_right_is_found_among_many(monkeypatch):
    """Among 401 people a correlation of 0.3 is six deviations."""
    random = np.random.default_rng(2)
    noisy = np.argsort(np.argsort(np.arange(401) + random.normal(0, 250, 401))).tolist()
    assert np.corrcoef(noisy, range(401))[0, 1] > 0.3
    assert isinstance(ranked(monkeypatch, noisy), str)
    fainter = np.argsort(np.argsort(np.arange(401) + random.normal(0, 700, 401))).tolist()
    assert abs(np.corrcoef(fainter, range(401))[0, 1]) < 0.3
    assert ranked(monkeypatch, fainter) is None


def part(west=0.0, east=1.0, south=0.0, north=1.0, lon=(0.0, 1.0), lat=(0.0, 1.0)) -> on_samples.DegreesPart:
    """Return a box in degrees around a straight one, whose outline is walked as the rule does."""
    x0, x1, y0, y1 = (np.array([[v]]) for v in (*lon, *lat))
    x, y = on_samples._outline(x0, x1, y0, y1)
    # What lies west of a box is on its other side, once around.
    x = west - on_samples.ROUNDING_TOLERANCE + (x - west + on_samples.ROUNDING_TOLERANCE) % 360.0
    return on_samples.DegreesPart(*(np.array([[v]]) for v in (west, south, east, north)), x, y)


@pytest.mark.parametrize("side", ["west", "south", "east", "north"])
def test_degrees_enclose_to_the_last_digit_and_no_further_out_than_rounding(side):
    edge, outwards = (0.0, -1) if side in {"west", "south"} else (1.0, 1)
    # Three millionths for rounding, and a hundredth and a bit of a box that is one degree wide.
    slack = 0.011003
    for beyond, encloses, tight in (
        (0.0, True, True),
        (-2e-9, False, True),
        (slack - 1e-6, True, True),
        (slack + 1e-6, True, False),
    ):
        given = {side: round(edge + outwards * beyond, 6 if beyond >= 0 else 12)}
        assert bool(on_samples._encloses(part(**given))[0]) == encloses, beyond
        if beyond >= 0:
            assert bool(on_samples._is_tight(part(**given))[0]) == tight, beyond


def test_degrees_are_told_to_six_decimals():
    assert on_samples._is_tight(part(west=-0.000001))[0]
    assert not on_samples._is_tight(part(west=-0.0000001))[0]


def test_companions_of_boxes_are_none():
    assert isinstance(on_samples.companions_reach_k(case(ROWS)), NotPromised)


@pytest.mark.parametrize(
    ("released", "people", "blind", "right", "fine"),
    [
        (1000, 1000, 3, 7, True),
        (1001, 1000, 3, 7, True),
        (1001, 1001, 3, 7, False),
        (999, 1000, 3, 7, False),
        (100, 100, 0, 100, True),
        (100, 100, 0, 101, False),
        (100, 100, -1, 7, False),
        (100, 100, 8, 7, False),
        (100, 100, 7, 7, True),
        (100, 100, 7.0, 8, False),
        (99, 99, 10, 20, True),
        (99, 99, 10, 21, False),
        (99, 99, 11, 20, False),
        (10, 10, 10, 20, True),
        (10, 10, None, None, False),
        (9, 9, None, None, True),
        (9, 9, 10, 20, False),
        (9, 9.0, None, None, False),
    ],
)
def test_a_guess_is_told_of_a_hundred_in_ones_and_of_ten_in_tens(released, people, blind, right, fine):
    told = {"people": people, "right": right, "blind": blind}
    facts = {"guess": {name: told[name] for name in on_manifest.INNER["guess"]}}
    spans, promise = SimpleNamespace(offsets=range(released + 1)), SimpleNamespace(moves=False, profile=None)
    release = SimpleNamespace(facts=facts, spans=spans, manifest=SimpleNamespace(promise=promise))
    assert (on_manifest.guess_told_safely(release) is None) == fine


def test_an_outline_goes_once_around_from_corner_to_corner():
    x, y = on_samples._outline(*(np.array([[float(side)]]) for side in (10, 20, 30, 60)))
    steps = len(on_samples.ALONG)
    corners = list(zip(x[0, ::steps].tolist(), y[0, ::steps].tolist(), strict=True))
    assert corners == [(10, 30), (20, 30), (20, 60), (10, 60)]
    on_edge = np.isin(x, (10, 20)) | np.isin(y, (30, 60))
    assert (on_edge & (x >= 10) & (x <= 20) & (y >= 30) & (y <= 60)).all()


def test_a_page_that_cannot_be_read_is_a_broken_part(tmp_path):
    case = SimpleNamespace(tracks=SimpleNamespace(users=["4f2a9c17"]), public=lambda name: tmp_path / name)
    with pytest.raises(BrokenPart, match="cannot be read"):
        on_manifest.pages_name_nobody(case)
    for name in on_manifest.PAGES:
        (tmp_path / name).write_text("nobody here")
    assert on_manifest.pages_name_nobody(case) is None
    (tmp_path / on_manifest.PAGES[0]).write_text("here is 4f2a9c17")
    assert "id of a person" in on_manifest.pages_name_nobody(case)


@pytest.mark.parametrize("at", range(1, len(on_samples.ALONG)))
def test_a_box_may_be_as_loose_as_any_part_of_its_edges_bends(at):
    around = np.zeros((1, 4 * len(on_samples.ALONG)))
    around[0, at] = 1.0
    bend, low = 2.0, np.array([[0.0]])
    assert on_samples._close(low, np.array([[1 + bend]]), around).all()
    assert not on_samples._close(low, np.array([[1 + bend + 2 * on_samples.MARGIN]]), around).any()


def test_edges_that_meet_at_a_corner_bend_nothing():
    up = np.array(on_samples.ALONG)
    around, low = np.concatenate([up, 1 - up, 0 * up, 0 * up])[None], np.array([[0.0]])
    slack = on_samples.MARGIN + on_samples.SHARE
    assert on_samples._close(low, np.array([[1 + slack - 1e-9]]), around).all()
    assert not on_samples._close(low, np.array([[1 + slack + 1e-9]]), around).any()


WHOLE = {
    "format": 3,
    "kind": "trajectories",
    "version": "0.3.0",
    "method": "kmerge",
    "parameters": {"k": 2},
    **FACTS,
    "counted": {"trajectories": 4},
    "released": {"trajectories": 4, "samples": 9},
    "guess": {"people": 4, "right": 2, "blind": 1},
    "files": {"README.md": "a", "map.html": "b"},
}
WHOLE = {name: WHOLE[name] for name in on_manifest.ORDER if name in WHOLE}


def fault(tmp_path, facts, text=None):
    """Return what is wrong with a manifest, written as it always is if nothing else is said."""
    path = tmp_path / "manifest.json"
    path.write_text(text or json.dumps(facts, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return on_manifest.manifest_whole(SimpleNamespace(facts=facts, public=lambda _: path))


def turned(name):
    """Return a manifest with the entries of one of its parts from back to front."""
    return {**WHOLE, name: dict(reversed(WHOLE[name].items()))}


def test_a_whole_manifest_passes_with_and_without_what_need_not_be_there(tmp_path):
    assert fault(tmp_path, WHOLE) is None
    assert fault(tmp_path, {name: value for name, value in WHOLE.items() if name != "guess"}) is None
    for name in ("counted", "files"):
        assert f"lacks {name}" in fault(tmp_path, {one: value for one, value in WHOLE.items() if one != name})


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({**WHOLE, "note": 1}, "does not know"),
        (dict(reversed(WHOLE.items())), "another order"),
        *[(turned(name), "another order") for name in ("promise", "grid", "released", "guess", "files")],
        ({**WHOLE, "counted": {"trajectories": 4, "note": 1}}, "another order"),
        ({**WHOLE, "guess": [4, 2, 1]}, "named one by one"),
        ({**WHOLE, "version": "0"}, "version"),
        ({**WHOLE, "version": "0.3.0.0.0"}, "version"),
        ({**WHOLE, "method": "kMerge"}, "short name"),
        ({**WHOLE, "method": "m" * 30}, "short name"),
        ({**WHOLE, "parameters": {"Name": 2}}, "parameters"),
        ({**WHOLE, "parameters": dict.fromkeys("abcdefghijklmnop", 1)}, "parameters"),
        ({**WHOLE, "parameters": {"k": "Anna"}}, "parameters"),
    ],
)
def test_one_entry_too_many_or_out_of_place_is_found(tmp_path, facts, words):
    assert words in fault(tmp_path, facts)


def test_names_and_parameters_may_be_as_long_and_as_many_as_that(tmp_path):
    longest = {**WHOLE, "method": "m" * 29, "version": "0.3.0.0"}
    assert fault(tmp_path, {**longest, "parameters": dict.fromkeys("abcdefghijklmno", 1)}) is None


def test_blanks_and_entries_that_stand_there_twice_are_found(tmp_path):
    text = json.dumps(WHOLE, indent=2) + "\n"
    for other in (text + "\n", text.replace('"format"', '"format": 3, "format"'), text[:-1]):
        assert "twice" in fault(tmp_path, WHOLE, other)
    with pytest.raises(BrokenPart, match="values that it should not"):
        fault(tmp_path, {**WHOLE, "parameters": {}, "released": {"samples": float("nan")}})


@pytest.mark.parametrize(
    ("edges", "lats", "tight"),
    [
        ((-180.0, 80.0, 180.0, 90.0), (80.0, 85.0), True),
        ((-180.0, -90.0, 180.0, -80.0), (-85.0, -80.0), True),
        # It ends beside the pole, further out than any of its edges.
        ((-180.0, 80.0, 180.0, 89.9), (80.0, 85.0), False),
        ((-180.0, -89.9, 180.0, -80.0), (-85.0, -80.0), False),
        ((-180.0, 79.0, 180.0, 90.0), (80.0, 85.0), False),
        ((-180.0, 80.0, 181.0, 90.0), (80.0, 85.0), False),
        ((-179.0, 80.0, 181.0, 90.0), (80.0, 85.0), False),
    ],
)
def test_around_a_pole_a_box_goes_up_to_it_and_no_further_down_than_its_edges(edges, lats, tight):
    up = (lats[1] - lats[0]) * np.array(on_samples.ALONG)
    ring = np.concatenate([lats[0] + up, lats[1] - up] * 2)[None]
    west, south, east, north = (np.array([[side]]) for side in edges)
    part = on_samples.DegreesPart(west, south, east, north, np.zeros_like(ring), ring)
    assert on_samples._is_tight(part).tolist() == [tight]
