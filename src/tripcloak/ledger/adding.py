"""Releases that were made before there was a ledger, or without it: read again, and recorded as they are."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tripcloak.ground.errors import InputError
from tripcloak.ground.folders import file_digest
from tripcloak.ground.manifest import NAME, public_part, release_folder
from tripcloak.ground.memory import Memory
from tripcloak.ground.progress import Progress, silent
from tripcloak.ledger.disclosing import read_release_again
from tripcloak.ledger.store import Ledger, RecordedRelease
from tripcloak.ledger.store.describing import flows_to_record
from tripcloak.records.files.frames import Input


def add_release(
    folder: Path,
    ledger: Ledger,
    *,
    inputs: Sequence[Input] = (),
    memory: Memory = None,
    progress: Progress = silent,
) -> RecordedRelease:
    """Return what a ledger has of a release that is already out, after reading its input again.

    What is known of it is known: it is recorded whatever it tells together with others.

    Parameters
    ----------
    folder
        The release, with its private part.
    inputs
        Where its input lies now; where it lay when the release was made, if not given.

    Raises
    ------
    InputError
        It is in the ledger already, its private part is missing, or its input is gone or another one.
    """
    whole = release_folder(folder)
    _refuse_known(whole, ledger)
    again = read_release_again(whole, ledger.key.record_key, inputs=inputs, memory=memory, progress=progress)
    with ledger.changing():
        _refuse_known(whole, ledger)
        told = flows_to_record(again)
        recorded = ledger.prepare(told, again.disclosures(whole.resolve().name), whole, is_out=True)
    return ledger.released(recorded, whole)


def _refuse_known(folder: Path, ledger: Ledger) -> None:
    digest = file_digest(public_part(folder) / NAME)
    for one in ledger.releases:
        if one.released is not None and one.released.content["files"].get(NAME) == digest:
            raise InputError(
                f"{folder} is in the ledger already, as release {one.number} ({one.name}); see "
                f"`tripcloak ledger list {ledger.folder}`"
            )
