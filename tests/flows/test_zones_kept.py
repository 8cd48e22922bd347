"""Releases in the zones of an earlier one: the whole road, on every kind of zones, and what is refused."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tripcloak.flows.anonymise import AnonymisationRequest, anonymise
from tripcloak.flows.checking import audit_against, check_flows, measure_against
from tripcloak.flows.keywords import flow_method, keywords, zoning
from tripcloak.flows.model.kept import ZoneMembers, members_digest
from tripcloak.flows.release.keeping import COPY, _members
from tripcloak.ground.errors import ImpossibleRequestError, InputError
from tripcloak.ground.folders import file_digest, json_text
from tripcloak.ground.options import values_of
from tripcloak.ground.rulebook import Verdict
from tripcloak.ledger.difference import difference
from tripcloak.records.source import TripSource
from worlds.trips import some_trips, write_csv, write_zones, zone_trips

KINDS: dict[str, dict[str, Any]] = {
    "cuts of h3": {"hierarchy": "h3:8"},
    "unions of h3": {"hierarchy": "h3:9/binary"},
    "products of a quadtree": {"hierarchy": "quadtree:5", "method": "productcut"},
    "boxes": {"hierarchy": "h3:9", "method": "mondrian"},
    "times": {"hierarchy": "h3:7", "method": "productcut", "time_slot": "6h", "fold": "day"},
    "slots apart": {"hierarchy": "h3:7", "slot": "12h", "fold": "day"},
}


@dataclass(frozen=True)
class Months:
    """Two inputs, the release of the first, and where to put others."""

    may: Path
    june: Path
    folder: Path

    def release(self, out: str, source: Path, **given: Any) -> Path:
        """Return the folder of a release by keywords."""
        values = values_of(keywords("anonymise"), {"k": 3, "suppress": 0.3, **given})
        zones = zoning(values)
        anonymise(
            AnonymisationRequest(
                source=TripSource(paths=(str(source),)),
                zoning=zones,
                method=flow_method(values, zones.kept),
                out=self.folder / out,
            )
        )
        return self.folder / out


@pytest.fixture(scope="module")
def months(tmp_path_factory: pytest.TempPathFactory) -> Months:
    folder = tmp_path_factory.mktemp("months")
    may = write_csv(folder / "may.csv", some_trips(900, seed=1))
    june = write_csv(folder / "june.csv", some_trips(700, seed=2))
    return Months(may, june, folder)


@pytest.fixture(scope="module")
def cuts(months: Months) -> tuple[Path, Path]:
    """A release, and one in its zones."""
    earlier = months.release("first", months.may, hierarchy="h3:8")
    return earlier, months.release("second", months.june, zones_from=str(earlier), suppress=0.6)


def pairs(folder: Path) -> set[tuple[Any, ...]]:
    flows = pq.read_table(folder / "release" / "flows.parquet")
    axes = [axis for axis in ("origin", "destination", "time") if axis in flows.column_names]
    return set(zip(*(flows[axis].to_pylist() for axis in axes), strict=True))


def broken(verdict: Verdict) -> list[str]:
    return [one.rule for one in verdict.findings if not one.ok]


@pytest.mark.one_in(2)
@pytest.mark.parametrize("kind", KINDS)
def test_a_release_in_kept_zones_passes_every_audit(kind: str, months: Months) -> None:
    name = kind.replace(" ", "-")
    earlier = months.release(f"{name}-may", months.may, **KINDS[kind])
    later = months.release(f"{name}-june", months.june, zones_from=str(earlier / "release"), suppress=0.8)
    sides = [set(zones) for zones in zip(*pairs(earlier), strict=True)]
    for row in pairs(later):
        assert all(zone in side for zone, side in zip(row, sides, strict=True))
    facts = json.loads((later / "release" / "manifest.json").read_text())
    if not facts["homogeneous"]:
        assert pairs(later) <= pairs(earlier)
    assert facts["method"] == "fixed-zones"
    assert facts["parameters"]["zones_from"] == file_digest(earlier / "release" / "manifest.json")
    verdict = audit_against(later, (str(months.june),), earlier=earlier)
    assert broken(verdict) == []
    assert measure_against(later, (str(months.june),))["G"] == pytest.approx(facts["measures"]["G"])
    told = (later / "release" / "README.md").read_text()
    assert facts["parameters"]["zones_from"] in told
    assert str(earlier) not in told
    assert str(earlier) not in json.dumps(facts)


def test_a_zone_that_the_data_fill_in_part_only_keeps_its_name_and_size(months: Months) -> None:
    """A tree over one corner of a town would begin below the zone: it is held there all the same."""
    earlier = months.release("coarse", months.may, hierarchy="h3:9", k=30)
    corner = some_trips(60, seed=5)
    narrow = write_csv(months.folder / "narrow.csv", [{**row, **_near(corner[0])} for row in corner])
    later = months.release("narrow", narrow, zones_from=str(earlier), k=5)
    was, now = (
        {(row["axis"], row["zone"]): row["tiles"] for row in table.to_pylist()}
        for table in (pq.read_table(one / "release" / "zones.parquet") for one in (earlier, later))
    )
    assert now.items() <= was.items()
    assert max(now.values()) > 1
    assert broken(audit_against(later, (str(narrow),), earlier=earlier)) == []


def _near(row: dict[str, str]) -> dict[str, str]:
    return {name: row[name] for name in ("start_lat", "start_lon", "end_lat", "end_lon")}


def test_another_tile_resolution_or_slot_is_refused_and_says_what_to_give(
    cuts: tuple[Path, Path], months: Months
) -> None:
    for given, words in {
        ("hierarchy", "h3:9"): "was made with hierarchy='?h3:8",
        ("time_slot", "1h"): "knows no time_slot",
        ("method", "productcut"): "nothing to choose",
        ("loss", "area"): "nothing to choose",
        ("t", 0.3): "zones are kept",
    }.items():
        with pytest.raises(InputError, match=words):
            months.release("never", months.june, zones_from=str(cuts[0]), **dict([given]))
    assert not (months.folder / "never").exists()
    same = months.release("same", months.june, zones_from=str(cuts[0]), hierarchy="h3:8", suppress=0.6)
    assert pairs(same) == pairs(cuts[1])


def test_a_limit_that_the_kept_zones_break_writes_nothing(cuts: tuple[Path, Path], months: Months) -> None:
    with pytest.raises(ImpossibleRequestError, match="nothing was written"):
        months.release("never", months.june, zones_from=str(cuts[0]), k=35, suppress=0.0)
    assert not (months.folder / "never").exists()


def test_what_lends_no_zones_is_told(cuts: tuple[Path, Path], months: Months, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no release"):
        months.release("never", months.june, zones_from=str(tmp_path))
    touched = tmp_path / "touched"
    shutil.copytree(cuts[0], touched)
    (touched / "release" / "flows.csv").write_text("origin\n")
    with pytest.raises(InputError, match=r"changed since .*flows\.csv"):
        months.release("never", months.june, zones_from=str(touched))


def test_zones_of_a_file_must_be_the_same_file(months: Months, tmp_path: Path) -> None:
    zones = write_zones(tmp_path / "zones.csv")
    may, june = (write_csv(tmp_path / f"{n}.csv", zone_trips(900, seed=n)) for n in (2, 3))
    earlier = months.release("file", may, hierarchy="dendrogram", zones=str(zones))
    later = months.release("file-june", june, zones_from=str(earlier), suppress=0.5)
    assert broken(audit_against(later, (str(june),), earlier=earlier)) == []
    alone = tmp_path / "alone"
    shutil.copytree(earlier / "release", alone)
    with pytest.raises(InputError, match="give that file with zones"):
        months.release("never", june, zones_from=str(alone))
    other = write_zones(tmp_path / "other.csv", seed=9)
    with pytest.raises(InputError, match="other tiles or places"):
        months.release("never", june, zones_from=str(alone), zones=str(other))
    months.release("from-public", june, zones_from=str(alone), zones=str(zones), suppress=0.5)


def _forge(change: Callable[[dict[str, Any]], None], folder: Path) -> None:
    path = folder / "release" / "manifest.json"
    facts = json.loads(path.read_text())
    change(facts)
    path.write_text(json_text(facts))


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        (lambda facts: facts["parameters"].update(zones_from="0" * 64), "method-known"),
        (lambda facts: facts["parameters"].update(zones_from="x"), "zones-kept"),
        (lambda facts: facts["parameters"].pop("zones_from"), "zones-kept"),
        (lambda facts: facts.update(method="suppression"), "zones-kept"),
        (lambda facts: facts["parameters"].update(levels=3), "method-known"),
    ],
    ids=["another digest", "no digest", "left out", "another method", "one more"],
)
def test_what_is_forged_about_kept_zones_is_caught(
    change: Callable[[dict[str, Any]], None],
    rule: str,
    cuts: tuple[Path, Path],
    months: Months,
    tmp_path: Path,
) -> None:
    forged = tmp_path / "forged"
    shutil.copytree(cuts[1], forged)
    _forge(change, forged)
    assert rule in broken(audit_against(forged, (str(months.june),)))


def test_zones_are_compared_with_the_release_that_they_are_from(
    cuts: tuple[Path, Path], months: Months, tmp_path: Path
) -> None:
    earlier, later = cuts

    def told(folder: Path, other: Path | None) -> tuple[bool, str]:
        (one,) = [one for one in check_flows(folder, earlier=other) if one.rule == "zones-kept"]
        return one.ok, one.words

    assert told(later, earlier / "release")[0]
    assert told(later, None)[0]
    assert "give it with zones_from" in told(later, None)[1]
    assert told(later, later) == (
        False,
        "the zones are said to be from another release than the one that was given",
    )
    assert told(earlier, later)[0] is False
    assert told(earlier, None) == (True, "not promised: no zones are said to be those of an earlier release")
    # The same digest, but fewer zones than were released since.
    poorer = tmp_path / "poorer"
    shutil.copytree(earlier / "release", poorer)
    flows = pq.read_table(poorer / "flows.parquet")
    released = {row[0] for row in pairs(later)}
    left = [
        row for row, origin in enumerate(flows["origin"].to_pylist()) if origin not in {*sorted(released)[:1]}
    ]
    pq.write_table(flows.take(left), poorer / "flows.parquet")
    facts = json.loads((poorer / "manifest.json").read_text())
    facts["files"]["flows.parquet"] = file_digest(poorer / "flows.parquet")
    (poorer / "manifest.json").write_text(json_text(facts))
    forged = tmp_path / "forged"
    shutil.copytree(later, forged)
    digest = file_digest(poorer / "manifest.json")
    _forge(lambda facts: facts["parameters"].update(zones_from=digest), forged)
    assert told(forged, poorer)[0] is False
    assert "that the earlier release does not have" in told(forged, poorer)[1]


def test_there_is_nothing_to_subtract_between_kept_zones(months: Months) -> None:
    """The same trips by two thresholds: zones of their own give facts away, those of the first do not.

    Steps in which either tells its travellers do all the same.
    """
    first = months.release("four", months.may, hierarchy="h3:9/binary", k=4, suppress=0.1)
    own = months.release("six", months.may, hierarchy="h3:9/binary", k=6, suppress=0.1)
    kept = months.release("six-kept", months.may, zones_from=str(first), k=6, suppress=0.8)
    differences = [{fact.kind for fact in difference([first, one]).facts.found} for one in (own, kept)]
    assert "exact" in differences[0]
    assert differences[1] == {"repeated"}


def test_the_copy_of_the_zones_is_private_and_needed(
    cuts: tuple[Path, Path], months: Months, tmp_path: Path
) -> None:
    assert (cuts[1] / COPY).stat().st_mode & 0o077 == 0
    lost = tmp_path / "lost"
    shutil.copytree(cuts[1], lost)
    (lost / COPY).unlink()
    with pytest.raises(InputError, match="what zones it took over"):
        audit_against(lost, (str(months.june),))


def test_members_are_those_of_the_zones_of_each_axis(tmp_path: Path) -> None:
    """Of several folders each zone counts once; where a table lists none there are none."""
    rows = {
        "a": [("origin", "x", ["1", "2"]), ("destination", "y", ["3"])],
        "b": [("origin", "x", ["1", "2"]), ("origin", "z", ["4"])],
    }
    for folder, told in rows.items():
        (tmp_path / folder).mkdir()
        axis, zone, members = zip(*told, strict=True)
        place = {"lat": [1.0] * len(told), "lon": [2.0] * len(told)}
        table = pa.table({"axis": axis, "zone": zone, "members": members, **place})
        pq.write_table(table, tmp_path / folder / "zones.parquet")
    x, y, z = (ZoneMembers(*one, 1.0, 2.0) for one in (("x", ["1", "2"]), ("y", ["3"]), ("z", ["4"])))
    assert _members(tmp_path / "a") == {"origin": members_digest([x]), "destination": members_digest([y])}
    both = {"origin": members_digest([x, z]), "destination": members_digest([y])}
    assert _members(tmp_path / "a", tmp_path / "b") == both
    pq.write_table(table.drop_columns("members"), tmp_path / "b" / "zones.parquet")
    assert _members(tmp_path / "a", tmp_path / "b") == {}
