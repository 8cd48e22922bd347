"""Every public file of a release of flows is what this version writes, and nothing is hidden in one byte."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyarrow import parquet

from tripcloak.flows.anonymise import AnonymisationRequest, anonymise
from tripcloak.flows.checking import audit_against
from tripcloak.flows.methods import Laplace, Mondrian, NestedCut, ProductCut, SlotBySlot, TwinCut
from tripcloak.flows.reading.matrix import Zoning
from tripcloak.flows.rewriting import REWRITINGS, rewritten_flows
from tripcloak.ground.rewriting import Rewriting, rewritten_findings, same_bytes, same_files
from tripcloak.promises import AllOf, KAnonymity, LDiversity, TCloseness
from tripcloak.records.segments import SegmentBy
from tripcloak.records.source import TripSource
from worlds.released_flows import Folder
from worlds.trips import some_trips, write_csv

MESSAGE = "dGhleSBsaXZlIGhlcmU"
Forge = Callable[[Folder], Any]


@pytest.fixture(scope="module")
def trips(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rows = some_trips(900)
    people = sorted({row["person_id"] for row in rows})
    for row in rows:
        row["sex"] = "FM"[people.index(row["person_id"]) % 2]
    rows += [{**rows[0], "start_lat": "0", "start_lon": "0", "person_id": f"p{n}"} for n in range(12)]
    return write_csv(tmp_path_factory.mktemp("raw") / "trips.csv", rows)


K = KAnonymity(k=3)
KINDS: dict[str, dict[str, Any]] = {
    "plain": {"method": TwinCut(promise=K)},
    "several promises": {"method": TwinCut(promise=AllOf(promises=(K, LDiversity(l=2), TCloseness(t=0.7))))},
    "segments": {"method": TwinCut(promise=K), "every_segment": (SegmentBy.parse("sex"),)},
    "times": {
        "method": ProductCut(promise=K, time_weight=2.0),
        "zoning": Zoning(spec="h3:8", time_slot=360, fold="day"),
    },
    "slots apart": {
        "method": SlotBySlot.of(NestedCut(promise=K, suppression_limit=0.6)),
        "zoning": Zoning(spec="h3:8", time_slot=360, fold="day", apart=True),
    },
    "boxes": {"method": Mondrian(promise=K)},
    "noise": {
        "method": Laplace(epsilon=5.0, contributions=2),
        "zoning": Zoning(spec="h3:8/root=841fb47ffffffff"),
    },
}


@pytest.fixture(scope="module")
def made(trips: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Return what gives the release of a kind, made when it is first asked for."""
    room = tmp_path_factory.mktemp("made")

    def release(kind: str) -> Path:
        out = room / kind
        if not out.exists():
            given = {"source": TripSource(paths=(str(trips),)), "zoning": Zoning(spec="h3:8"), "out": out}
            anonymise(AnonymisationRequest(**(given | KINDS[kind])))
        return out

    return release


@pytest.fixture
def folder(made: Callable[[str], Path], tmp_path: Path) -> Folder:
    return Folder(shutil.copytree(made("plain"), tmp_path / "out"))


def broken(folder: Folder) -> list[str]:
    return [finding.rule for finding in rewritten_flows(folder.path) if not finding.ok]


@pytest.mark.parametrize("kind", KINDS)
def test_what_was_written_is_written_again(kind: str, made: Callable[[str], Path], trips: Path) -> None:
    report = audit_against(made(kind), (str(trips),))
    assert report.safe, report.broken
    assert {one.rule for one in REWRITINGS} <= {finding.rule for finding in report.findings}


def text(name: str, old: str, new: str) -> Forge:
    return lambda folder: folder.edit_text(name, lambda page: page.replace(old, new, 1))


def appended(name: str, more: bytes) -> Forge:
    def forge(folder: Folder) -> None:
        with folder.public(name).open("ab") as file:
            file.write(more)

    return forge


def bytes_before_the_footer(name: str) -> Forge:
    def forge(folder: Folder) -> None:
        path = folder.public(name)
        whole = path.read_bytes()
        footer = int.from_bytes(whole[-8:-4], "little") + 8
        path.write_bytes(whole[:-footer] + MESSAGE.encode() + whole[-footer:])
        assert parquet.read_table(path).num_rows

    return forge


def entry(**changes: Any) -> Forge:
    return lambda folder: folder.edit_manifest(lambda facts: facts.update(changes))


def within(name: str, **changes: Any) -> Forge:
    return lambda folder: folder.edit_manifest(lambda facts: facts[name].update(changes))


def entries_turned(name: str | None = None) -> Forge:
    def turn(facts: dict[str, Any]) -> None:
        inner = facts if name is None else facts[name]
        last_first = list(reversed(inner.items()))
        inner.clear()
        inner.update(last_first)

    return lambda folder: folder.edit_manifest(turn)


