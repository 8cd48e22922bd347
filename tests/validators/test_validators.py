"""Metadata of crates, judged by the formats' own validators, which live in an environment of their own."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tripcloak.exporting.crate import Details, write_crate
from worlds.released_flows import World, raw_trips

HERE = Path(__file__).parent
PYTHON = HERE.parents[1] / ".validators" / "bin" / "python"
SHAPES = "MOBILITYDCATAP_SHAPES"
"""The environment variable that names files of shapes, as PATH does folders: they are not ours to hand on."""
WANTED_OF_PUBLISHERS = ("ro-crate-1.2_86.2", "ro-crate-1.2_88.1", "ro-crate-1.2_89.0")
"""What RO-Crate recommends and nobody told us: a publisher's address and ROR, a geometry beside the box."""
EU, OWN = "http://publications.europa.eu/resource/authority/", "https://w3id.org/mobilitydcat-ap/"


@pytest.fixture(scope="module")
def crate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("crate")
    world = World.of(raw_trips(), "h3:7")
    details = Details(
        title="Trips in May",
        licence="https://creativecommons.org/licenses/by/4.0/",
        publisher="A city",
        contact="data@example.org",
        date="2024-06-01",
        period="2024-05-01/2024-05-31",
    )
    return write_crate(world.publish(place / "out", world.release()).path, place / "crate", details)


def judged(crate: Path) -> dict[str, list[str]]:
    """Return what each validator finds wrong with a crate."""
    if not PYTHON.is_file():
        pytest.skip("the validators are not installed: make validators")
    shapes = [path for path in os.environ.get(SHAPES, "").split(os.pathsep) if path]
    command = [str(PYTHON), str(HERE / "judge.py"), str(crate), *shapes]
    own = {**os.environ, "PYTHONPATH": ""}
    done = subprocess.run(command, env=own, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, list[str]] = json.loads(done.stdout.splitlines()[-1])
    return found


def test_crates_are_what_their_validators_ask_for(crate: Path) -> None:
    found = judged(crate)
    assert not [one for one in found["ro-crate"] if not any(known in one for known in WANTED_OF_PUBLISHERS)]
    assert not found["croissant"]
    assert not found.get("mobilitydcat-ap")


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("format", "file"), [("ro-crate", "ro-crate-metadata.json"), ("croissant", "croissant.json")]
)
def test_validators_notice_what_is_missing(crate: Path, tmp_path: Path, format: str, file: str) -> None:
    import shutil

    spoilt = Path(shutil.copytree(crate, tmp_path / "spoilt"))
    told = json.loads((spoilt / file).read_text(encoding="utf-8"))
    owner = told["@graph"][1] if format == "ro-crate" else told
    del owner["license"], owner["name"]
    (spoilt / file).write_text(json.dumps(told), encoding="utf-8")
    known = WANTED_OF_PUBLISHERS
    assert [one for one in judged(spoilt)[format] if not any(name in one for name in known)]


def test_mobility_metadata_hold_what_the_profile_makes_mandatory(crate: Path) -> None:
    """mobilityDCAT-AP 1.1.0, sections 4.10 and 4.11: what must be there, and from which vocabulary."""
    told = json.loads((crate / "mobilitydcat-ap.jsonld").read_text(encoding="utf-8"))
    for name in ("dct:title", "dct:description"):
        assert told[name]["@value"]
        assert told[name]["@language"] == "en"
    assert told["dct:publisher"]["@type"] == "foaf:Agent"
    assert told["dct:accrualPeriodicity"]["@id"].startswith(f"{EU}frequency/")
    assert told["mobilitydcatap:mobilityTheme"]["@id"].startswith(f"{OWN}mobility-theme/")
    assert told["dct:spatial"]["@type"] == "dct:Location"
    assert [told["dct:temporal"][name]["@value"] for name in ("dcat:startDate", "dcat:endDate")] == [
        "2024-05-01",
        "2024-05-31",
    ]
    assert told["dcat:distribution"]
    for part in told["dcat:distribution"]:
        _hold_distribution(part)


def _hold_distribution(part: dict[str, Any]) -> None:
    assert part["dcat:accessURL"]["@id"]
    assert part["dct:format"]["@id"].startswith(f"{EU}file-type/")
    assert part["dct:rights"]["dct:type"]["@id"].startswith(f"{OWN}conditions-for-access-and-usage/")
    standard = part["mobilitydcatap:mobilityDataStandard"]["dct:conformsTo"]
    assert standard["@id"].startswith(f"{OWN}mobility-data-standard/")
