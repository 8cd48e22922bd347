"""The one rulebook of releases in memory."""

from __future__ import annotations

from tripcloak.audit.matrix.case import MatrixCase
from tripcloak.audit.rulebook import Rulebook

BOOK: Rulebook[MatrixCase] = Rulebook()
