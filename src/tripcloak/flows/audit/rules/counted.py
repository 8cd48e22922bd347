"""The rule on words: people are spoken of only where ids stand for people."""

from __future__ import annotations

import re
from typing import Any

from tripcloak.flows.audit.evidence import BOOK, FlowEvidence, column_names
from tripcloak.ground.manifest import read_run

NAMES = {
    "vehicle": r"veh(icle)?|taxi|cab|car|bike|bicycle|scooter|truck|bus|medallion|plate",
    "device": r"device|imei|imsi|msisdn|phone|sim|maid|caid",
    "card": r"card|smartcard|ticket",
    "household": r"household|hh",
}
"""Names of columns that no column of people has, with or without the word id."""

SPOKEN = {
    "person": ("people:", "people"),
    "vehicle": ("vehicles, not people:", "vehicles (not people)"),
    "device": ("devices, not people:", "devices (not people)"),
    "card": ("cards, not people:", "cards (not people)"),
    "household": ("households, not people:", "households (not people)"),
    "unknown": ("ids of unknown kind:", "ids of unknown kind"),
}
"""How the manifest must speak of ids: what its entry `counted` begins with, and what its sentence holds."""

OVERLAP_SECONDS, OVERLAPPING = 600, 0.25
"""Trips of one id that overlap by more than this, and the share of ids from which on they are not people."""
LOOKED_AT = 100_000


@BOOK.rule("counted-as-said", "raw")
def counted_as_said(case: FlowEvidence) -> str | None:
    """What is counted is called what it is: people only where ids stand for people."""
    told, units = case.facts.get("counted"), _units(case)
    if not isinstance(told, dict) or set(told) != units or not all(isinstance(w, str) for w in told.values()):
        return "the manifest does not say what is counted under the name of each unit"
    if any(re.search(r"\d", words) for words in told.values()):
        return "the manifest tells numbers where it should say what is counted"
    if "travellers" not in units:
        return None
    return _misspoken(case, told["travellers"]) or _misnamed(case) or _misused(case)


def _units(case: FlowEvidence) -> set[str]:
    privacy = case.promise.privacy
    return set(case.promise.thresholds) if privacy is None else {f"{privacy.unit}s"}


def _misspoken(case: FlowEvidence, words: str) -> str | None:
    """Return what is wrong with how the manifest speaks of ids of the kind that it states."""
    if case.promise.id_is not in SPOKEN:
        return "the manifest does not say what its ids stand for"
    begins, holds = SPOKEN[case.promise.id_is]
    sentence = str(case.facts["promise"].get("sentence"))
    # Of cards that are not people a sentence speaks of people too.
    otherwise = holds not in sentence or ("not people" in sentence) != ("not people" in holds)
    if not words.startswith(begins) or (case.promise.privacy is None and otherwise):
        return "the manifest calls what is counted other than what it says its ids stand for"
    return None


def _recorded(case: FlowEvidence) -> tuple[Any, Any]:
    """Return what the owner said that ids stand for, and the column of ids, by the private record."""
    run = read_run(case.folder)
    source, columns = run.get("source"), run.get("columns")
    said = source.get("id_is") if isinstance(source, dict) else None
    return said, columns.get("person") if isinstance(columns, dict) else None


def _misnamed(case: FlowEvidence) -> str | None:
    """Return what is wrong if the owner said otherwise, or the name of the column does."""
    said, column = _recorded(case)
    if said is not None:
        return None if said == case.promise.id_is else "the manifest calls ids other than their owner did"
    if case.promise.id_is != "person" or not isinstance(column, str):
        return None
    plain = re.sub(r"[^a-z]", "", column.lower())
    for kind, names in NAMES.items():
        if re.fullmatch(f"(id)?({names})(id|no|number|hash)?", plain):
            return (
                f"the manifest speaks of people, and column {column} is named like one of {SPOKEN[kind][1]}"
            )
    return None


def _misused(case: FlowEvidence) -> str | None:
    """Return what is wrong if ids that are called people, unasked, are often in two places at once."""
    said, _ = _recorded(case)
    there = {"person", "start_time", "end_time"} <= set(column_names(case.con, "canonical"))
    if said is not None or case.promise.id_is != "person" or not there:
        return None
    share = case.value(
        f"""select avg(torn::int) from (
            select coalesce(bool_or(epoch(start_time) < before - {OVERLAP_SECONDS}), false) as torn from (
                select person, start_time, max(epoch(end_time)) over (
                    partition by person order by start_time, end_time
                    rows between unbounded preceding and 1 preceding
                ) as before
                from (select distinct person, start_time, end_time from canonical
                      where reason = 0 and person is not null and start_time is not null limit {LOOKED_AT})
            ) group by person
        )"""
    )
    if share is not None and share >= OVERLAPPING:
        return "the manifest speaks of people, and many ids have trips that overlap, as no person's would"
    return None
