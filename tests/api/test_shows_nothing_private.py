"""What results show tells of no person: no id, no raw coordinate, no number below k, no arrays."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import tripcloak as tc
from tripcloak.flows.anonymise import AnonymisationRequest
from tripcloak.flows.anonymise import anonymise as anonymise_flows
from tripcloak.trajectories.release.release import TrajectorySolution

LONGEST = 300


def text_of(card: str) -> str:
    """Return what a card says, without its style and its map."""
    bare = re.sub(r"<style>.*?</style>|<iframe.*?</iframe>", " ", card, flags=re.S)
    return html.unescape(re.sub(r"<[^>]*>", " ", bare))


def ids(table: pa.Table, column: str) -> set[str]:
    return set(table[column].to_pylist())


def degrees(table: pa.Table) -> set[str]:
    """Return all raw coordinates as they would be printed, to four decimals or more."""
    columns = [name for name in table.column_names if name.endswith(("lat", "lon"))]
    return {f"{value:.4f}"[:-1] for name in columns for value in table[name].to_pylist()}


def assert_tells_nothing(shown: str, table: pa.Table, person: str) -> None:
    words = set(re.findall(r"[A-Za-z]\w+", shown))
    assert words.isdisjoint(ids(table, person))
    numbers = set(re.findall(r"-?\d+\.\d{3}", shown))
    assert numbers.isdisjoint(degrees(table))
    assert "array(" not in shown


@pytest.fixture(scope="module")
def saved(trips: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("saved")
    tc.anonymise(trips, zones="h3:7", out=place / "out")
    return place / "out"


@pytest.fixture(scope="module")
def shown(
    release: tc.ReleasedFlows, tracks: tc.ReleasedTrajectories, trips: pd.DataFrame, calls: Any, saved: Path
) -> dict[str, Any]:
    """Everything that a verb or a release gives."""
    return {
        "release": release,
        "opened": tc.open(saved),
        "private": release.private,
        "map": release.map(),
        "audit": tc.audit(saved, against=trips),
        "broken audit": tc.audit(saved, against=trips, k=50),
        "measures": release.measures(),
        "summary": tc.describe(trips, zones="h3:7"),
        "segments": tc.anonymise(trips, k=5, zones="h3:6", segment="sex", draws=0),
        "comparison": tc.compare(trips, methods="oigh,suppression", zones="h3:6", k=5),
        "tracks": tracks,
        "private tracks": tracks.private,
        "measures of tracks": tracks.measures(),
        "summary of tracks": tc.trajectories.describe(calls),
        "comparison of tracks": tc.trajectories.compare(calls, methods="k-scale"),
    }


def test_reprs_are_short_and_tell_nothing(shown: dict[str, Any], city: pa.Table, calls: pa.Table) -> None:
    for name, result in shown.items():
        assert len(repr(result)) < LONGEST, name
        assert_tells_nothing(repr(result), city, "person_id")
        assert_tells_nothing(repr(result), calls, "user_id")


def test_cards_tell_nothing(shown: dict[str, Any], city: pa.Table, calls: pa.Table) -> None:
    for result in shown.values():
        if hasattr(result, "_repr_html_"):
            card = result._repr_html_()
            assert_tells_nothing(text_of(card), city, "person_id")
            assert_tells_nothing(text_of(card), calls, "user_id")
            # The map is of released numbers; here it must not be of anything else.
            assert ids(city, "person_id").isdisjoint(re.findall(r"p\d{7}", card))


COUNTED = r"([\d,]+)\s+(trips|travellers|flows|people|samples|population|rows|fixes)\b"


@pytest.mark.parametrize("k", [5, 10, 30])
def test_no_number_below_k_is_shown(k: int, trips: pd.DataFrame) -> None:
    """Of a city so small that whatever is withheld, dropped or left over is a small number."""
    few = trips.iloc[:1200].copy()
    few.loc[few.index[:3], "start_lat"] = np.nan
    release = tc.anonymise(few, k=k, zones="h3:6", suppress=0.3)
    dropped = release.private.run["cleaning"]["dropped"]["missing_coordinate"]
    assert dropped == 3
    assert release.facts["dropped_rows"] == {}
    for told in (repr(release), text_of(release._repr_html_()), repr(release.private)):
        for number, what in re.findall(COUNTED, told):
            if what not in {"flows"}:
                assert int(number.replace(",", "")) >= k, (number, what)
    summary = tc.describe(few.iloc[:60], k=k, zones="h3:6")
    assert min(summary.table.flows) < 10
    numbers = [number for number, _ in re.findall(COUNTED, repr(summary))]
    # Facts are numbers, and the second column of the table is one of flows.
    card = summary._repr_html_()
    numbers += re.findall(r"<dd>([\d,]+)", card) + re.findall(r"<tr><td>\d+</td><td>([\d,]+)</td>", card)
    assert len(numbers) > 3
    assert all(int(number.replace(",", "")) >= 10 for number in numbers)


def engine_objects(release: tc.ReleasedFlows, tracks: tc.ReleasedTrajectories) -> Iterator[Any]:
    made, walked = release.private.made, tracks.private.made
    matrix = made.matrix
    yield from (made, made.request, made.reading, made.reading.trips, matrix, matrix.flows, made.release)
    yield from (
        matrix.origins,
        matrix.origins.zones,
        matrix.origins.lineage,
        made.audit,
        made.release.promise,
    )
    yield from (made.reading.trips.canonical, made.reading.trips.canonical.opened)
    yield from (walked, walked.request, walked.reading, walked.reading.trajectories, walked.release)
    yield from (walked.release.boxes, walked.named, walked.named.published, walked.measures)
    yield TrajectorySolution(*(getattr(walked.release, name) for name in TrajectorySolution._fields))


def test_objects_of_the_engine_show_no_arrays(
    release: tc.ReleasedFlows, tracks: tc.ReleasedTrajectories, city: pa.Table, calls: pa.Table
) -> None:
    for one in engine_objects(release, tracks):
        assert len(repr(one)) < 1000, type(one)
        assert_tells_nothing(repr(one), city, "person_id")
        assert_tells_nothing(repr(one), calls, "user_id")


def test_what_a_request_gives_is_as_short(trips_file: Path, tmp_path: Path) -> None:
    asked = AnonymisationRequest(
        source=tc.TripSource(paths=(str(trips_file),)),
        zoning=tc.Zoning(spec="h3:7"),
        method=tc.TwinCut(),
        out=tmp_path / "out",
    )
    assert len(repr(anonymise_flows(asked))) < LONGEST
    from tripcloak.comparing.compare import compare

    plan = tc.ComparisonPlan(source=asked.source, zoning=asked.zoning, methods=("oigh",))
    assert repr(compare(plan)) == "<Comparison: 1 of 1 releases were made>"


def test_private_things_are_behind_private(
    release: tc.ReleasedFlows, tracks: tc.ReleasedTrajectories
) -> None:
    assert {name for name in dir(release) if not name.startswith("_")} == {
        *("audit", "facts", "flows", "map", "measures", "plot", "private", "save", "segments"),
        *("levels", "tables", "to_arrow", "to_polars", "zones"),
    }
    assert len(release.private.groups) == release.private.made.matrix.n_flows
    assert {"groups", "hierarchy", "run", "notes"} <= set(dir(release.private))
    assert list(tracks.private.mapping.columns) == ["user", "trajectory"]
    with pytest.raises(AttributeError, match="has no mapping"):
        release.private.mapping  # noqa: B018
    with pytest.raises(tc.InputError, match="no private table 'flows'"):
        release.private.to_arrow("flows")


def test_a_card_escapes_whatever_it_is_given(trips: pd.DataFrame) -> None:
    evil = "<script>alert(1)</script>"
    zoned = trips.assign(origin_zone="a", destination_zone="b", sex=evil)
    found = tc.anonymise(zoned, k=5, zones="h3:5", segment="sex", draws=0)
    assert evil not in found._repr_html_()
    assert evil not in found[f"sex={evil}"]._repr_html_()
