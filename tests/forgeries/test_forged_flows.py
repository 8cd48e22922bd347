"""No forgery of a release of flows passes: hundreds of them, made from whatever the release holds."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from forgeries.consistent import consistent_forgeries, facts_of, rewrite
from forgeries.files import forged_files, forged_folders
from forgeries.forgery import Auditor, Forgery, is_about, sampled, state
from forgeries.json_trees import forged_texts, forged_trees
from forgeries.parquet_files import forged_tables
from tripcloak.flows.anonymise import AnonymisationRequest, anonymise
from tripcloak.flows.checking import audit_against
from tripcloak.flows.methods import NestedCut, TwinCut
from tripcloak.flows.methods.fixed_zones import FixedZones
from tripcloak.flows.reading.matrix import Zoning
from tripcloak.flows.release.bricks import TablesWanted
from tripcloak.flows.release.keeping import read_kept
from tripcloak.flows.release.rounding import RoundTo
from tripcloak.flows.rewriting import ReadAs, rewritten_flows
from tripcloak.ground.errors import InputError
from tripcloak.ground.folders import LEVEL_FILES, PUBLIC_FILES, TABLE_FILES, json_text
from tripcloak.ground.public_files import another_manifest
from tripcloak.hierarchy import parse_tiling
from tripcloak.promises import KAnonymity
from tripcloak.records.source import TripSource
from worlds.trips import some_trips, write_csv

READ = ReadAs(parse_tiling("h3:8"), {"spec": "h3:8"})


@pytest.fixture(scope="module")
def trips(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rows = some_trips(900)
    rows += [{**rows[0], "start_lat": "0", "start_lon": "0", "person_id": f"p{n}"} for n in range(12)]
    return write_csv(tmp_path_factory.mktemp("raw") / "trips.csv", rows)


@pytest.fixture(scope="module")
def auditor(safe: Path, trips: Path) -> Auditor:
    return Auditor(
        safe,
        PUBLIC_FILES,
        lambda folder: rewritten_flows(folder, READ),
        lambda folder: audit_against(folder, (str(trips),)),
    )


@pytest.fixture(scope="module")
def safe(trips: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small release that tells as much as any: what was withheld, a bound, dropped rows."""
    out = tmp_path_factory.mktemp("made") / "out"
    method = NestedCut(promise=KAnonymity(k=3))
    source = TripSource(paths=(str(trips),))
    anonymise(AnonymisationRequest(source=source, method=method, zoning=Zoning(spec="h3:8"), out=out))
    assert audit_against(out, (str(trips),)).safe
    return out


def texts(safe: Path) -> Iterator[Forgery]:
    for name in ("manifest.json", "zones.geojson"):
        yield from forged_texts(f"release/{name}", every=False)(safe)


def trees(safe: Path) -> Iterator[Forgery]:
    outlines = json.loads((safe / "release" / "zones.geojson").read_text(encoding="utf-8"))
    yield from forged_trees(outlines, _write_geojson, name="zones.geojson", every=False)
    yield from forged_trees(facts_of(safe), _write_manifest, name="manifest.json")


def everywhere(safe: Path) -> Iterator[Forgery]:
    yield from forged_trees(facts_of(safe), _write_all, name="everywhere")


def _write_geojson(folder: Path, tree: Any) -> None:
    (folder / "release" / "zones.geojson").write_text(json.dumps(tree, ensure_ascii=False), encoding="utf-8")


def _write_manifest(folder: Path, tree: Any) -> None:
    (folder / "release" / "manifest.json").write_text(json_text(tree), encoding="utf-8")


def _write_all(folder: Path, tree: Any) -> None:
    """Write a forged manifest, and the pages that follow from it if there can be any."""
    _write_manifest(folder, tree)
    try:
        rewrite(folder, tree)
    except Exception:
        _write_manifest(folder, tree)


