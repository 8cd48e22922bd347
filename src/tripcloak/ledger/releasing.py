"""Releases that a ledger knows of: checked against all before them, recorded, then written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TypeAlias

from tripcloak.flows.anonymise import (
    AnonymisationOutcome,
    AnonymisationRequest,
    make_release,
    write_release,
)
from tripcloak.ground.errors import TripcloakError
from tripcloak.ground.folders import PUBLIC, refuse_if_taken
from tripcloak.ground.progress import Progress, silent
from tripcloak.ledger.disclosing import disclosed
from tripcloak.ledger.disclosure import Disclosure
from tripcloak.ledger.store import Ledger, RecordedRelease

Guard: TypeAlias = Callable[[Sequence[Disclosure], Sequence[Disclosure]], None]
"""Is given what earlier releases tell and what a new one would; raises where that is too much together."""


def anonymise_with_ledger(
    request: AnonymisationRequest,
    ledger: Ledger,
    *,
    guard: Guard,
    approvals_needed: int | None = None,
    progress: Progress = silent,
) -> tuple[AnonymisationOutcome, RecordedRelease]:
    """Return the outcome of a request, and what the ledger has of it; both are on disk if this returns.

    The release is made first, checked against all that the ledger knows while nobody else may add to it,
    recorded, and only then written. From the moment that it is recorded it counts as published, whatever
    becomes of this run.

    Parameters
    ----------
    guard
        Raises where the earlier disclosures and the new ones tell too much together: nothing is recorded.
    approvals_needed
        How many people must approve of the release; as many as the ledger asks for, if not given.
    """
    refuse_if_taken(request.out, force=request.force)
    made = make_release(replace(request, keyed=ledger.key.record_key), progress)
    told = disclosed(made, request.out.absolute().name)
    progress("checking against earlier releases", 0, None)
    with ledger.changing():
        guard(ledger.disclosures(), told)
        recorded = ledger.prepare(made, told, request.out, approvals_needed=approvals_needed)
    there_before = (request.out / PUBLIC).exists()
    try:
        outcome = write_release(made, request.out, force=request.force, progress=progress)
    except BaseException:
        # Where nothing is in place, nobody can ever have had it.
        if not there_before and not (request.out / PUBLIC).exists():
            with suppress(TripcloakError):
                ledger.abandon(recorded)
        raise
    return outcome, ledger.released(recorded, request.out)
