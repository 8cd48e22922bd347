"""The mutation run itself: it makes the mistakes it should, and tells which one nobody notices."""

from __future__ import annotations

import ast
import os
import sys
from functools import cache
from pathlib import Path
from subprocess import run
from typing import Any

from mutations.__main__ import all_mutants, choose, main
from mutations.known import read_known
from mutations.mutants import Mutant, mutants_of
from mutations.recoding import Functions, changed_functions
from mutations.targets import JUDGES, LINES, PACKAGE, ROOT, TESTS, modules, part_of
from mutations.trees import synchronise

GUARD = '''"""Not a == b, but words."""
from typing import Literal

Side = Literal[1, 2]


def passes(number: "int | None", k: int = 10) -> bool:
    """Return whether 1 < 2."""
    if number is None or not k:
        raise ValueError(
            f"{1 + 1} numbers"
        )
    return number >= k


def rows(table: str, k: int) -> str:
    return f"select count(distinct one) from {table} where n < {k + 1} and é = 'x and y'"


def told(table: str) -> str:
    return "SELECT 1 FROM a WHERE b = 2"


def least(numbers: list[int]) -> int:
    return min(one - 1 for one in numbers if (one) > 0)


def __repr__() -> str:
    return "a" if 1 < 2 else "b"
'''
MISTAKES = [
    ("def passes", {"k: int = 11", "k: int = 9"}),
    (
        "if number is None or not k:",
        {
            "if False:",
            "if number is not None or not k:",
            "if number is None and not k:",
            "number is None or k:",
        },
    ),
    ("raise ValueError(", {"pass"}),
    ("return number >= k", {"return number > k", "return number < k"}),
    (
        "return f",
        {"count(one)", "n <= {k + 1}", "n < {k + 1} or é", "é <> 'x and y'", "'x or y'"},
    ),
    ('return "SELECT', {"b <> 2"}),
    (
        "return min(",
        {"return max(", "one + 1 for", "one - 2 for", "one - 0 for", "if True", "(one) >= 0", "(one) <= 0"}
        | {"(one) > 1", "(one) > (-1)"},
    ),
]


@cache
def every_mutant() -> list[Mutant]:
    return all_mutants()


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_every_mistake_is_made_and_no_word_is_touched(tmp_path: Path) -> None:
    mutants = mutants_of(written(tmp_path, "guard.py", GUARD), "guard.py")
    expected = [(before, after) for before, afters in MISTAKES for after in afters]
    for before, after in expected:
        shown = [one.shown.split("  ->  ") for one in mutants]
        assert any(old.startswith(before) and after in new for old, new in shown), (before, after)
    assert len(mutants) == len(expected), [str(one) for one in mutants]
    for mutant in mutants:
        changed = mutant.applied(GUARD.encode())
        assert changed != GUARD.encode()
        assert len(changed.splitlines()) == len(GUARD.splitlines())
        assert changed.splitlines()[mutant.line - 1] != GUARD.encode().splitlines()[mutant.line - 1]
        ast.parse(changed)


def test_every_module_that_judges_is_mutated_and_has_tests() -> None:
    assert sorted(TESTS) == modules()
    for module, tests in TESTS.items():
        assert tests, module
        assert len(set(tests)) == len(tests), module
        assert not [test for test in tests if not (ROOT / test).is_file()], module
    assert {part_of(module) for module in TESTS} == set(LINES)
    # Where there is no mistake to make, there is nothing to hold: front doors alone.
    bare = set(TESTS) - {mutant.module for mutant in every_mutant()}
    assert not {module for module in bare if not module.endswith("__init__.py")}


def test_a_sample_is_the_same_for_a_seed_and_mutants_keep_to_their_lines() -> None:
    mutants = all_mutants("promises/k")
    assert choose(mutants, 9, 1) == choose(mutants, 9, 1) != choose(mutants, 9, 2)
    assert sorted(choose(mutants, 0, 1), key=str) == sorted(mutants, key=str)
    assert main(["--module", "promises/__init__"]) == 0


def test_listed_mutants_are_there_and_have_reasons() -> None:
    there = {name for mutant in every_mutant() for name in (mutant.name, mutant.name_of_line)}
    for name, reason in read_known().items():
        assert name in there, name
        assert len(reason) > 20, name


PLANTED = """
import sys
from pathlib import Path
from mutations.__main__ import report
from mutations.mutants import mutants_of
from mutations.reach import Reach
from mutations.running import Bench

if __name__ == "__main__":
    root = Path(sys.argv[1])
    first, second = mutants_of(root / "src/tiny/guard.py", "guard.py")
    tests = {"guard.py": ("tests/test_far.py",), "shared.py": ("tests/test_shared.py", "tests/test_far.py")}
    bench = Bench(root, root / "bench", tests, jobs=2, limit=60, package="tiny", warm=())
    for _ in range(2):
        assert bench.see(Reach(root / "seen"), tests)
    results = []
    bench.try_all([first, second], results.append)
    results.sort(key=lambda one: one.mutant.after)
    print([(one.mutant.after, one.outcome, one.by) for one in results])
    print([bench.healthy(f"tests/test_{name}.py") for name in ("far", "wrong", "missing")])
    print(sorted(set(bench.reach.seconds) - bench.reach.sound))
    path = root / "src/tiny/shared.py"
    for mutant in mutants_of(path, "shared.py"):
        met = bench.reach.of(mutant, path.read_bytes(), tests["shared.py"])
        print("met", mutant.line, *sorted(test.rpartition("_")[2] for test in met))
    print(report(results, [], {}), report(results[:1], [second], {second.name: "as an example"}))
"""
SHARED = """from functools import cached_property

LEAST = 3


def passes(k=10):
    return (
        k == LEAST
    )


class Table:
    @cached_property
    def small(self):
        return LEAST < 4


def elsewhere(k):
    if k:
        return 1
"""
SHARING = """import subprocess, sys
import pytest
from tiny.shared import Table, passes

TABLE = Table()


@pytest.fixture(scope="module")
def held():
    return passes(3)


def test_a(held):
    assert held


def test_b(held):
    assert held


def test_c():
    assert TABLE.small


def test_d():
    assert TABLE.small


def test_by_hand():
    table = Table()
    vars(table).update(small=7)
    assert table.small == 7


def test_e():
    assert subprocess.run([sys.executable, "-c", "pass"]).returncode == 0
"""
MET = {3: "a b c d", 6: "a b", 8: "a b", 15: "c d", 19: "e", 20: "e"}
"""By line, who runs it: a fixture and a cached property serve two each; of processes nobody knows."""