GROUPS: dict[str, tuple[Callable[[Path], Iterable[Forgery]], int]] = {
    "files": (forged_files, 2),
    "folders": (forged_folders, 1),
    "tables": (forged_tables, 4),
    "texts": (texts, 2),
    "trees": (trees, 8),
    "everywhere": (everywhere, 6),
    "consistent": (lambda _: consistent_forgeries(), 1),
}
"""What is forged, and one in how many of them on every run."""

INVISIBLE = {
    "parameters.time_limit": "what was asked for",
    "parameters.suppression_limit": "what was asked for; that it is kept is checked",
    "promise.k": "what was asked for: less is promised than is kept, which an ordered k shows",
    "homogeneous": "true either way where no zones overlap, and checked where it is claimed",
    "bound.within_percent": "what the method proved while it searched",
    "a flow withheld, inside too": "less is told than may be, within the limit",
    "largest_parts": "it may go unsaid; what is told is counted again",
    "dropped_rows.null_island": "dropped rows may go unsaid; a number that is told is counted again",
}
"""Forgeries that only the private record shows, and why nothing else does."""


@pytest.mark.parametrize("group", GROUPS)
def test_no_forgery_passes(group: str, auditor: Auditor, tmp_path: Path) -> None:
    made, one_in = GROUPS[group]
    found, number = auditor.unnoticed(sampled(made(auditor.safe), one_in), tmp_path)
    assert [name for name in found if not is_about(name, INVISIBLE)] == []
    assert number >= 15


def test_there_are_hundreds_of_forgeries(safe: Path) -> None:
    names = [forgery.name for made, one_in in GROUPS.values() for forgery in sampled(made(safe), one_in)]
    assert len(names) >= 300
    every = [forgery.name for made, _ in GROUPS.values() for forgery in made(safe)]
    assert len(every) == len(set(every)) >= 1000


def test_what_nothing_else_shows_the_private_record_shows(auditor: Auditor, tmp_path: Path) -> None:
    """A forger who cannot change the private record changes no entry of the manifest unseen."""
    made = (*everywhere(auditor.safe), *consistent_forgeries())
    forgeries = [forgery for forgery in made if is_about(forgery.name, INVISIBLE)]
    assert {place for place in INVISIBLE if any(is_about(one.name, [place]) for one in forgeries)} == set(
        INVISIBLE
    )
    for number, forgery in enumerate(forgeries):
        folder = forgery.done(auditor.safe, tmp_path / f"{number}", inside=False)
        # What is written the same again was no forgery.
        assert state(folder) == state(auditor.safe) or another_manifest(folder) is not None
    assert "manifest-as-made" in auditor.audit(folder).broken


def test_a_careless_forger_is_found_by_the_digests_alone(auditor: Auditor, tmp_path: Path) -> None:
    for number, forgery in enumerate(forged_files(auditor.safe)):
        folder = forgery.done(auditor.safe, tmp_path / f"{number}", careful=False)
        try:
            assert auditor.changed(folder) is not None, forgery.name
        except InputError:
            assert forgery.name.startswith("manifest.json")


def test_every_part_is_a_part_of_the_audit(auditor: Auditor) -> None:
    """What the quick runs ask alone, the audit asks too."""
    told = {finding.rule for finding in auditor.audit(auditor.safe).findings}
    parts = {finding.rule for finding in auditor.rewritten(auditor.safe)}
    assert parts | {"files-complete", "digests-match", "manifest-as-made"} <= told


def test_the_private_record_is_needed(auditor: Auditor, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(auditor.safe, tmp_path / "out"))
    assert auditor.passes(folder)
    record = folder / "private" / "run.json"
    told = json.loads(record.read_text(encoding="utf-8"))
    del told["manifest_digest"]
    record.write_text(json.dumps(told), encoding="utf-8")
    assert auditor.audit(folder).broken == ("manifest-as-made",)


ENTRIES_OF_SERIES = ("parameters", "during", "method")
"""Entries of a manifest that a release in kept zones, of one period, has of its own."""


