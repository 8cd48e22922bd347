"""Totals and other heights beside a release that add no fact to what earlier releases tell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tripcloak.flows.model import ODMatrix
from tripcloak.flows.release import Release
from tripcloak.flows.release.bricks import NONE, Tables, TablesWanted
from tripcloak.flows.release.laying import lay_tables, read_tables
from tripcloak.flows.release.totals import order_of
from tripcloak.ground.arrays import Ints
from tripcloak.ledger.attack import attack
from tripcloak.ledger.disclosure import Disclosure
from tripcloak.ledger.prevention import Disclosing

ROUNDS = 10
"""How often tables are attacked and mended before they count no withheld flow at all."""


def with_safe_tables(
    matrix: ODMatrix,
    release: Release,
    wanted: TablesWanted,
    earlier: Sequence[Disclosure],
    disclosing: Disclosing,
) -> Release:
    """Return a release with tables that add no fact, given that the release itself adds none.

    Of every fact the withheld flows are left out that it needs. Tables without any are sums of released
    flows, which tell nothing that those do not.

    Parameters
    ----------
    earlier
        What is published already.
    disclosing
        Gives what a release would tell.
    """
    tables = lay_tables(matrix, release, wanted)
    for _ in range(ROUNDS):
        if not len(tables.laid_at):
            break
        facts = attack([*earlier, *disclosing(replace(release, tables=tables))])
        named = [term for fact in facts.found for term in fact.terms if term.release == len(earlier)]
        bricks = np.unique([term.group for term in named if term.group >= tables.n_groups])
        if facts.complete and not len(bricks):
            return replace(release, tables=tables)
        if not len(bricks):
            break
        tables = _without(matrix, release, tables, bricks)
    return replace(release, tables=_without(matrix, release, tables, np.arange(len(tables.trips))))


def _without(matrix: ODMatrix, release: Release, tables: Tables, bricks: Ints) -> Tables:
    """Return tables that do not count the withheld flows of some bricks."""
    first = np.where(np.isin(tables.brick_of_flow, bricks), NONE, tables.first_table)
    return read_tables(matrix, release, tables.wanted, order_of(tables), first)
