"""The rules a folder of released trajectories is held to; importing this enters them all in one rulebook."""

from tripcloak.trajectories.audit.rules import (
    degrees,
    exchange,
    files,
    manifest,
    names,
    privacy,
    samples,
    tables,
)
from tripcloak.trajectories.audit.rules.book import BOOK

__all__ = ["BOOK", "degrees", "exchange", "files", "manifest", "names", "privacy", "samples", "tables"]
