"""Types: what a type checker knows of the front door, as somebody's own strict project would see it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import tripcloak as tc

SRC = Path(tc.__file__).parents[1]

SETTINGS = """\
[mypy]
strict = True
# The package has a check of its own (make check); here bodies are passed over, and so are other libraries.
[mypy-tripcloak.*]
ignore_errors = True
[mypy-numpy.*,scipy.*,numba.*,pyarrow.*,duckdb.*,pandas.*,geopandas.*,polars.*,shapely.*,h3.*]
follow_imports = skip
[mypy-matplotlib.*,IPython.*,jinja2.*,markupsafe.*,rich.*,typer.*,click.*]
follow_imports = skip
"""

SCRIPT = """\
from datetime import timedelta
from pathlib import Path
from typing import assert_type

import tripcloak as tc

table = tc.City(trips=100).table()
release = tc.anonymise(table, k=10, zones="h3:9", method="twincut", person="rider", out=Path("out"))
assert_type(release, tc.ReleasedFlows)
assert_type(release.audit(k=5), tc.ReleaseAudit)
assert_type(release.audit().safe, bool)
assert_type(release.measures(), tc.ReleaseMeasures)
assert_type(tc.anonymise(["a.csv", "b.csv"], segment="sex"), tc.ReleasedSegments)
assert_type(tc.anonymise("a.csv", segment="sex", segment_joint=True), tc.ReleasedFlows)
tc.anonymise("a.csv", method=tc.ODkAnon(promise=tc.KAnonymity(k=5), levels=2), time_slot=timedelta(hours=1))
tc.anonymise("a.csv", method=tc.ODkAnon, levels=2, box=(48.0, 17.0, 49.5, 19.5), progress=False)
assert_type(tc.compare("a.csv", k=[5, 10], methods=["oigh"]).best, str | None)
assert_type(tc.describe("a.csv", k=5), tc.InputSummary)
assert_type(tc.open("out"), tc.ReleasedFlows | tc.ReleasedTrajectories)
assert_type(tc.audit("out", against=table), tc.ReleaseAudit)
tracks = tc.trajectories.anonymise("calls.csv", k=5, method=tc.KScale(k=2), since="2024-05-01")
assert_type(tracks, tc.ReleasedTrajectories)

tc.anonymise(k=10)  # wrong: call-overload
tc.anonymise(7)  # wrong: call-overload
tc.anonymise("a.csv", k="ten")  # wrong: call-overload
tc.anonymise("a.csv", persn="rider")  # wrong: call-overload
tc.describe("a.csv", zones=9)  # wrong: arg-type
tc.compare("a.csv", methods=5)  # wrong: arg-type
tc.trajectories.anonymise("a.csv", k="five")  # wrong: arg-type
tc.trajectories.anonymise("a.csv", suppress=0.1)  # wrong: call-arg
tc.trajectories.describe("a.csv", timezone=1)  # wrong: arg-type
release.audit(k="ten")  # wrong: arg-type
release.flow  # wrong: attr-defined
"""


def test_a_strict_type_checker_knows_the_front_door(tmp_path: Path) -> None:
    (tmp_path / "mypy.ini").write_text(SETTINGS)
    (tmp_path / "use.py").write_text(SCRIPT)
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--no-incremental", "--cache-dir", os.devnull, "use.py"],
        cwd=tmp_path,
        env={**os.environ, "MYPYPATH": str(SRC)},
        capture_output=True,
        text=True,
        check=False,
    )
    found = {
        (int(line), kind) for line, kind in re.findall(r"use\.py:(\d+): error: .*\[([\w-]+)\]", done.stdout)
    }
    wrong = {
        (number, kind[1])
        for number, line in enumerate(SCRIPT.splitlines(), start=1)
        if (kind := re.search(r"# wrong: ([\w-]+)", line))
    }
    assert not done.stderr
    assert len(wrong) == 11
    assert found == wrong, done.stdout + done.stderr


def test_the_package_says_that_it_is_typed() -> None:
    assert (Path(tc.__file__).parent / "py.typed").is_file()
