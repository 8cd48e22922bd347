"""Registries: classes by name, loaded on demand, and what they declare, read without loading them.

A method's module needs numpy, and numpy takes longer to load than a page of help may take. So what stands in
a class as plain text, numbers and tuples is read from its source; should that not do, the class is loaded.
"""

from __future__ import annotations

import ast
import pkgutil
from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from functools import cache
from importlib import import_module
from typing import Any, Generic, NamedTuple, TypeVar

from tripcloak.ground.errors import InputError
from tripcloak.ground.options import Option, declared_options, described, shared_options
from tripcloak.ground.spelling import called

T = TypeVar("T")


class Registry(MutableMapping[str, type[T]], Generic[T]):
    """Classes by name, each loaded when it is first asked for.

    Parameters
    ----------
    package
        Where the modules are.
    homes
        The module and class of every name, such as ``twincut:TwinCut``.

    Examples
    --------
    >>> known = Registry("tripcloak.flows.methods", {"odkanon": "odkanon:ODkAnon"})
    >>> [one.name for one in known.options("odkanon")]
    ['levels', 'tolerance']
    >>> known["odkanon"].__name__
    'ODkAnon'
    """

    def __init__(self, package: str, homes: Mapping[str, str]) -> None:
        self._package = package
        self._homes: dict[str, str | type[T]] = dict(homes)

    def __getitem__(self, name: str) -> type[T]:
        home = self._homes[name]
        if isinstance(home, str):
            module, _, class_name = home.partition(":")
            home = getattr(import_module(f"{self._package}.{module}"), class_name)
            self._homes[name] = home
        return home

    def __setitem__(self, name: str, known: type[T]) -> None:
        self._homes[name] = known

    def __delitem__(self, name: str) -> None:
        del self._homes[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._homes)

    def __contains__(self, name: object) -> bool:
        return name in self._homes

    def __len__(self) -> int:
        return len(self._homes)

    def of_class(self, class_name: str) -> type[T]:
        """Return the class of this name, or raise a KeyError."""
        for name, home in self._homes.items():
            if class_name == (home.partition(":")[2] if isinstance(home, str) else home.__name__):
                return self[name]
        raise KeyError(class_name)

    def options(self, name: str) -> tuple[Option, ...]:
        """Return the options that a class declares, in their order."""
        declared = self._declared(name)
        return declared_options(self[name]) if declared is None else tuple(declared.options.values())

    def fact(self, name: str, what: str) -> Any:
        """Return what a class says of itself under some name."""
        declared = self._declared(name)
        if declared is None or what not in declared.facts:
            return getattr(self[name], what)
        return declared.facts[what]

    def shared_options(self, among: Iterable[str] | None = None) -> tuple[Option, ...]:
        """Return one option for every name that classes have options of; what it says names the classes.

        Parameters
        ----------
        among
            The classes to look at; all there are if not given.
        """
        return shared_options((name, self.options(name)) for name in (self if among is None else among))

    def asked(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return what was given for options of classes, among the values of keywords."""
        return {one.name: given[one.name] for one in self.shared_options() if given.get(one.name) is not None}

    def own(self, name: str, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the options that were given, as values; raise where the class has no such option.

        >>> known = Registry("tripcloak.flows.methods", {"odkanon": "odkanon:ODkAnon"})
        >>> known.own("odkanon", {"levels": 4, "tolerance": None})
        {'levels': 4}
        >>> known.own("odkanon", {"loss": "tiles"})
        Traceback (most recent call last):
        tripcloak.InputError: odkanon has no option loss
        """
        has = {one.name: one for one in self.options(name)}
        asked = {option: value for option, value in given.items() if value is not None}
        for option in asked:
            if option not in has:
                raise InputError(f"{name} has no option {called(option)}")
        return {option: has[option].take(value) for option, value in asked.items()}

    def own_of_each(self, names: Iterable[str], given: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
        """Return what was given for each of several classes; raise where none of them has such an option."""
        chosen = list(names)
        has = {name: {one.name for one in self.options(name)} for name in self}
        asked = {option: value for option, value in given.items() if value is not None}
        for option in asked:
            if not any(option in has[name] for name in chosen):
                owners = ", ".join(name for name in self if option in has[name])
                one = called(option)
                raise InputError(
                    f"none of {', '.join(chosen)} has an option {one}: {one} is an option of {owners}"
                )
        return {
            name: self.own(name, {option: asked[option] for option in asked if option in has[name]})
            for name in chosen
        }

    def _declared(self, name: str) -> Declared | None:
        home = self._homes[name]
        if not isinstance(home, str):
            return None
        module, _, class_name = home.partition(":")
        try:
            return declared_in_source(f"{self._package}.{module}", class_name)
        except NotPlainError:
            return None


class Declared(NamedTuple):
    """What a class declares: plain values of its own, and its options, by name."""

    facts: dict[str, Any]
    options: dict[str, Option]


class NotPlainError(Exception):
    """What a class declares cannot be read from its source."""


@cache
def declared_in_source(module: str, class_name: str) -> Declared:
    """Return what a class and its bases declare, read from source.

    >>> declared_in_source("tripcloak.flows.methods.odkanon", "ODkAnon").facts["noisy"]
    False
    """
    body = next(
        (node for node in _source(module).body if isinstance(node, ast.ClassDef) and node.name == class_name),
        None,
    )
    if body is None:
        raise NotPlainError
    declared = Declared({}, {})
    # As in a dataclass: what a class says anew keeps the place that its base gave it.
    for base in reversed(body.bases):
        if isinstance(base, ast.Name) and (home := _home(module, base.id)) is not None:
            above = declared_in_source(home, base.id)
            declared.facts.update(above.facts)
            declared.options.update(above.options)
    for line in body.body:
        if isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name) and line.value is not None:
            _declare(declared, module, line.target.id, ast.unparse(line.annotation), line.value)
    return declared


def _declare(declared: Declared, module: str, name: str, annotation: str, value: ast.expr) -> None:
    if annotation.startswith("ClassVar"):
        try:
            declared.facts[name] = ast.literal_eval(value)
        except ValueError:
            declared.facts.pop(name, None)
    elif isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "option":
        (default,) = (_plain(module, part) for part in value.args)
        said: dict[str, Any] = {}
        for word in value.keywords:
            plain = _plain(module, word.value)
            said.update(plain if word.arg is None else {word.arg: plain})
        declared.options[name] = described(name, annotation, default, **said)
    else:
        declared.options.pop(name, None)


def _plain(module: str, value: ast.expr) -> Any:
    """Return a literal, also one that goes by a name here or where it is imported from."""
    if isinstance(value, ast.Name):
        home = _home(module, value.id)
        for line in [] if home is None else _source(home).body:
            match line:
                case ast.Assign(targets=[ast.Name(id=value.id)], value=found):
                    return _plain(home or "", found)
                case ast.AnnAssign(target=ast.Name(id=value.id), value=ast.expr() as found):
                    return _plain(home or "", found)
    try:
        return ast.literal_eval(value)
    except ValueError:
        raise NotPlainError from None


def _home(module: str, name: str) -> str | None:
    """Return the module of this package that a name of a module comes from; None if from elsewhere."""
    for line in _source(module).body:
        if isinstance(line, ast.ImportFrom) and any(
            (alias.asname or alias.name) == name for alias in line.names
        ):
            found = line.module or ""
            return found if found.startswith("tripcloak.") else None
    return module


@cache
def _source(module: str) -> ast.Module:
    # Not by importlib's finders: those would load the packages on the way.
    package, _, below = module.partition(".")
    try:
        text = pkgutil.get_data(package, f"{below.replace('.', '/')}.py")
    except OSError:
        text = None
    if text is None:
        raise NotPlainError
    return ast.parse(text)
