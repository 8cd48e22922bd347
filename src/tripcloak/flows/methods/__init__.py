"""Methods: one file per published method, all under one contract."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tripcloak.flows.methods.registry import METHODS, find_method

if TYPE_CHECKING:
    from tripcloak.flows.methods.method import FlowMethod
    from tripcloak.flows.methods.slots import SlotBySlot

__all__ = ["METHODS", "FlowMethod", "SlotBySlot", "find_method"]

_HOMES = {"FlowMethod": "method", "SlotBySlot": "slots"}


def __getattr__(name: str) -> Any:
    """Return the contract, or the class of a registered method; loaded on first use."""
    if name in _HOMES:
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    try:
        return METHODS.of_class(name)
    except KeyError:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None
