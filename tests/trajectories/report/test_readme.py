"""The README of released trajectories: true to the manifest, and its examples run."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tripcloak.trajectories.report.readme import render_trajectory_readme
from worlds.released_trajectories import COUNTED, written
from worlds.trajectories import made, random_release

FACTS: dict[str, Any] = {
    "kind": "trajectories",
    "version": "1.2.3",
    "method": "k-scale",
    "promise": {"kind": "containment", "k": 7},
    "counted": COUNTED,
    "grid": {
        "seconds": 60,
        "metres": 100,
        "start": 0,
        "projection": "+proj=laea +lat_0=1 +lon_0=2",
        "clock": "UTC",
    },
    "released": {"trajectories": 1234, "samples": 56789},
}
MOVED = FACTS | {"method": "w4m", "promise": {"kind": "colocation", "k": 7, "delta": 1000.0}}


def plain(text: str) -> str:
    return re.sub(r"\s+", " ", text)


def test_a_title_is_shown_letter_by_letter() -> None:
    text = render_trajectory_readme(FACTS | {"title": "<b>[Calls](http://example.org)</b>"})
    assert text.startswith("# &lt;b&gt;\\[Calls\\](http://example.org)&lt;/b&gt;\n")


def test_it_says_what_was_done_and_what_is_promised() -> None:
    text = plain(render_trajectory_readme(FACTS))
    for words in (
        "tripcloak 1.2.3, method `k-scale`, k = 7",
        "finds at least 7 released trajectories that fit",
        "Released trajectories: 1,234",
        "Released samples: 56,789",
        "60 seconds and 100 metres",
        "`+proj=laea +lat_0=1 +lon_0=2`",
    ):
        assert words in text


@pytest.mark.parametrize(
    ("guess", "words"),
    [
        ((1000, 62, 19), "names the right trajectory for about 62 in 100 people (a blind guess for 19)"),
        ((99, 70, 20), "names the right trajectory for up to 70 in 100 people (a blind guess for 20)"),
        ((9, None, None), "not told of so few people"),
    ],
)
def test_it_says_how_often_a_guess_is_right(guess: tuple[int | None, ...], words: str) -> None:
    told = dict(zip(("people", "right", "blind"), guess, strict=True))
    assert words in plain(render_trajectory_readme(FACTS | {"guess": told}))
    assert "simple guess by" not in render_trajectory_readme(MOVED)


def test_it_says_what_is_not_promised() -> None:
    text = plain(render_trajectory_readme(FACTS))
    for words in (
        "homogeneity",
        "down to two",
        "edges of a box come from the samples",
        "in the data",
        "this release alone",
    ):
        assert words in text


@pytest.mark.parametrize("constraint", ["nu-k-pick", "k-pick", "full"])
def test_it_says_whether_those_that_fit_are_equally_likely(constraint: str) -> None:
    text = plain(render_trajectory_readme(FACTS | {"parameters": {"constraint": constraint}}))
    unlike = constraint != "full"
    assert (f"**not equally likely** (constraint `{constraint}`)" in text) == unlike
    assert ("much more often than one time in 7" in text) == unlike
    assert ("identical to at least 6 others" in text) == (not unlike)
    assert "singled out" not in text


def test_groups_of_glove_are_identical_and_what_is_unknown_is_not() -> None:
    assert "identical to at least 6 others" in plain(render_trajectory_readme(FACTS | {"method": "glove"}))
    assert "not equally likely" in plain(render_trajectory_readme(FACTS))


def test_its_promise_is_about_samples_that_were_kept() -> None:
    assert plain(render_trajectory_readme(FACTS)).count("kept when the data was read") == 2


def test_moved_samples_have_a_promise_of_their_own() -> None:
    text = plain(render_trajectory_readme(MOVED))
    assert "at least 6 others within 1,000 metres" in text
    assert "weaker promise" in text
    assert "finds at least" not in text
    assert "may be moved, or made up" in text


@pytest.mark.parametrize("left_out", [(), ("trajectories.geojson", "trajectories.mfjson")])
def test_it_names_the_files_that_are_there_and_those_that_are_not(left_out: tuple[str, ...]) -> None:
    text = render_trajectory_readme(FACTS | ({"left_out": list(left_out)} if left_out else {}))
    for name in ("trajectories.geojson", "trajectories.mfjson"):
        assert f"- `{name}`" not in text if name in left_out else f"- `{name}`" in text
    assert ("Not here" in text) == bool(left_out)
    assert ("drag `trajectories.geojson`" in text) == (not left_out)


def test_its_query_runs_and_its_columns_are_those_of_the_table(tmp_path: Path) -> None:
    people = made(users=6, samples=6)
    out = written(tmp_path / "out", people, random_release(people))
    text = (out / "release" / "README.md").read_text(encoding="utf-8")
    query = re.search(r"```sql\n(.*?)```", text, re.DOTALL)
    assert query is not None
    table = out / "release" / "samples.parquet"
    with duckdb.connect() as con:
        start = con.sql(f"SELECT min(t_start) AS start FROM '{table}'").to_arrow_table()["start"][0].as_py()
        moment = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ", start.isoformat(), query[1])
        found = con.sql(moment.replace("samples.parquet", str(table))).to_arrow_table()
    assert len(found) >= 1
    listed = re.search(r"one row per released sample(.*?)\n- `", text, re.DOTALL)
    assert listed is not None
    named = re.findall(r"`(\w+)`", "\n".join(re.findall(r"^  - ([^:]+):", listed[1], re.MULTILINE)))
    assert named == found.column_names
