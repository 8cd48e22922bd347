"""Mistakes in compiled kernels are run as they are written, whether kernels are one file or a package."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from mutations.reach import is_compiled
from mutations.running import _interpreted
from mutations.targets import PACKAGE, TESTS

KERNELS = sorted(module for module in TESTS if is_compiled(module))

PLANTED = """
import sys
import tiny.sums
from mutations.mutants import mutants_of
from mutations.recoding import Functions
from mutations.running import _interpreted
from pathlib import Path

path = Path(sys.argv[1])
mutant = next(one for one in mutants_of(path, "_kernels/halves.py") if one.after == "3")
functions = Functions.found()
print(tiny.sums.twice(4))
functions.interpret("")
print(functions.recode(mutant, path.read_bytes(), str(path)), tiny.sums.twice(4))
functions.interpret(_interpreted(str(path)))
print(tiny.sums.twice(4))
"""


def test_a_package_of_kernels_is_run_as_it_is_written(tmp_path: Path) -> None:
    """Those of one file call those of another: all are interpreted, or a mistake would never be met."""
    kernels = tmp_path / "tiny" / "_kernels"
    kernels.mkdir(parents=True)
    for path in (tmp_path / "tiny", kernels):
        (path / "__init__.py").touch()
    head = "from numba import njit\n"
    (kernels / "halves.py").write_text(f"{head}\n@njit\ndef half(n):\n    return n * 2\n")
    both = f"{head}from tiny._kernels.halves import half\n\n@njit\ndef twice(n):\n    return half(n)\n"
    (kernels / "wholes.py").write_text(both)
    (tmp_path / "tiny" / "sums.py").write_text("from tiny._kernels.wholes import twice\n")
    script = tmp_path / "planted.py"
    script.write_text(PLANTED)
    told = subprocess.run(
        [sys.executable, str(script), str(kernels / "halves.py")],
        env={"PYTHONPATH": f"{tmp_path}:{PACKAGE.parents[1] / 'tests'}:{PACKAGE.parent}"},
        check=True,
        capture_output=True,
        text=True,
    )
    assert told.stdout.splitlines() == ["8", "True 8", "12"]


@pytest.mark.parametrize("module", KERNELS)
def test_every_module_of_kernels_is_known_as_one(module: str) -> None:
    assert _interpreted(module) in (module, str(Path(module).parent))
    assert "njit" in (PACKAGE / module).read_text(encoding="utf-8") or module.endswith("__init__.py")


def test_no_other_module_is_compiled() -> None:
    assert {module for module in KERNELS if module.startswith("ledger/")} > {"ledger/_kernels/groups.py"}
    assert "trajectories/audit/_kernels.py" in KERNELS
    others = [module for module in TESTS if module not in KERNELS]
    assert not [name for name in others if "@njit" in (PACKAGE / name).read_text(encoding="utf-8")]