def test_a_planted_survivor_is_reported(tmp_path: Path) -> None:
    written(tmp_path, "src/tiny/__init__.py", "")
    written(tmp_path, "src/tiny/guard.py", "def passes(number, k):\n    return number >= k\n")
    held = "from tiny.guard import passes\n\n\ndef test_far_from_the_edge():\n    assert {}\n"
    written(tmp_path, "tests/test_far.py", held.format("passes(90, 10) and not passes(1, 10)"))
    written(tmp_path, "tests/test_wrong.py", held.format("passes(1, 10)"))
    written(tmp_path, "src/tiny/shared.py", SHARED)
    written(tmp_path, "tests/test_shared.py", SHARING)
    script = written(tmp_path, "planted.py", PLANTED)
    paths = {"PYTHONPATH": f"{ROOT / 'tests'}:{PACKAGE.parent}"}
    told = run(
        [sys.executable, str(script), str(tmp_path)],
        env=os.environ | paths,
        check=True,
        capture_output=True,
        text=True,
    )
    seen, said = told.stdout.splitlines()[:2], told.stdout.splitlines()[2:]
    assert sorted(line.split()[2] for line in seen) == ["tests/test_far.py", "tests/test_shared.py"]
    caught, survived = ("<", "caught", "tests/test_far.py::test_far_from_the_edge"), (">", "survived", "")
    assert said[0] == str([caught, survived])
    assert said[1] == str([True, False, False])
    assert said[2] == "[]", "what is watched does as it always does"
    assert {line for line in said if line.startswith("met")} == {f"met {at} {who}" for at, who in MET.items()}
    assert said[-1] == "1 0"
    assert [
        line.split()[-3:] for line in said if line.startswith(JUDGES) and "%" in line and ":" not in line
    ] == [
        ["2", "1", "50.0%"],
        ["1", "1", "100.0%"],
    ]
    assert [line for line in said if line.startswith(f"{JUDGES}:")] == [
        f"{JUDGES}: fewer than 95% caught",
        f"{JUDGES}: at least 95% caught",
    ]
    assert "survived: guard.py:2 in passes: return number >= k  ->  return number > k" in said
    assert "    as an example" in said


RECODED = """LEAST = 3


def passes(number, least=4):
    return [one for one in number if one > LEAST]


class Table:
    most = 9

    def small(self):
        return 7
"""


def test_only_mistakes_inside_functions_are_made_without_importing(tmp_path: Path) -> None:
    path = written(tmp_path, "recoded.py", RECODED)
    made = [
        (one, changed_functions(one, RECODED.encode(), str(path))) for one in mutants_of(path, "recoded.py")
    ]
    lines = {one.line: {name for name, _ in changed} for one, changed in made}
    assert lines == {1: set(), 4: set(), 5: {"passes"}, 9: set(), 12: {"Table.small"}}
    there: dict[str, Any] = {}
    exec(compile(RECODED, str(path), "exec"), there)
    functions = Functions({str(path): [there["passes"], there["Table"].small]})
    for mutant, changed in made:
        assert functions.recode(mutant, RECODED.encode(), str(path)) == bool(changed)
    # The last mistake of each line is left.
    assert there["Table"]().small() == 8
    assert not Functions({}).recode(made[-1][0], RECODED.encode(), str(path))


def test_trees_become_alike_and_the_newer_of_what_was_compiled_stays(tmp_path: Path) -> None:
    source, copy = tmp_path / "source", tmp_path / "copy"
    older, newer = ("__pycache__/older", "__pycache__/newer")
    for folder, names in ((source, "one a/two __pycache__/more"), (copy, "gone a/two __pycache__/kept")):
        for name in (*names.split(), older, newer):
            os.utime(written(folder, name, str(folder)), (1, {older: 1, newer: 3}.get(name, 2)))
    os.utime(source / older, (1, 2))
    os.utime(source / newer, (1, 2))
    synchronise(source, copy)
    found = {path.relative_to(copy).as_posix() for path in copy.rglob("*") if path.is_file()}
    assert found == {"one", "a/two", older, newer, "__pycache__/kept", "__pycache__/more"}
    taken = {name: (copy / name).read_text() == str(source) for name in ("a/two", older, newer)}
    assert taken == {"a/two": True, older: True, newer: False}
