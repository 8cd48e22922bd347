"""The bare installation: without pandas the door opens all the same, and says what to install."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

BLOCKED = ("pandas", "geopandas", "polars", "matplotlib", "IPython", "ipywidgets")


def run(script: str, place: Path, *, blocked: tuple[str, ...] = BLOCKED) -> str:
    block = f"""
import sys
class Without:
    def __init__(self, finder):
        self.finder = finder
    def __getattr__(self, name):
        return getattr(self.finder, name)
    def find_spec(self, name, path=None, target=None):
        return None if name.split(".")[0] in {blocked!r} else self.finder.find_spec(name, path, target)
sys.meta_path[:] = map(Without, sys.meta_path)
"""
    done = subprocess.run(
        [sys.executable, "-c", block + script],
        cwd=place,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_all_but_data_frames_works(trips_file: Path, tmp_path: Path) -> None:
    told = run(
        f"""
import tripcloak as tc
release = tc.anonymise({str(trips_file)!r}, zones="h3:7", out="out")
assert release.to_arrow().num_rows == release.facts["groups"]
assert release.audit().safe and release.measures()["G"] > 0
assert "<iframe" in release._repr_html_() and tc.open("out").to_arrow("zones").num_rows
for ask in (lambda: release.flows, lambda: release.zones, release.to_polars, release.plot,
            lambda: release.measures().table, lambda: release.private.groups):
    try:
        ask()
    except tc.MissingExtraError as error:
        assert isinstance(error, ImportError)
        print(error)
    else:
        raise SystemExit("nothing was missing")
""",
        tmp_path,
    )
    assert told.splitlines() == [
        "a data frame needs pandas, which is not installed: pip install 'tripcloak[frames]'",
        "a frame with outlines needs geopandas, which is not installed: pip install 'tripcloak[frames]'",
        "a Polars data frame needs polars, which is not installed: pip install 'tripcloak[polars]'",
        "a plot needs matplotlib, which is not installed: pip install 'tripcloak[frames]'",
        "a data frame needs pandas, which is not installed: pip install 'tripcloak[frames]'",
        "a data frame needs pandas, which is not installed: pip install 'tripcloak[frames]'",
    ]


def test_methods_that_need_a_library_say_which_extra_brings_it(trips_file: Path, tmp_path: Path) -> None:
    told = run(
        f"""
import tripcloak as tc
for asked in ({{"method": "laplace", "epsilon": 1.0}}, {{"method": "glove-sk"}}):
    try:
        tc.anonymise({str(trips_file)!r}, zones="h3:6", **asked)
    except tc.MissingExtraError as error:
        print(error)
from pathlib import Path
from tripcloak.ground.keys import make_keys
try:
    make_keys(Path("a.key"), Path("a.pub"))
except tc.MissingExtraError as error:
    print(error)
""",
        tmp_path,
        blocked=("opendp", "sklearn", "cryptography"),
    )
    assert not list(tmp_path.glob("a.*"))
    assert "making keys needs cryptography, which is not installed: pip install 'tripcloak[signing]'" in told
    assert "pip install 'tripcloak[dp]'" in told
    assert "pip install 'tripcloak[sklearn]'" in told


def test_the_extras_bring_what_they_are_for() -> None:
    import tomllib

    from tripcloak.api.tables import EXTRAS

    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    for library, extra in EXTRAS.items():
        assert any(requirement.startswith(f"{library}>=") for requirement in extras[extra])
        assert not any(requirement.startswith(library) for requirement in project["dependencies"])


@pytest.mark.parametrize("loaded", ["tripcloak", "tripcloak.cli.app"])
def test_nothing_of_the_door_is_loaded_before_it_is_opened(loaded: str, tmp_path: Path) -> None:
    told = run(
        f"import {loaded}\nprint([n for n in sys.modules if n.split('.')[:2] == ['tripcloak', 'api'] "
        "or n in ('numpy', 'pyarrow')])",
        tmp_path,
        blocked=(),
    )
    assert told.strip() == "[]"


def test_a_frame_does_not_bring_other_libraries_with_it(trips_file: Path, tmp_path: Path) -> None:
    """But for pandas, which Arrow loads wherever it is."""
    told = run(
        f"""
import pyarrow.parquet as pq
import tripcloak as tc
tc.describe(pq.read_table({str(trips_file)!r}), zones="h3:7")
print([name for name in ("polars", "geopandas", "matplotlib", "IPython") if name in sys.modules])
""",
        tmp_path,
        blocked=(),
    )
    assert told.strip() == "[]"


def test_the_command_line_loads_no_data_frames(trips_file: Path, tmp_path: Path) -> None:
    """Arrow and the engine would, where pandas is installed, as it is here."""
    told = run(
        f"""
sys.argv = ["tripcloak", "anonymise", {str(trips_file)!r}, "--hierarchy", "h3:7", "--out", "out", "--json"]
from tripcloak.cli.run import main
try:
    main()
except SystemExit as end:
    print(end.code, "pandas" in sys.modules)
""",
        tmp_path,
        blocked=(),
    )
    assert told.splitlines()[-1] == "0 False"
