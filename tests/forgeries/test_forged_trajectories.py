"""No forgery of released trajectories passes: hundreds of them, made from whatever the release holds."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from forgeries.consistent_trajectories import consistent_trajectories, facts_of, rewrite, with_facts
from forgeries.files import forged_files, forged_folders
from forgeries.forgery import Auditor, Forgery, is_about, sampled, state
from forgeries.json_trees import forged_texts, forged_trees
from forgeries.parquet_files import forged_tables
from tripcloak.ground.folders import json_text
from tripcloak.ground.public_files import another_manifest
from tripcloak.trajectories.anonymise import TrajectoryRequest, anonymise_trajectories
from tripcloak.trajectories.checking import audit_trajectories_against
from tripcloak.trajectories.methods.registry import find_trajectory_method
from tripcloak.trajectories.reading import TrajectorySource
from tripcloak.trajectories.rewriting import rewritten_trajectories
from worlds.fixes import some_fixes
from worlds.trips import write_csv


@pytest.fixture(scope="module")
def fixes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_csv(tmp_path_factory.mktemp("raw") / "fixes.csv", some_fixes(12))


@pytest.fixture(scope="module")
def safe(fixes: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("made") / "out"
    source, method = TrajectorySource(paths=(str(fixes),)), find_trajectory_method("k-scale")(k=3)
    anonymise_trajectories(TrajectoryRequest(source=source, method=method, out=out))
    assert audit_trajectories_against(out, (str(fixes),)).safe
    return out


@pytest.fixture(scope="module")
def auditor(safe: Path, fixes: Path) -> Auditor:
    return Auditor(
        safe,
        {path.name for path in (safe / "release").iterdir()},
        rewritten_trajectories,
        lambda folder: audit_trajectories_against(folder, (str(fixes),)),
    )


EXCHANGE = ("trajectories.geojson", "trajectories.mfjson")


def texts(safe: Path) -> Iterator[Forgery]:
    for name in ("manifest.json", *EXCHANGE):
        yield from forged_texts(f"release/{name}", every=False)(safe)


def trees(safe: Path) -> Iterator[Forgery]:
    for name in EXCHANGE:
        tree = json.loads((safe / "release" / name).read_text(encoding="utf-8"))
        yield from forged_trees(tree, lambda folder, t, n=name: _write(folder, n, t), name=name, every=False)
    yield from forged_trees(facts_of(safe), _write_manifest, name="manifest.json")


def everywhere(safe: Path) -> Iterator[Forgery]:
    yield from forged_trees(facts_of(safe), _write_all, name="everywhere")


def _write(folder: Path, name: str, tree: Any) -> None:
    (folder / "release" / name).write_text(json.dumps(tree, ensure_ascii=False), encoding="utf-8")


def _write_manifest(folder: Path, tree: Any) -> None:
    (folder / "release" / "manifest.json").write_text(json_text(tree), encoding="utf-8")


def _write_all(folder: Path, tree: Any) -> None:
    """Write a forged manifest, and the files that follow from it if there can be any."""
    try:
        rewrite(folder, with_facts(tree))
    except Exception:
        _write_manifest(folder, tree)


GROUPS: dict[str, tuple[Callable[[Path], Iterable[Forgery]], int]] = {
    "files": (forged_files, 5),
    "folders": (forged_folders, 3),
    "tables": (forged_tables, 4),
    "texts": (texts, 4),
    "trees": (trees, 32),
    "everywhere": (everywhere, 8),
    "consistent": (lambda _: consistent_trajectories(), 1),
}
"""What is forged, and one in how many of them on every run."""

INVISIBLE = {
    "promise.k": "what was asked for: less is promised than is kept, which an ordered k shows",
    "trajectories under each other's names": "names are drawn at random, so that any other would do",
    **{f"{side} a step less": "a wider box still says the truth" for side in ("t0", "x0", "y0")},
    **{f"{side} a step more": "a wider box still says the truth" for side in ("t1", "x1", "y1")},
}
"""Forgeries that only the private record shows, and why nothing else does."""


@pytest.mark.parametrize("group", GROUPS)
def test_no_forgery_passes(group: str, auditor: Auditor, tmp_path: Path) -> None:
    made, one_in = GROUPS[group]
    found, number = auditor.unnoticed(sampled(made(auditor.safe), one_in), tmp_path)
    assert [name for name in found if not is_about(name, INVISIBLE)] == []
    assert number >= 5


def test_there_are_hundreds_of_forgeries(safe: Path) -> None:
    names = [forgery.name for made, _ in GROUPS.values() for forgery in made(safe)]
    assert len(names) == len(set(names)) >= 500


def test_what_nothing_else_shows_the_private_record_shows(auditor: Auditor, tmp_path: Path) -> None:
    made = (*everywhere(auditor.safe), *consistent_trajectories())
    forgeries = [forgery for forgery in made if is_about(forgery.name, INVISIBLE)]
    assert len(forgeries) > len(INVISIBLE)
    for number, forgery in enumerate(forgeries):
        folder = forgery.done(auditor.safe, tmp_path / f"{number}", inside=False)
        # What is written the same again was no forgery.
        assert state(folder) == state(auditor.safe) or another_manifest(folder) is not None
    assert "manifest-as-made" in auditor.audit(folder).broken
