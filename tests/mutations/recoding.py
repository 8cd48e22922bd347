"""Mistakes inside functions, made without importing anything anew: functions are given their mistaken code.

A process that holds all modules and tests already splits one off, changes the code of the functions that a
mistake lies in, and runs tests at once.
"""

from __future__ import annotations

import gc
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from inspect import CO_OPTIMIZED
from types import CodeType, FunctionType
from typing import Any

from numba.core.dispatcher import Dispatcher

from mutations.mutants import Mutant

Place = tuple[str, int]
"""A name and the line that it begins in."""


@dataclass
class Functions:
    """All functions that are there, by the file of their code."""

    held: dict[str, list[FunctionType]]

    @classmethod
    def found(cls) -> Functions:
        """Return those of all modules that are imported by now."""
        gc.unfreeze()
        held = defaultdict(list)
        for one in gc.get_objects():
            if type(one) is FunctionType:
                held[one.__code__.co_filename].append(one)
        gc.freeze()
        return cls(held)

    def interpret(self, path: str) -> None:
        """Have the compiled functions of a file or folder run as written, for all who know them by a name."""
        if not path:
            return
        for module in list(sys.modules.values()):
            for name, one in list(getattr(module, "__dict__", {}).items()):
                if isinstance(one, Dispatcher) and lies_in(one.py_func.__code__.co_filename, path):
                    setattr(module, name, one.py_func)

    def recode(self, mutant: Mutant, source: bytes, path: str) -> bool:
        """Make a mistake in this process; return whether every function that it changes is there."""
        changed = changed_functions(mutant, source, path)
        found = set()
        for function in self.held.get(path, ()):
            place = function.__code__.co_qualname, function.__code__.co_firstlineno
            if place in changed:
                function.__code__ = changed[place]
                found.add(place)
        return bool(found) and found == set(changed)


def lies_in(file: str, path: str) -> bool:
    """Return whether a file is this one, or lies in this folder."""
    return file == path or file.startswith(f"{path}/")


def changed_functions(mutant: Mutant, source: bytes, path: str = "") -> dict[Place, CodeType]:
    """Return the new code of every function of a module or class that a mistake changes.

    There is none where importing runs the mistake: a constant, a default, the body of a class.
    """
    old, new = (compile(text, path, "exec", dont_inherit=True) for text in (source, mutant.applied(source)))
    before, after = dict(_functions(old)), dict(_functions(new))
    if _besides(old) != _besides(new) or set(before) != set(after):
        return {}
    changed = {place: code for place, code in after.items() if code != before[place]}
    # A function cannot be given code that sees other names of the function around it.
    same = all(code.co_freevars == before[place].co_freevars for place, code in changed.items())
    return changed if same else {}


def _functions(code: CodeType) -> Iterator[tuple[Place, CodeType]]:
    for one in code.co_consts:
        if _is_function(one):
            yield (one.co_qualname, one.co_firstlineno), one
        elif isinstance(one, CodeType):
            yield from _functions(one)


def _besides(code: CodeType) -> tuple[Any, ...]:
    """Return what importing runs: a module, or a class, without its functions."""
    inner = [
        _besides(one) if isinstance(one, CodeType) else repr(one)
        for one in code.co_consts
        if not _is_function(one)
    ]
    return code.co_code, code.co_names, inner


def _is_function(one: Any) -> bool:
    """Return whether something is the code of a function with a name."""
    return isinstance(one, CodeType) and bool(one.co_flags & CO_OPTIMIZED) and one.co_name[0] != "<"
