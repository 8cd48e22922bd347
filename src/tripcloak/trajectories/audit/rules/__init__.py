"""The rules a folder of released trajectories is held to; importing this enters them all in one rulebook."""

from tripcloak.trajectories.audit.evidence import BOOK
from tripcloak.trajectories.audit.rules import files, manifest, samples

__all__ = ["BOOK", "files", "manifest", "samples"]
