"""The rules a release folder is held to; importing this package enters them all in one rulebook."""

from tripcloak.flows.audit.evidence import BOOK
from tripcloak.flows.audit.rules import counts, files, manifest, outlines, privacy, zones

__all__ = ["BOOK", "counts", "files", "manifest", "outlines", "privacy", "zones"]
