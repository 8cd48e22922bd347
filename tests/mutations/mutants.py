"""Mutants: copies of a module with one small mistake in it, such as somebody might make.

Comparisons are moved by one or turned round, ``and`` becomes ``or``, a ``not`` is lost, a whole number is
one more or one less, a guard never holds, an error is not raised, ``any`` becomes ``all``, a plus a minus, in
queries too. Words are left alone: docstrings, messages, annotations, decorators, spoken sentences.
Every mutant keeps its lines where they are.
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

SPOKEN = frozenset({"__repr__", "__str__", "sentence", "further", "in_full", "headline", "_words"})
"""Functions that only make words."""

COMPARED = {
    "<": ("<=", ">="),
    "<=": ("<", ">"),
    ">": (">=", "<="),
    ">=": (">", "<"),
    "==": ("!=",),
    "!=": ("==",),
    "in": ("not in",),
    "not in": ("in",),
    "is": ("is not",),
    "is not": ("is",),
}
COMPARISON = re.compile(r"not\s+in\b|is\s+not\b|\bin\b|\bis\b|==|!=|<=|>=|<|>")

SWAPPED = {"any": "all", "min": "max", "minimum": "maximum", "floor": "ceil", "logical_and": "logical_or"}
SWAPPED |= {after: before for before, after in SWAPPED.items()}
ARITHMETIC = {ast.Add: ("+", "-"), ast.Sub: ("-", "+"), ast.BitAnd: ("&", "|"), ast.BitOr: ("|", "&")}

QUERY = re.compile(r"\bselect\b|\bjoin \S+ (using|on)\b|^[\s\"f]*where\b|\bfilter \(", re.I)
IN_QUERY = {
    "<": "<=",
    "<=": "<",
    ">": ">=",
    ">=": ">",
    "=": "<>",
    "<>": "=",
    "and": "or",
    "or": "and",
    "min(": "max(",
    "max(": "min(",
    "count(distinct ": "count(",
    "bool_and(": "bool_or(",
    "bool_or(": "bool_and(",
}
QUERIED = re.compile(
    r"(?<=\s)(?:<=|>=|<>|<|>|=|and|or)(?=\s)|\b(?:min|max|bool_and|bool_or)\(|\bcount\(distinct ",
    re.I,
)

TEXT = (ast.JoinedStr, ast.Constant)


@dataclass(frozen=True)
class Mutant:
    """One mistake: in which module, between which bytes, and what stands there instead."""

    module: str
    scope: str
    line: int
    start: int
    end: int
    after: str
    shown: str
    """The line before and after, as people read it."""

    @property
    def name(self) -> tuple[str, str, str]:
        """Return what it is known by; lines may move."""
        return self.module, self.scope, self.shown

    @property
    def name_of_line(self) -> tuple[str, str, str]:
        """Return what all mutants of its line are known by."""
        return self.module, self.scope, self.shown.partition("  ->  ")[0]

    def applied(self, source: bytes) -> bytes:
        """Return the module with the mistake in it."""
        return source[: self.start] + self.after.encode() + source[self.end :]

    def __str__(self) -> str:
        return f"{self.module}:{self.line} in {self.scope}: {self.shown}"


def mutants_of(path: Path, module: str) -> list[Mutant]:
    """Return all mutants of a module, in the order of its lines, none twice."""
    source = path.read_bytes()
    found = {mutant.applied(source): mutant for mutant in _Walk(source, module).all()}
    return sorted(found.values(), key=lambda one: (one.start, one.after))


class _Walk:
    """A walk over a module, which knows where its nodes begin and end in bytes."""

    def __init__(self, source: bytes, module: str) -> None:
        self.source, self.module = source, module
        self.lines = source.splitlines(keepends=True)
        self.begins = [0]
        for line in self.lines:
            self.begins.append(self.begins[-1] + len(line))

    def all(self) -> Iterator[Mutant]:
        return self.visit(ast.parse(self.source), "")

    def visit(self, node: ast.AST, scope: str) -> Iterator[Mutant]:
        """Yield the mutants of a node and of all below it that is no word."""
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            if node.name in SPOKEN:
                return
            scope = f"{scope}.{node.name}" if scope else node.name
        yield from self.here(node, scope or "the module")
        for child in self.below(node):
            yield from self.visit(child, scope)

    def below(self, node: ast.AST) -> Iterator[ast.AST]:
        """Yield the children that may hold mistakes: no annotation, decorator, message, or text."""
        if isinstance(node, ast.Raise | ast.JoinedStr) or _only_for_types(node):
            return
        for name, value in ast.iter_fields(node):
            if name in {"annotation", "returns", "decorator_list", "bases"}:
                continue
            children = value if isinstance(value, list) else [value]
            yield from (child for child in children if isinstance(child, ast.AST) and not _spoken(child))

    def here(self, node: ast.AST, scope: str) -> Iterator[Mutant]:
        """Yield the mutants of a node itself."""
        if _only_for_types(node):
            return
        for start, end, after in self.mistakes(node):
            if not self.source[start:end].isspace():
                yield self.mutant(scope, start, end, after)

    def mistakes(self, node: ast.AST) -> Iterator[tuple[int, int, str]]:
        match node:
            case ast.Compare():
                yield from self.compared(node)
            case ast.BoolOp(op=op, values=values):
                told, other = ("and", "or") if isinstance(op, ast.And) else ("or", "and")
                for left, right in pairwise(values):
                    yield from self.between(left, right, rf"\b{told}\b", other)
            case ast.BinOp(op=op, left=left, right=right) if type(op) in ARITHMETIC and _numbers(node):
                told, other = ARITHMETIC[type(op)]
                yield from self.between(left, right, re.escape(told), other)
            case ast.UnaryOp(op=ast.Not()):
                yield self.start(node), self.start(node) + 3, "   "
            case ast.Constant(value=int(number)) if not isinstance(number, bool):
                yield *self.span(node), str(number + 1)
                yield *self.span(node), f"({number - 1})" if number < 1 else str(number - 1)
            case ast.Constant(value=str()) | ast.JoinedStr():
                yield from self.queried(node)
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)) if name in SWAPPED:
                end = self.end(node.func)
                yield end - len(name), end, SWAPPED[name]
            case ast.Raise() if node.exc is not None:
                yield *self.span(node), self.filled("pass", node, "\n")
            case ast.If(test=test):
                yield *self.span(test), self.filled("False", test)
            case ast.IfExp(test=test):
                yield *self.span(test), f"(not ({self.text(test)}))"
            case ast.comprehension(ifs=conditions):
                yield from ((*self.span(one), self.filled("True", one)) for one in conditions)

    def compared(self, node: ast.Compare) -> Iterator[tuple[int, int, str]]:
        operands = [node.left, *node.comparators]
        for left, right in pairwise(operands):
            start, gap = self.gap(left, right)
            found = COMPARISON.search(gap)
            assert found is not None, gap
            for after in COMPARED[" ".join(found[0].split())]:
                yield start + found.start(), start + found.end(), after

    def between(self, left: ast.AST, right: ast.AST, told: str, other: str) -> Iterator[tuple[int, int, str]]:
        start, gap = self.gap(left, right)
        found = re.search(told, gap)
        assert found is not None, gap
        yield start + found.start(), start + found.end(), other

    def queried(self, node: ast.AST) -> Iterator[tuple[int, int, str]]:
        """Yield mistakes in the text of a query, outside of what is put into it."""
        start, text = self.start(node), self.text(node)
        plain = re.sub(r"\{[^{}]*\}", lambda found: "_" * len(found[0].encode()), text)
        if not QUERY.search(plain):
            return
        for found in QUERIED.finditer(plain):
            before = len(plain[: found.start()].encode())
            yield start + before, start + before + len(found[0]), IN_QUERY[found[0].lower()]

    def gap(self, left: ast.AST, right: ast.AST) -> tuple[int, str]:
        """Return where a gap between two nodes begins, and what stands in it."""
        start, end = self.end(left), self.start(right)
        return start, re.sub(rb"#.*", lambda found: b" " * len(found[0]), self.source[start:end]).decode()

    def filled(self, after: str, node: ast.AST, also: str = "") -> str:
        """Return a text that takes as many lines as what it replaces."""
        breaks = self.text(node).count("\n")
        if not breaks:
            return after
        return after + "\n" * breaks if also else f"({after}{chr(10) * breaks})"

    def mutant(self, scope: str, start: int, end: int, after: str) -> Mutant:
        line = bisect_right(self.begins, start)
        begin, stop = self.begins[line - 1], self.begins[line]
        told = self.source[begin:stop].decode().strip()
        tail = self.source[end : max(stop, end)] if end < stop else b""
        changed = (self.source[begin:start] + after.encode() + tail).decode()
        return Mutant(self.module, scope, line, start, end, after, f"{told}  ->  {' '.join(changed.split())}")

    def text(self, node: ast.AST) -> str:
        return self.source[slice(*self.span(node))].decode()

    def span(self, node: ast.AST) -> tuple[int, int]:
        return self.start(node), self.end(node)

    def start(self, node: ast.AST) -> int:
        return self.begins[node.lineno - 1] + node.col_offset  # type: ignore[attr-defined]

    def end(self, node: ast.AST) -> int:
        return self.begins[node.end_lineno - 1] + node.end_col_offset  # type: ignore[attr-defined]


def _spoken(node: ast.AST) -> bool:
    """Whether a node is a statement of words alone, such as a docstring."""
    return isinstance(node, ast.Expr) and isinstance(node.value, TEXT)


def _only_for_types(node: ast.AST) -> bool:
    match node:
        case ast.If(test=ast.Name(id="TYPE_CHECKING")) | ast.Assert():
            return True
        case ast.Subscript(value=ast.Name(id="Literal" | "Annotated")):
            return True
    return False


def _numbers(node: ast.BinOp) -> bool:
    """Whether both sides may be numbers, masks or sets: no texts, lists, or types."""
    sides = (node.left, node.right)
    if any(isinstance(side, ast.JoinedStr | ast.List | ast.Tuple) for side in sides):
        return False
    constants = [side.value for side in sides if isinstance(side, ast.Constant)]
    return all(isinstance(value, int | float) for value in constants)
