"""What travels with the code: one version, one licence, no registry; wheel and source as installed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

from tripcloak._version import __version__
from worlds.depth import DEEP

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


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel and the source distribution, as the build system that pyproject.toml names makes them."""
    place = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "hatchling", "build", "-d", str(place), cwd=ROOT)
    return place


@pytest.fixture(scope="module")
def clean(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new environment that has the wheel, and borrows what the wheel needs from the one of the tests."""
    place = tmp_path_factory.mktemp("clean") / "venv"
    run(sys.executable, "-m", "venv", "--without-pip", str(place))
    run(*pip_into(place), "--no-deps", "--no-index", str(wheel_of(built)))
    borrowed = site_packages(place) / "borrowed.pth"
    borrowed.write_text("\n".join(path for path in sys.path if path.endswith("site-packages")) + "\n")
    return place


def run(*command: str, cwd: Path | None = None) -> str:
    # Without compiled kernels, which a new place would compile anew for a minute.
    own = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": ""}
    done = subprocess.run(command, cwd=cwd, env=own, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def pip_into(place: Path) -> list[str]:
    quiet = ["--disable-pip-version-check", "--quiet"]
    return [sys.executable, "-m", "pip", *quiet, "--python", str(place / "bin" / "python"), "install"]


def site_packages(place: Path) -> Path:
    return next((place / "lib").glob("python3*")) / "site-packages"


def wheel_of(built: Path) -> Path:
    (wheel,) = built.glob("*.whl")
    return wheel


def source_of(built: Path) -> Path:
    (source,) = built.glob("*.tar.gz")
    return source


def test_the_wheel_holds_the_package_its_types_and_the_front_end(built: Path) -> None:
    held = {name for name in zipfile.ZipFile(wheel_of(built)).namelist() if name.startswith("tripcloak/")}
    tracked = run("git", "ls-files", "-co", "--exclude-standard", "src/tripcloak", cwd=ROOT).split()
    assert held == {name.removeprefix("src/") for name in tracked}
    assert "tripcloak/py.typed" in held
    assert {"tripcloak/pages/assets/built/map.js", "tripcloak/pages/assets/built/report.js"} <= held


def test_the_wheel_installed_into_a_clean_environment_makes_a_release(clean: Path, tmp_path: Path) -> None:
    python, command = str(clean / "bin" / "python"), str(clean / "bin" / "tripcloak")
    where = run(python, "-c", "import tripcloak; print(tripcloak.__file__)").strip()
    assert Path(where).is_relative_to(site_packages(clean))
    assert run(command, "--version").split() == ["tripcloak", __version__]
    assert run(python, "-m", "tripcloak", "--version").split() == ["tripcloak", __version__]
    run(command, "synth", "city", "--trips", "300", "--out", "trips.parquet", cwd=tmp_path)
    run(command, "anonymise", "trips.parquet", "--hierarchy", "h3:6", "--out", "out", cwd=tmp_path)
    page = (tmp_path / "out" / "release" / "map.html").read_text(encoding="utf-8")
    assert (site_packages(clean) / "tripcloak" / "pages" / "assets" / "built" / "map.js").read_text() in page
    assert "Untouched" in run(command, "check", "out/release", cwd=tmp_path)


def test_the_source_distribution_makes_the_same_wheel(built: Path, tmp_path: Path) -> None:
    with tarfile.open(source_of(built)) as source:
        source.extractall(tmp_path, filter="data")
    (folder,) = tmp_path.iterdir()
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path / "dist"), cwd=folder)
    one, other = (zipfile.ZipFile(wheel_of(place)) for place in (built, tmp_path / "dist"))
    assert {i.filename: i.CRC for i in one.infolist()} == {i.filename: i.CRC for i in other.infolist()}


def test_pictures_and_links_of_the_readme_lead_somewhere_on_an_index(built: Path) -> None:
    wheel = zipfile.ZipFile(wheel_of(built))
    (name,) = (one for one in wheel.namelist() if one.endswith(".dist-info/METADATA"))
    text = wheel.read(name).decode()
    targets = re.findall(r"\]\(([^)#\s]+)", text)
    assert len(targets) > 40
    repository = r"https://(?:raw\.githubusercontent|github)\.com/tripcloak/tripcloak"
    here = re.compile(rf"{repository}/(?:blob/)?v{re.escape(__version__)}/(.+)")
    for target in targets:
        own = here.fullmatch(target)
        assert target.startswith("https://")
        assert own is None or (ROOT / own[1]).is_file(), target
    assert not [target for target in targets if target.endswith((".png", ".svg")) and "raw." not in target]
    assert "Requires-Python: >=3.11" in text
    for version in ("3.11", "3.12", "3.13", "3.14"):
        assert f"Classifier: Programming Language :: Python :: {version}\n" in text


def test_the_whole_installation_runs_by_itself(built: Path, tmp_path: Path) -> None:
    if not DEEP:
        pytest.skip("installs 650 MB from an index: left to make test-deep")
    place = tmp_path / "venv"
    run(sys.executable, "-m", "venv", "--without-pip", str(place))
    run(*pip_into(place), "--constraint", str(ROOT / "constraints.txt"), str(wheel_of(built)))
    run(str(place / "bin" / "tripcloak"), "demo", "--out", "demo", cwd=tmp_path)
