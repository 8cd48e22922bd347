"""The rules a release folder is held to; importing this package enters them all in one rulebook."""

from tripcloak.flows.audit.evidence import BOOK

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