def test_no_forgery_of_kept_zones_or_a_period_passes(trips: Path, tmp_path: Path) -> None:
    """A release in the zones of another, of one month: what it says of both is caught where it is forged."""
    source = TripSource(paths=(str(trips),), during="2024-05")
    method = NestedCut(promise=KAnonymity(k=3))
    request = AnonymisationRequest(
        source=source, method=method, zoning=Zoning(spec="h3:8"), out=tmp_path / "may"
    )
    anonymise(request)
    kept = read_kept(tmp_path / "may")
    fixed = FixedZones(zones=kept, promise=method.promise, suppression_limit=0.5)
    zoning = Zoning(spec="h3:8", kept=kept)
    anonymise(replace(request, method=fixed, zoning=zoning, out=tmp_path / "again"))
    safe = tmp_path / "again"
    auditor = Auditor(
        safe,
        PUBLIC_FILES,
        lambda folder: rewritten_flows(folder, replace(READ, zones_from=kept.digest)),
        lambda folder: audit_against(folder, (str(trips),)),
    )
    assert auditor.passes(safe)
    made = [one for one in everywhere(safe) if one.name.split()[1].split(".")[0] in ENTRIES_OF_SERIES]
    assert len(made) > 20
    found, _ = auditor.unnoticed(made, tmp_path / "forged")
    assert [name for name in found if not is_about(name, INVISIBLE)] == []


ENTRIES_OF_ROUNDING = ("promise", "columns", "columns_words", "withheld", "released", "smallest")
"""Entries of a manifest that say something else where numbers are rounded."""

LESS_PROMISED = {"promise.promises.1.sums": "less is promised than is kept"}


def test_no_forgery_of_rounded_numbers_passes(trips: Path, tmp_path: Path) -> None:
    source = TripSource(paths=(str(trips),))
    method = NestedCut(promise=KAnonymity(k=6, unit="travellers"), suppression_limit=0.3)
    anonymise(
        AnonymisationRequest(
            source=source,
            method=method,
            zoning=Zoning(spec="h3:8"),
            round_to=RoundTo(3, "a secret of these tests"),
            out=tmp_path / "out",
        )
    )
    auditor = Auditor(
        tmp_path / "out",
        PUBLIC_FILES,
        lambda folder: rewritten_flows(folder, READ),
        lambda folder: audit_against(folder, (str(trips),)),
    )
    assert auditor.passes(auditor.safe)
    made = [
        one for one in everywhere(auditor.safe) if one.name.split()[1].split(".")[0] in ENTRIES_OF_ROUNDING
    ]
    assert len(made) > 40
    found, _ = auditor.unnoticed(sampled(made, 3), tmp_path / "forged")
    assert [name for name in found if not is_about(name, {**INVISIBLE, **LESS_PROMISED})] == []


def test_no_forgery_of_tables_beside_the_flows_passes(trips: Path, tmp_path: Path) -> None:
    """Totals and heights: whatever is forged in their entries, rows or zones is caught."""
    method = TwinCut(promise=KAnonymity(k=3), suppression_limit=0.5)
    wanted = TablesWanted(levels=(7, 6), margins=True)
    source = TripSource(paths=(str(trips),))
    request = AnonymisationRequest(
        source=source, method=method, zoning=Zoning(spec="h3:8"), tables=wanted, out=tmp_path / "out"
    )
    anonymise(request)
    safe = tmp_path / "out"
    auditor = Auditor(
        safe,
        (*PUBLIC_FILES, *TABLE_FILES, *LEVEL_FILES),
        lambda folder: rewritten_flows(folder, READ),
        lambda folder: audit_against(folder, (str(trips),)),
    )
    entries = [one for one in everywhere(safe) if one.name.split()[1].split(".")[0] == "tables"]
    rows = [one for one in forged_tables(safe) if one.name.startswith(("tables", "levels"))]
    assert len(entries) > 100
    assert len(rows) > 40
    found, _ = auditor.unnoticed([*sampled(entries, 12), *sampled(rows, 5)], tmp_path / "forged")
    assert found == []
