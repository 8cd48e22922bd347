"""Described: a description of an input that can be written down and read again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Self

from tripcloak.errors import InputError


@dataclass(frozen=True, kw_only=True)
class Described:
    """What a description of an input has in common with every other."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that JSON can hold and :meth:`from_dict` reads."""
        values = {item.name: getattr(self, item.name) for item in fields(self)}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Return the description that :meth:`to_dict` wrote."""
        unknown = sorted(set(values) - {item.name for item in fields(cls)})
        if unknown:
            raise InputError(f"a description of an input has unknown entries: {', '.join(unknown)}")
        plain: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in values.items()
        }
        return cls(**plain)

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)
