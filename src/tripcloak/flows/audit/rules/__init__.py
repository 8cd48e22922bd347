"""The rules a release folder is held to; importing this package enters them all in one rulebook."""

from tripcloak.flows.audit.evidence import BOOK
from tripcloak.flows.audit.rules import (
    counted,
    counts,
    during,
    files,
    kept,
    manifest,
    outlines,
    privacy,
    rounding,
    tables,
    zones,
)

__all__ = [
    "BOOK",
    "counted",
    "counts",
    "during",
    "files",
    "kept",
    "manifest",
    "outlines",
    "privacy",
    "rounding",
    "tables",
    "zones",
]
