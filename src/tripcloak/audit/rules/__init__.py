"""The rules a release folder is held to; importing this package enters them all in one rulebook."""

from tripcloak.audit.rules import (
    counts,
    disclosure,
    files,
    manifest,
    page,
    privacy,
    segments,
    withheld,
    zones,
)
from tripcloak.audit.rules.book import BOOK

__all__ = [
    "BOOK",
    "counts",
    "disclosure",
    "files",
    "manifest",
    "page",
    "privacy",
    "segments",
    "withheld",
    "zones",
]
