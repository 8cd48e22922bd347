"""What travels with the code: one version, one licence, and no address of a package registry."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from tripcloak._version import __version__

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def test_the_citation_names_this_version_and_licence() -> None:
    told = dict(re.findall(r"^(\w[\w-]*): (.+)$", (ROOT / "CITATION.cff").read_text(), flags=re.M))
    assert told["version"] == __version__
    assert told["license"] == PROJECT["license"]
    assert told["title"] == PROJECT["name"]


def test_constraints_are_names_and_versions_alone() -> None:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pins = [line for line in lines if line and not line.startswith("#")]
    assert pins
    assert not [line for line in pins if not re.fullmatch(r"[\w.-]+==[\w.]+", line)]
    names = [re.sub(r"[-_.]+", "-", line.split("==")[0]).lower() for line in pins]
    assert len(set(names)) == len(names)


def test_everything_that_tests_need_is_pinned() -> None:
    pins = {
        re.sub(r"[-_.]+", "-", line.split("==")[0]).lower()
        for line in (ROOT / "constraints.txt").read_text().splitlines()
        if "==" in line
    }
    asked = [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["dev"]]
    names = {re.sub(r"[-_.]+", "-", re.match(r"[\w.-]+", one)[0]).lower() for one in asked}  # type: ignore[index]
    assert not names - pins


def test_workflows_and_containers_do_what_make_does() -> None:
    flow = (ROOT / ".github" / "workflows" / "test.yml").read_text()
    assert re.findall(r"run: (.+)", flow) == ["make check", "make test"]
    extras = re.search(r"/source\[([\w,-]+)\]", (ROOT / "Containerfile").read_text())
    assert extras is not None
    assert set(extras[1].split(",")) <= set(PROJECT["optional-dependencies"])
