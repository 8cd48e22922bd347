"""The one rulebook of release folders."""

from __future__ import annotations

from tripcloak.audit.evidence import Evidence
from tripcloak.audit.rulebook import Rulebook

BOOK: Rulebook[Evidence] = Rulebook()
