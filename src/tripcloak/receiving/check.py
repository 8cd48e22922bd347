"""The check of a release by its receiver: is it whole, what does it promise, and what can nobody see."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tripcloak.ground.errors import InputError
from tripcloak.ground.keys import PublicKey
from tripcloak.ground.manifest import public_part, read_manifest
from tripcloak.ground.memory import Memory
from tripcloak.ground.progress import Progress, silent
from tripcloak.ground.rulebook import Finding
from tripcloak.ground.signatures import RULE as SIGNED
from tripcloak.ground.signatures import SignatureCheck, check_signature
from tripcloak.ground.spelling import called
from tripcloak.pages.presenting import taken_as_given
from tripcloak.promises import Promise

READABLE = Finding("promise-readable", True, "the manifest states a promise that can be read")
UNREADABLE = Finding(
    "promise-readable", False, "the manifest states a promise that cannot be read, so it promises nothing"
)
NOT_BY_THIS_KEY = {
    "unsigned": "NOT SIGNED: nobody vouches for it",
    "foreign": "SIGNED BY ANOTHER KEY: not by the one that was given",
}
"""What is said first where a signature was asked for, and nothing but its owner is in doubt."""


@dataclass(frozen=True, kw_only=True)
class ReleaseCheck:
    """What the public part of a release shows by itself.

    Attributes
    ----------
    folder : Path
        The public part.
    kind, method, version : str
        What was released, how it was made, and by which version of tripcloak.
    findings : tuple of Finding
        Whether the files are whole and agree with each other, rule by rule.
    holds : tuple of str
        What is in it, in short sentences.
    promised, counted, not_promised, unseen : tuple of str
        What is promised, of what, what is not promised, and what cannot be seen without the raw data.
    signature : SignatureCheck
        What is known of who signed it.
    """

    folder: Path
    kind: str
    method: str
    version: str
    findings: tuple[Finding, ...]
    holds: tuple[str, ...] = ()
    promised: tuple[str, ...] = ()
    counted: tuple[str, ...] = ()
    not_promised: tuple[str, ...] = ()
    unseen: tuple[str, ...] = ()
    signature: SignatureCheck = SignatureCheck("unsigned")

    @property
    def untouched(self) -> bool:
        """Return whether nothing speaks against the files."""
        return bool(self.findings) and not self.broken

    @property
    def broken(self) -> tuple[str, ...]:
        """Return the names of the rules that do not hold."""
        return tuple(one.rule for one in self.findings if not one.ok)

    def sentence(self) -> str:
        """Return the result in a sentence or two."""
        if self.untouched:
            return (
                "Untouched, as far as its files can show: every file has the digest that the manifest "
                "states, and is what tripcloak writes of the released tables, byte by byte."
            )
        if self.broken == (SIGNED,) and (whose := NOT_BY_THIS_KEY.get(self.signature.state)):
            return f"{whose}. Its files agree with each other."
        return f"TOUCHED OR BROKEN: do not rely on it. Broken: {', '.join(self.broken)}."

    def sections(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """Return the page in sections: a heading and sentences; those with nothing to say are left out."""
        every = (
            ("What it is", self.holds),
            ("What is promised", self.promised),
            ("What was counted", self.counted),
            ("What is not promised", self.not_promised),
            ("What cannot be checked without the raw data", self.unseen),
            ("Who stands behind it", (sentence(self.signature.words),)),
        )
        return tuple((heading, words) for heading, words in every if words)

    def to_dict(self) -> dict[str, Any]:
        """Return the object that ``tripcloak check --json`` prints."""
        return {
            "untouched": self.untouched,
            "verdict": self.sentence(),
            "folder": str(self.folder),
            "kind": self.kind,
            "method": self.method,
            "version": self.version,
            "holds": list(self.holds),
            "promised": list(self.promised),
            "counted": list(self.counted),
            "not_promised": list(self.not_promised),
            "not_checked": list(self.unseen),
            "signature": {"state": self.signature.state, "words": self.signature.words},
            "findings": [one.to_dict() for one in self.findings],
        }


def check_release(
    folder: Path,
    *,
    key: PublicKey | None = None,
    earlier: Path | None = None,
    memory: Memory = None,
    progress: Progress = silent,
) -> ReleaseCheck:
    """Return what can be found out about a release from its public part alone.

    Parameters
    ----------
    folder
        The folder that holds ``release/``, or the public part itself, wherever it lies and whatever it is
        called.
    key
        The public key of the publisher, who must then have signed it.
    earlier
        Of flows: the release or series that zones are said to be from, to be compared.

    Raises
    ------
    InputError
        There is no release, or one of a format that this version does not read.
    """
    facts, public = read_manifest(folder), public_part(folder)
    signature = check_signature(public, key)
    signed = _signed(signature, asked=key is not None)
    about: dict[str, Any] = {
        "folder": public,
        "signature": signature,
        "kind": str(facts["kind"]),
        "method": str(facts.get("method")),
        "version": str(facts.get("version")),
    }
    try:
        promise = Promise.from_manifest(facts.get("promise"))
        told = _told(facts, promise)
    except (InputError, KeyError, TypeError, ValueError, AttributeError):
        findings = (UNREADABLE, *signed, *_findings(public, facts, earlier, memory, progress))
        return ReleaseCheck(**about, findings=findings)
    findings = (READABLE, *signed, *_findings(public, facts, earlier, memory, progress))
    return ReleaseCheck(**about, **told, findings=findings)


def _signed(found: SignatureCheck, *, asked: bool) -> tuple[Finding, ...]:
    """Return the finding on the signature: what was asked for must be there, and what is there must fit."""
    if not asked and found.state != "broken":
        return ()
    return (Finding(SIGNED, found.ok, found.words),)


def _findings(
    public: Path, facts: Mapping[str, Any], earlier: Path | None, memory: Memory, progress: Progress
) -> tuple[Finding, ...]:
    if facts["kind"] == "trajectories":
        from tripcloak.trajectories.checking import check_trajectories

        if earlier is not None:
            raise InputError(f"{called('zones_from')} is for releases of flows; this one is of trajectories")
        return check_trajectories(public, memory=memory, progress=progress)
    from tripcloak.flows.checking import check_flows

    return check_flows(public, earlier=earlier, memory=memory, progress=progress)


def _told(facts: Mapping[str, Any], promise: Promise) -> dict[str, Any]:
    """Return what a manifest says, in sentences that are made here and not taken from it."""
    return {
        "holds": tuple(_holds(facts)),
        "promised": tuple(map(sentence, (promise.in_brief(), *promise.further()))),
        "counted": tuple(sentence(words) for words in promise.counted().values()),
        "not_promised": (*promise.limits(), *_further_limits(facts, promise)),
        "unseen": tuple(_unseen(facts, promise)),
    }


def _further_limits(facts: Mapping[str, Any], promise: Promise) -> list[str]:
    """Return what others promise of such releases, and this one does not."""
    if facts["kind"] == "trajectories":
        return []
    missing = {
        "That a zone holds several different places (l-diversity).": not promise.floors,
        "That an origin does not give away where its trips go (t-closeness).": not promise.by_release,
        "That nobody can tell whether one of them was in the data at all (differential privacy).": (
            not promise.noisy
        ),
    }
    return [words for words, lacking in missing.items() if lacking]


def _holds(facts: Mapping[str, Any]) -> list[str]:
    made = f"made by the method {facts['method']} of tripcloak {facts['version']}."
    if facts["kind"] == "trajectories":
        numbers = facts["released"]
        return [
            f"{numbers['trajectories']:,} released trajectories of {numbers['samples']:,} samples, {made}",
            f"Times and places are told in steps of {facts['grid']['seconds']:,} seconds and "
            f"{facts['grid']['metres']:,} metres or coarser.",
        ]
    from tripcloak.flows.report.readme import kept_words

    zones = facts["zones"]
    return [
        f"{facts['groups']:,} released flows between {zones['origins']:,} origin zones and "
        f"{zones['destinations']:,} destination zones, {made}",
        f"They hold {facts['released']:,} {facts['volume']}. Withheld: {facts['withheld']['words']}.",
        *([sentence(kept_words(facts))] if "zones_from" in facts["parameters"] else []),
    ]


def _unseen(facts: Mapping[str, Any], promise: Promise) -> list[str]:
    """Return what a receiver cannot see, and who could."""
    what = "trajectories" if facts["kind"] == "trajectories" else "flows"
    shown = (
        "That noise was drawn as stated, and that the numbers are those of real trips"
        if promise.noisy
        else f"That the promise holds of the raw data, and that the {what} are those of the raw data"
    )
    return [
        f"{shown}: the owner shows it with tripcloak audit, which needs the raw data.",
        "That ids stand for what is said of them: the owner said so, or the name of a column did.",
        "That nobody changed numbers and wrote all files anew to match: only a signature, or the raw data, "
        "can show that.",
        "That there is no other release of the same people, with which this one could be compared.",
        *map(sentence, taken_as_given(facts)),
    ]


def sentence(words: str) -> str:
    """Return words with a capital letter in front and a full stop behind.

    >>> sentence("every flow holds at least 10 people")
    'Every flow holds at least 10 people.'
    """
    said = f"{words[:1].upper()}{words[1:]}"
    return said if said.endswith(".") else f"{said}."
