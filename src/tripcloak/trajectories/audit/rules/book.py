"""The one rulebook of folders of released trajectories."""

from __future__ import annotations

from tripcloak.trajectories.audit.evidence import Evidence
from tripcloak.trajectories.audit.rulebook import Rulebook

BOOK: Rulebook[Evidence] = Rulebook()
