"""Totals and heights beside releases of one ledger: later ones add no fact to what earlier ones tell."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tripcloak.flows.anonymise import MadeRelease
from tripcloak.flows.methods import METHODS
from tripcloak.flows.release import Release
from tripcloak.flows.release.bricks import TablesWanted
from tripcloak.ground.arrays import Ints
from tripcloak.ledger.attack import attack
from tripcloak.ledger.disclosing import disclosed
from tripcloak.ledger.disclosure import Disclosure
from tripcloak.ledger.releasing import anonymise_with_ledger
from tripcloak.ledger.totals import with_safe_tables
from tripcloak.promises import KAnonymity
from worlds.ledgers import Releases, asked, ledger_of_fixed_key, record, same

BOTH = TablesWanted(levels=(8, 7), margins=True)
FINEST = METHODS["suppression"](promise=KAnonymity(k=5, unit="travellers"), suppression_limit=0.95)
"""Withholds much, of which tables count some."""


@pytest.fixture(scope="module")
def releases(tmp_path_factory: pytest.TempPathFactory) -> Releases:
    return Releases(tmp_path_factory.mktemp("made"))


def test_what_tables_tell_is_told_brick_by_brick(releases: Releases) -> None:
    made = releases.made(tables=BOTH, method=FINEST, spec="h3:9")
    tables = made.release.tables
    assert tables is not None
    assert len(tables.laid_at)
    (told,) = disclosed(made, "one")
    assert told.trips.tolist() == tables.trips.tolist()
    assert len(attack([told])) == 0
    assert all(len(zones) == told.n_groups for zones in told.zones.values())
    assert "withheld before table" in str(told.zones["origin"][-1])


def test_totals_that_count_withheld_trips_are_recorded(
    releases: Releases, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = releases.made(tables=BOTH, method=FINEST, spec="h3:9")
    ledger = ledger_of_fixed_key(tmp_path / "ledger", monkeypatch)
    record(ledger, made, tmp_path / "one")
    (told,), (own,) = ledger.disclosures(), disclosed(made, "one")
    assert told.n_groups == own.n_groups > made.release.n_groups
    assert same(told, own)


def test_withheld_flows_that_would_tell_something_are_left_out(releases: Releases) -> None:
    first, made = (
        releases.made(tables=BOTH, method=FINEST, spec="h3:9"),
        releases.made(tables=BOTH, method=FINEST, spec="h3:9"),
    )
    (earlier,) = disclosed(first, "one")
    laid = first.release.tables
    assert laid is not None
    # An earlier number of all that one brick holds but for one record: the brick less that is of one.
    brick = int(np.flatnonzero(np.arange(len(laid.trips)) >= laid.n_groups)[0])
    members = np.flatnonzero(earlier.group == brick)
    narrow = np.full(len(earlier.group), -1, dtype=np.int32)
    narrow[members[1:]] = 0
    other = _alone(earlier, narrow)
    assert len(attack([other, earlier]))
    again = with_safe_tables(
        made.matrix,
        made.release,
        BOTH,
        [other],
        lambda release: disclosed(_with(made, release), "two"),
    )
    assert again.tables is not None
    assert len(again.tables.laid_at) < len(laid.laid_at)
    assert len(attack([other, *disclosed(_with(made, again), "two")])) == 0


def _with(made: MadeRelease, release: Release) -> MadeRelease:
    return replace(made, release=release)


def _alone(told: Disclosure, group: Ints) -> Disclosure:
    """Return another release of the same records, which tells of one group."""
    weight = np.ones(len(group)) if told.weight is None else told.weight
    trips = np.array([int(weight[group == 0].sum())])
    return replace(told, group=group, trips=trips, travellers=None, zones={}, k=told.k)


def test_a_ledger_of_releases_with_tables_tells_nothing(
    releases: Releases, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = ledger_of_fixed_key(tmp_path / "ledger", monkeypatch)
    for name, more in (("one", {}), ("two", {"k": 8})):
        request = asked(releases.trips, tmp_path / name, tables=BOTH, **more)
        anonymise_with_ledger(request, ledger)
    told = ledger.disclosures()
    assert len(told) == 2
    found = attack(told)
    assert found.complete
    assert not len(found)
    assert ledger.releases[0].facts["tables"][-1] == "all,all"