FORGERIES: dict[str, tuple[Forge, str]] = {
    "flows.csv: a blank line": (appended("flows.csv", b"\n"), "flows-as-written"),
    "flows.parquet: bytes nobody reads": (bytes_before_the_footer("flows.parquet"), "flows-as-written"),
    "zones.parquet: bytes nobody reads": (bytes_before_the_footer("zones.parquet"), "zones-as-written"),
    "zones.geojson: a blank": (appended("zones.geojson", b" "), "zones-as-written"),
    "map.html: a letter": (text("map.html", "Withheld", "withheld"), "map-as-written"),
    "README.md: a blank": (appended("README.md", b" "), "readme-as-written"),
    "manifest: a blank": (text("manifest.json", '"kind": ', '"kind":  '), "manifest-as-written"),
    "manifest: an entry twice": (
        text("manifest.json", '"seed"', f'"seed": "{MESSAGE}",\n  "seed"'), "manifest-as-written"
    ),
    "manifest: a reason that is none": (within("dropped_rows", **{MESSAGE: 17}), "manifest-as-written"),
    "manifest: other words on the promise": (
        within("promise", sentence=f"at least 3 {MESSAGE}"), "manifest-as-written"
    ),
    "manifest: other words on what is withheld": (
        lambda folder: folder.edit_manifest(
            lambda facts: facts["withheld"].update(words=facts["withheld"]["words"] + ".")
        ),
        "manifest-as-written",
    ),
    "manifest: another band": (within("withheld", at_most=17), "manifest-as-written"),
    "manifest: more on what is withheld": (within("withheld", exact=17), "manifest-as-written"),
    "another method": (entry(method="magic"), "method-known"),
    "a method that makes another promise": (entry(method="laplace"), "method-known"),
    "a parameter more": (within("parameters", note=123456789), "method-known"),
    "a parameter of time": (within("parameters", time_weight=1.0), "method-known"),
    "a parameter of another kind": (within("parameters", loss=3), "method-known"),
    "a parameter of no value": (within("parameters", time_limit=-5), "method-known"),
    "parameters in another order": (entries_turned("parameters"), "method-known"),
}  # fmt: skip


AS_TEXT = {"manifest: a blank", "manifest: an entry twice"}
"""Forgeries that would be mended by setting the digests right, which writes the manifest anew."""


@pytest.mark.parametrize("name", FORGERIES)
def test_one_forged_byte_is_found_with_the_digests_set_right(name: str, folder: Folder) -> None:
    assert broken(folder) == []
    forge, rule = FORGERIES[name]
    forge(folder)
    if name not in AS_TEXT:
        folder.refresh()
    assert rule in broken(folder)
    assert MESSAGE not in str(rewritten_flows(folder.path))


def test_setting_the_digests_right_is_no_forgery(folder: Folder) -> None:
    """So that forgeries fail for what they change, not for the way they do it."""
    folder.refresh()
    assert broken(folder) == []


@pytest.mark.parametrize("name", ["segments.parquet", "segments.csv"])
def test_files_of_segments_are_written_again_too(
    name: str, made: Callable[[str], Path], tmp_path: Path
) -> None:
    folder = Folder(shutil.copytree(made("segments"), tmp_path / "out"))
    assert broken(folder) == []
    (bytes_before_the_footer(name) if name.endswith("parquet") else appended(name, b"\n"))(folder)
    folder.refresh()
    assert broken(folder) == ["flows-as-written"]


def test_the_audit_fails_with_it_and_says_what_else_it_may_be(folder: Folder, trips: Path) -> None:
    appended("README.md", MESSAGE.encode())(folder)
    folder.refresh()
    forged = audit_against(folder.path, (str(trips),))
    assert forged.broken == ("readme-as-written",)
    words = next(finding.words for finding in forged.findings if not finding.ok)
    assert "made by another version of tripcloak or of Arrow (audit with those)" in words
    assert MESSAGE not in words


def test_a_release_of_another_version_says_so(folder: Folder) -> None:
    """It cannot be compared byte by byte: its README names the version, and who knows what else differs."""
    folder.edit_manifest(lambda facts: facts.update(version="0.2.99"))
    assert broken(folder) == ["readme-as-written", "manifest-as-written"]


@pytest.mark.parametrize("name", ["flows.parquet", "zones.parquet"])
def test_a_file_that_cannot_be_read_breaks_what_needs_it_and_nothing_else(name: str, folder: Folder) -> None:
    folder.public(name).write_bytes(b"PAR1 this is no table")
    found = broken(folder)
    assert f"{name.partition('.')[0]}-as-written" in found
    assert "map-as-written" in found
    assert "manifest-as-written" in found
    assert not {"readme-as-written", "method-known"} & set(found)


def test_running_out_of_memory_is_no_forgery(tmp_path: Path) -> None:
    def exhausted(public: Path, content: None) -> bool:
        raise MemoryError

    with pytest.raises(MemoryError):
        rewritten_findings(tmp_path, None, [Rewriting("never", exhausted, "", "")])


def test_files_are_compared_to_the_last_byte(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tripcloak.ground.rewriting.BLOCK", 4)
    one, other = tmp_path / "one", tmp_path / "other"
    for pair, same in (((b"", b""), True), ((b"abcdefgh", b"abcdefgh"), True), ((b"abcd", b"abcde"), False),
                       ((b"abcdefgh", b"abcdefgx"), False), ((b"", b"a"), False)):  # fmt: skip
        one.write_bytes(pair[0])
        other.write_bytes(pair[1])
        assert same_bytes(one, other) is same
    assert not same_bytes(one, tmp_path / "nowhere")
    assert not same_files(tmp_path, lambda aside: None)
    assert same_files(tmp_path, lambda aside: (aside / "one").write_bytes(b""))
