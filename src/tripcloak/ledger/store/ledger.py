"""Ledger: what was released of the same people, in a folder that only grows."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from tripcloak._version import __version__
from tripcloak.ground.arrays import Ints
from tripcloak.ground.errors import InputError, InternalError, OutputExistsError
from tripcloak.ground.folders import PUBLIC, file_digest
from tripcloak.ground.keys import SigningKey
from tripcloak.ground.manifest import public_part, read_run
from tripcloak.ground.signatures import NAME as SIGNED
from tripcloak.ledger.account import Account, Cap, OverdrawnError
from tripcloak.ledger.disclosure import WITHHELD, Disclosure, with_totals
from tripcloak.ledger.store.approvals import approval, is_genuine
from tripcloak.ledger.store.chain import (
    CHAIN,
    HEAD,
    Entry,
    Kind,
    append,
    backward_times,
    hold_to_clock,
    is_settled,
    read_chain,
    read_half_rotated,
    read_head,
    write_head,
)
from tripcloak.ledger.store.columns import (
    DATA,
    KnownRecords,
    StoredDisclosure,
    StoredRecords,
    Written,
    changed_files,
    group_column,
    read_columns,
    read_records,
    told_by_entry,
    write_columns,
    write_records,
)
from tripcloak.ledger.store.describing import HOW_MADE, Recordable
from tripcloak.ledger.store.files import explained_errors, locked, tidy, write_whole
from tripcloak.ledger.store.key import NAME, NEXT, LedgerKey, read_key
from tripcloak.ledger.store.releases import RecordedRelease, find_release, releases_of
from tripcloak.ledger.store.sameness import Coming, Offered, refuse_other_data
from tripcloak.ledger.store.spent import Charge, Charges, account_of, spending_of, told_together
from tripcloak.ledger.waiting import Waiting, could_be_alike, waiting_for_company


def init_ledger(folder: Path, *, approvals_needed: int = 0, cap: Cap | None = None) -> Ledger:
    """Return a new ledger in a folder that was not there before, or is empty.

    Parameters
    ----------
    approvals_needed
        How many people must approve of every release before it may be published.
    cap
        What all differentially private releases together may spend of anybody.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as place:
    ...     init_ledger(Path(place) / "ledger", approvals_needed=2)
    <Ledger of 0 releases>
    """
    if approvals_needed < 0:
        raise InputError("the number of approvals that a release needs is 0 or more")
    if (folder / HEAD).exists():
        raise OutputExistsError(f"{folder} is a ledger already; it is never begun anew")
    if folder.is_symlink() or (folder.exists() and not (folder.is_dir() and not any(folder.iterdir()))):
        raise OutputExistsError(f"{folder} holds other things; a ledger needs a folder of its own")
    if any((place / "manifest.json").is_file() for place in folder.absolute().parents):
        raise OutputExistsError(f"{folder} lies in the public part of a release; choose another place")
    aside = folder.absolute().with_name(f".{folder.name}-{secrets.token_hex(4)}")
    with explained_errors(folder):
        folder.absolute().parent.mkdir(parents=True, exist_ok=True)
        try:
            for part in (aside, aside / CHAIN, aside / DATA):
                part.mkdir(mode=0o700)
            key = LedgerKey.new()
            write_whole(aside / NAME, key.to_bytes())
            told = {"approvals_needed": approvals_needed, "cap": None if cap is None else cap._asdict()}
            append(aside, key, (), "init", {"tripcloak": __version__, **told})
            os.rename(aside, folder)
        finally:
            shutil.rmtree(aside, ignore_errors=True)
    return open_ledger(folder)


def open_ledger(folder: Path) -> Ledger:
    """Return the ledger in a folder, after checking its chain.

    Raises
    ------
    InputError
        The folder is no ledger, of a newer version, or its key is missing or another.
    AuditFailedError
        The chain is broken or cut off.
    """
    read_head(folder)
    if (folder / NEXT).exists():
        with locked(folder):
            _finish_rotation(folder)
    with locked(folder, shared=True):
        key = read_key(folder / NAME)
        return Ledger(folder, key, read_chain(folder, key))


class Ledger:
    """What was released of the same people; see :func:`init_ledger` and :func:`open_ledger`.

    Attributes
    ----------
    folder : Path
        Where it is kept; for its owner alone.
    key : LedgerKey
        The owner's key.
    entries : tuple of Entry
        The chain, as it was when the ledger was opened, or last changed by this object.
    """

    def __init__(self, folder: Path, key: LedgerKey, entries: tuple[Entry, ...]) -> None:
        self.folder = folder
        self.key = key
        self.entries = entries
        self._alone = False
        self._held: tuple[list[Written], KnownRecords] | None = None
        self._told: tuple[list[int], KnownRecords, dict[int, list[Disclosure]]] | None = None

    def __repr__(self) -> str:
        return f"<Ledger of {len(self.releases):,} releases>"

    @property
    def releases(self) -> tuple[RecordedRelease, ...]:
        """Return the releases in their order, also those that were withdrawn."""
        return releases_of(self.entries)

    @property
    def approvals_needed(self) -> int:
        """Return how many people must approve of every release; one may ask for more itself."""
        return int(self.entries[0].content["approvals_needed"])

    @property
    def account(self) -> Account:
        """Return what differentially private releases have spent, and the cap on it."""
        return account_of(self.entries, self.releases)

    @property
    def waiting(self) -> int:
        """Return how many erased people wait for company: their old number stands, as too few have left."""
        told = [one.facts["waiting"] for one in self.releases if one.counts and one.facts.get("waiting")]
        replaced = {number for one in told for number in one["in_place_of"]}
        latest = [one for one in self.releases if one.counts and one.number not in replaced]
        return sum(one.waiting or 0 for one in latest)

    @property
    def head(self) -> str:
        """Return the digest of the last entry: whoever notes it down can tell later that nothing is lost."""
        return self.entries[-1].digest

    def find(self, named: str) -> RecordedRelease:
        """Return the release of a number, a name or a folder."""
        return find_release(self.releases, named)

    def known(self) -> KnownRecords:
        """Return the records of all releases."""
        files = _record_files(self.entries)
        # A run needs them several times: to look for a release, to check it, and to be added to.
        if self._held is None or self._held[0] != files:
            self._held = files, read_records(self.folder, files)
        return self._held[1]

    def disclosures(self) -> list[Disclosure]:
        """Return what the releases tell that readers may have, in their order."""
        counting = [one for one in self.releases if one.counts and one.facts["parts"]]
        if not counting:
            return []
        numbers, known = [one.number for one in counting], self.known()
        if self._told is None or self._told[0] != numbers or self._told[1] is not known:
            records = StoredRecords(known)
            self._told = numbers, known, {one.number: self._parts(one, records) for one in counting}
        return [one for parts in self._told[2].values() for one in parts]

    def _parts(self, release: RecordedRelease, records: StoredRecords) -> list[Disclosure]:
        """Return what one release tells: its flows first, then every segment; its records stay on disk."""
        groups, numbers = (release.facts["data"][name] for name in _TABLES)
        table = read_columns(self.folder, numbers)

        def column(at: int) -> Ints:
            name = f"group_{at}"
            found: Ints = read_columns(self.folder, groups, name)[name].to_numpy()
            return found

        made = {name: release.facts.get(name) for name in HOW_MADE}
        return [
            one
            for at, part in enumerate(release.facts["parts"])
            for one in with_totals(
                StoredDisclosure(
                    records,
                    partial(column, at),
                    {**told_by_entry(part, at, table, release.facts["publish"]), "made": made},
                    # Segments are parts of the input.
                    n_records=None if at else release.facts["records"],
                )
            )
        ]

    def numbers(self, release: RecordedRelease) -> Any:
        """Return all published numbers of a release as an Arrow table: a row a group, with its zones."""
        return read_columns(self.folder, release.facts["data"]["numbers"])

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Be alone in the ledger: others wait, and what they have written before is known here."""
        with explained_errors(self.folder), locked(self.folder):
            before = self.key.records
            if (self.folder / NEXT).exists():
                _finish_rotation(self.folder)
            self.key = read_key(self.folder / NAME)
            self.entries = read_chain(self.folder, self.key)
            if self.key.records != before:
                raise InputError("the key of the ledger was changed while this ran; run it again")
            hold_to_clock(self.entries)
            if not is_settled(self.folder, self.entries):
                write_head(self.folder, self.key, self.entries[-1])
            self._tidy()
            self._alone = True
            try:
                yield
            finally:
                self._alone = False

    def set_cap(self, cap: Cap, *, reason: str) -> None:
        """Set what may be spent from now on; what was spent stays spent."""
        if not reason.strip():
            raise InputError("say why the cap is set")
        with self.changing():
            self._append("capped", {"cap": cap._asdict(), "reason": reason})

    def spend(self, charge: Charge, offered: Offered) -> Entry:
        """Return the entry that charges everybody in an input, which is to be made before noise is drawn.

        From then on it counts, whatever becomes of the release: noise that was drawn and seen by somebody is
        spent, and drawing until one likes the numbers would be no noise at all.

        Raises
        ------
        OverdrawnError
            The cap would be passed; nothing is charged.
        """
        with self.changing():
            return self._spend(charge, self._coming(offered))

    def prepare(
        self,
        made: Recordable,
        disclosures: Sequence[Disclosure],
        out: Path,
        *,
        approvals_needed: int | None = None,
        is_out: bool = False,
    ) -> RecordedRelease:
        """Return a release after recording all it tells, just before it is written; it counts from now on.

        Call it within :meth:`changing`, where nothing speaks against the disclosures.

        Parameters
        ----------
        made
            The release, of records that were read with the ledger's key.
        out
            The folder it is about to be written to.
        approvals_needed
            How many people must approve of it, where that is more than the ledger asks for.
        is_out
            It was published before there was a ledger: noise in it is charged whatever the cap.
        """
        # Totals follow from the flows again.
        disclosures = [one for one in disclosures if one.total_of is None]
        coming = self._coming(made.offered)
        spent = None if made.charge is None else self._charged(made.charge, coming, is_out=is_out)
        if spent is not None:
            # Charging made them known.
            coming = self._coming(made.offered)
        content = {
            "release": len(self.releases) + 1,
            "name": out.absolute().name,
            "folder": str(out.absolute()),
            **made.facts,
            "covered": coming.covered,
            "told_by": coming.told_by,
            "spent": None if spent is None else spent.sequence,
            "waiting": self._waiting(coming, disclosures[0])._asdict() if disclosures else None,
            "approvals_needed": max(self.approvals_needed, approvals_needed or 0),
            "parts": [{name: getattr(one, name) for name in IN_ENTRY} for one in disclosures],
        }
        try:
            content["data"] = self._write_data(made, coming, disclosures, spent)
        except BaseException:
            # Room that a full disk may need is given back at once, and not by the next run.
            self._tidy()
            raise
        self._append("prepared", content)
        return self.releases[-1]

    def released(self, release: RecordedRelease, out: Path) -> RecordedRelease:
        """Return a release after recording that it was written, with the digests of its public files."""
        public = public_part(out)
        content = {
            "release": release.number,
            # A verdict on the files is signed, and signed again, when they are there.
            "files": {
                path.name: file_digest(path) for path in sorted(public.iterdir()) if path.name != SIGNED
            },
            "input_files": read_run(out).get("input_files"),
            "input_digest": read_run(out).get("input_digest"),
        }
        return self._noted(release, "released", content)

    def abandon(self, release: RecordedRelease) -> RecordedRelease:
        """Return a release after recording that it was never written; it no longer counts."""
        return self._noted(release, "abandoned", {"release": release.number})

    def withdraw(
        self, release: RecordedRelease, *, reason: str, never_published: bool = False
    ) -> RecordedRelease:
        """Return a release after recording that it was taken back.

        What was published stays known and goes on to count, unless nobody ever had it.
        """
        if release.abandoned is not None or release.withdrawn is not None:
            raise InputError(f"release {release.number} ({release.name}) is {release.state} already")
        if not reason.strip():
            raise InputError("say why the release is withdrawn")
        content = {"release": release.number, "reason": reason, "never_published": never_published}
        return self._noted(release, "withdrawn", content)

    def approve(
        self, release: RecordedRelease, *, by: str, key: SigningKey, verdict: str, comment: str = ""
    ) -> RecordedRelease:
        """Return a release after signing a verdict on it into the chain.

        Raises
        ------
        InputError
            There is no such verdict, or the public files are not those that were recorded.
        """
        if changed := self.changed_files(release):
            raise InputError(
                f"the public files of release {release.number} ({release.name}) are not those that were "
                f"recorded ({', '.join(changed)}): a verdict would be on others"
            )
        content = approval(release, by=by, key=key, verdict=verdict, comment=comment)
        return self._noted(release, "approval", content)

    def changed_files(self, release: RecordedRelease) -> list[str] | None:
        """Return the public files that are not as they were recorded; None where they are elsewhere now."""
        if release.released is None:
            return None
        public, told = Path(release.facts["folder"]) / PUBLIC, release.released.content["files"]
        if not public.is_dir():
            return None
        there = {path.name for path in public.iterdir()} - {SIGNED}
        return sorted(
            name
            for name in there | set(told)
            if name not in there or name not in told or file_digest(public / name) != told[name]
        )

    def rotate(self) -> None:
        """Give the ledger another key, and every digest that it holds another value under it.

        Whoever has the old key can neither find a record any more nor seal an entry.
        """
        with self.changing():
            key = self.key.rotated()
            known = self.known().rekeyed(key.records[-1])
            file = write_records(self.folder, self._name("records"), known)
            write_whole(self.folder / NEXT, key.to_bytes())
            # From this entry on the new key counts: whatever fails behind it is finished by the next run.
            self.entries = (
                *self.entries,
                append(self.folder, key, self.entries, "rotated", {"records": [file]}),
            )
            with suppress(OSError):
                os.replace(self.folder / NEXT, self.folder / NAME)
            self.key = key
            self._tidy()

    def faults(self) -> list[str]:
        """Return what is wrong beyond the chain itself, in words: files, signatures, times, access."""
        found = [f"{name} is missing or was changed" for name in changed_files(self.folder, self._needed())]
        releases = {one.number: one for one in self.releases}
        found += [
            f"the verdict in entry {entry.sequence} is not signed as it says"
            for entry in self.entries
            if entry.kind == "approval" and not is_genuine(entry.content, releases[entry.content["release"]])
        ]
        found += [
            f"entry {sequence} claims to be older than the one before it; its place counts, not its time"
            for sequence in backward_times(self.entries)
        ]
        open_to_others = [
            path for path in (self.folder, *self.folder.rglob("*")) if path.stat().st_mode & 0o077
        ]
        return found + [f"others than the owner can read {path}" for path in open_to_others]

    def _noted(self, release: RecordedRelease, kind: Kind, content: Mapping[str, Any]) -> RecordedRelease:
        with self.changing():
            self._append(kind, content)
        return self.releases[release.number - 1]

    def _append(self, kind: Kind, content: Mapping[str, Any]) -> None:
        if not self._alone:
            raise InternalError("a ledger is changed by one run at a time")
        self.entries = (*self.entries, append(self.folder, self.key, self.entries, kind, content))

    def _coming(self, offered: Offered) -> Coming:
        """Return what is about to be recorded, or raise where it is of other data."""
        known = self.known()
        coming = Coming(*offered, known.find(offered.records.record))
        before = [entry.content for entry in self.entries if entry.kind in ("prepared", "spent")]
        refuse_other_data(coming, known, before)
        return coming

    def _spend(self, charge: Charge, coming: Coming, *, is_out: bool = False) -> Entry:
        """Return the entry that charges everybody in an input, or raise where that is more than the cap."""
        (method, spending, unit), known = charge, self.known()
        if unit == "trip" and np.any(coming.records.person != coming.records.record):
            raise InternalError("trips are hidden by themselves, though it is known whose they are")
        drawn = (
            (spending_of(entry), self._members(entry)) for entry in self.entries if entry.kind == "spent"
        )
        charges = Charges.of(known.with_more(known.new_among(coming.records, coming.place)), drawn)
        inside = charges.those(coming.records.person)
        cap, before = self.account.cap, charges.together(inside)
        if not is_out and cap is not None and not cap.allows(before, spending):
            raise OverdrawnError(cap, before)
        content = {
            "method": method,
            "spending": spending._asdict(),
            "unit": unit,
            "covered": coming.covered,
            "told_by": coming.told_by,
            "members": coming.digest,
            "together": told_together(charges.charged(spending, inside).together()),
        }
        try:
            everybody = np.full(len(coming.records), WITHHELD, dtype=np.int32)
            content["data"] = self._write_records(coming, {"member": (coming.records.record, everybody)})
        except BaseException:
            self._tidy()
            raise
        self._append("spent", content)
        return self.entries[-1]

    def _waiting(self, coming: Coming, new: Disclosure) -> Waiting:
        """Return how many erased people are still in a number that stands, once a release is out."""
        alike = [
            one
            for one in self.releases
            if one.counts and one.facts["parts"] and could_be_alike(one.facts["records"], len(coming.records))
        ]
        when = coming.covered.get("period")
        self.disclosures()
        told = {} if self._told is None else self._told[2]
        earlier = (
            (one.number, one.facts["covered"].get("period") == when, told[one.number][0]) for one in alike
        )
        return waiting_for_company(earlier, new)

    def _charged(self, charge: Charge, coming: Coming, *, is_out: bool) -> Entry:
        """Return the entry by which a noisy release was charged, or is now."""
        taken = {one.facts.get("spent") for one in self.releases}
        for entry in self.entries:
            alike = entry.kind == "spent" and entry.content["members"] == coming.digest
            if alike and entry.sequence not in taken and spending_of(entry) == charge.spending:
                return entry
        return self._spend(charge, coming, is_out=is_out)

    def _members(self, spent: Entry) -> Ints:
        """Return the column of who was charged, by the places of known records."""
        members: Ints = read_columns(self.folder, spent.content["data"]["groups"])["member"].to_numpy()
        return members

    def _write_data(
        self, made: Recordable, coming: Coming, disclosures: Sequence[Disclosure], spent: Entry | None
    ) -> dict[str, Written]:
        """Write the records that are new, the groups of all, and the published numbers."""
        # Noisy numbers are of no group, but whose they are was told when they were charged.
        data = (
            self._write_records(
                coming, {f"group_{at}": (one.record, one.group) for at, one in enumerate(disclosures)}
            )
            if spent is None
            else {"groups": spent.content["data"]["groups"]}
        )
        # What tables count of withheld flows has names of its own, behind those of the flows.
        told: dict[str, Any] = dict(disclosures[0].zones) if disclosures else {}
        told = told or dict(made.zones)
        for at, one in enumerate(disclosures):
            told[f"trips_{at}"] = one.trips
            if one.travellers is not None:
                told[f"least_{at}"], told[f"most_{at}"] = one.travellers
        if told:
            data["numbers"] = write_columns(self.folder, self._name("numbers"), told)
        return data

    def _write_records(self, coming: Coming, columns: Mapping[str, tuple[Ints, Ints]]) -> dict[str, Written]:
        """Write the records that are new, and columns of the groups of some."""
        known = self.known()
        new, data = known.new_among(coming.records, coming.place), dict[str, Written]()
        if len(new):
            data["records"] = write_records(self.folder, self._name("records"), new)
        place, n = coming.place.copy(), len(known) + len(new)
        own = coming.records.record
        place[place < 0] = np.arange(len(known), n)
        groups = {
            # A segment holds some of the records, each of which is among all of them.
            name: group_column(n, place if record is own else place[np.searchsorted(own, record)], group)
            for name, (record, group) in columns.items()
        }
        data["groups"] = write_columns(self.folder, self._name("groups"), groups)
        return data

    def _name(self, what: str) -> str:
        return f"{len(self.entries) + 1:08d}-{what}.parquet"

    def _needed(self) -> list[Written]:
        """Return the data files that the chain names."""
        data = [one.facts["data"] for one in self.releases]
        tables = [files[name] for files in data for name in _TABLES if name in files]
        members = [entry.content["data"]["groups"] for entry in self.entries if entry.kind == "spent"]
        return [*_record_files(self.entries), *tables, *members]

    def _tidy(self) -> None:
        """Remove what runs have left behind that were stopped."""
        tidy(self.folder / DATA, "[0-9]*.parquet", {file["file"] for file in self._needed()})
        tidy(self.folder / CHAIN)
        tidy(self.folder)


IN_ENTRY = ("name", "k", "counted", "tells_trips", "rounded", "whole")
"""What an entry says of each disclosure."""

_TABLES = ("groups", "numbers")


def _record_files(entries: Sequence[Entry]) -> list[Written]:
    """Return the files of the known records, in the order in which they came to be known."""
    files: list[Written] = []
    for entry in entries:
        if entry.kind == "rotated":
            files = [*entry.content["records"]]
        elif entry.kind in ("prepared", "spent") and "records" in entry.content["data"]:
            files.append(entry.content["data"]["records"])
    return files


def _finish_rotation(folder: Path) -> None:
    """Finish what a run has begun that was stopped while it changed the key, or undo it."""
    with explained_errors(folder):
        # Another run may have finished in the meantime.
        if not (folder / NEXT).exists():
            return
        new = read_key(folder / NEXT)
        entries = read_half_rotated(folder, read_key(folder / NAME), new)
        if entries is None:
            (folder / NEXT).unlink()
            return
        write_head(folder, new, entries[-1])
        os.replace(folder / NEXT, folder / NAME)
