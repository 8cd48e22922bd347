"""The auditor shares no code with what it audits, and every rule has a name and words."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import tripcloak.flows.audit
from tripcloak.flows.audit.matrix import BOOK as MATRIX_BOOK
from tripcloak.flows.audit.rules import BOOK
from tripcloak.flows.rewriting import REWRITINGS
from tripcloak.ground.rulebook import Rulebook

FOLDER = Path(tripcloak.flows.audit.__file__).parent
ALLOWED = (
    "tripcloak.ground",
    "tripcloak.flows.audit",
    "tripcloak.hierarchy.spec",
    "tripcloak.hierarchy.tiling",
    # A zones file is the owner's, and says itself which tiles a zone has.
    "tripcloak.hierarchy.zonefile",
)
MANUAL = Path(__file__).parents[3] / "docs" / "audit.md"


def imports(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0
            found.add(str(node.module))
        elif isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
    return {name for name in found if name.startswith("tripcloak")}


@pytest.mark.parametrize("path", sorted(FOLDER.rglob("*.py")), ids=lambda path: str(path.relative_to(FOLDER)))
def test_auditor_imports_only_what_it_may(path: Path) -> None:
    allowed = ALLOWED
    if path.parent.name == "matrix":
        allowed = (
            *ALLOWED,
            *(f"tripcloak.{room}" for room in ("hierarchy", "flows.model", "flows.release")),
        )
    assert {name for name in imports(path) if not name.startswith(allowed)} == set()


@pytest.mark.parametrize("book", [BOOK, MATRIX_BOOK], ids=["folder", "matrix"])
def test_every_rule_has_a_name_and_one_line_of_words(book: Rulebook) -> None:
    rules = list(book)
    assert len(rules) == len({rule.name for rule in rules})
    for rule in rules:
        assert re.fullmatch(r"[a-z]+(-[a-z]+)+", rule.name)
        assert rule.check.__doc__
        assert "\n" not in rule.check.__doc__
        assert len(rule.words.split()) > 4


def test_the_quick_audit_knows_no_other_rules() -> None:
    assert {rule.name for rule in MATRIX_BOOK} <= {rule.name for rule in BOOK}


def test_the_manual_explains_every_rule() -> None:
    explained = set(re.findall(r"^\| `([a-z-]+)` \|", MANUAL.read_text(encoding="utf-8"), re.MULTILINE))
    assert explained == {rule.name for rule in BOOK} | {one.rule for one in REWRITINGS}
