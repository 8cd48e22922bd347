"""tripcloak audit, of flows and of trajectories."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from tripcloak.cli.options import (
    Against,
    Folder,
    Given,
    Json,
    holds_trajectories,
    refuse_options_of_flows,
    takes,
)
from tripcloak.cli.screen import number, print_json, progress_on_stderr, show, table
from tripcloak.flows.keywords import keywords
from tripcloak.records.keywords import signing_key
from tripcloak.trajectories.keywords import keywords as trajectory_keywords

if TYPE_CHECKING:
    from tripcloak.ground.rulebook import Finding, Verdict


@takes(lambda: keywords("audit"))
def command(given: Given, folder: Folder, against: Against, json: Json = False) -> None:
    """Check a release against the raw input, independently of the method that made it.

    DIR holds a release of flows or of trajectories; its manifest says which.

    The verdict comes first. Rules on what the release does not promise say so.

    Exits 1 and names the rule when one does not hold.

    [bold]Examples[/bold]

      tripcloak audit out --against trips.parquet

      tripcloak audit out --against trips.parquet --k 10 --l 3 --t 0.5

      tripcloak audit out --against calls.parquet --k 5 --json

      tripcloak audit out --against trips.parquet --sign publisher.key

      tripcloak audit june --against june.parquet --zones-from may
    """
    if holds_trajectories(folder):
        known = {one.name: one for one in trajectory_keywords("audit")}
        refuse_options_of_flows(folder, given, known.values())
        k = given["k"]
        # 5.0 is a whole number too.
        whole = known["k"].take(int(k) if k is not None and k == k // 1 else k)
        _audit_trajectories({**given, "k": whole}, folder, against, json=json)
    else:
        _audit_flows(given, folder, against, json=json)


@takes(lambda: trajectory_keywords("audit"))
def of_trajectories(given: Given, folder: Folder, against: Against, json: Json = False) -> None:
    """Check a release of trajectories against the raw input, as `tripcloak audit` does.

    The smallest support, trajectories that hold all samples of a person, must reach k.

    Exits 1 and names the rule when one does not hold.

    [bold]Examples[/bold]

      tripcloak trajectories audit out --against calls.parquet

      tripcloak trajectories audit out --against calls.parquet --k 5 --json
    """
    _audit_trajectories(given, folder, against, json=json)


def _audit_flows(given: Given, folder: Path, against: list[str], *, json: bool) -> None:
    from tripcloak.flows.checking import audit_against

    diversity = {"tiles": given["l"], "places": given["l_places"]}
    parts = {"dominance": given["dominance"], "p-percent": given["p_percent"]}
    with progress_on_stderr() as progress:
        verdict = audit_against(
            folder,
            tuple(against),
            k=given["k"],
            known_items=given["m"],
            diversity={what: least for what, least in diversity.items() if least is not None},
            closeness=given["t"],
            parts={kind: number for kind, number in parts.items() if number is not None},
            earlier=None if given["zones_from"] is None else Path(given["zones_from"]),
            sign=signing_key(given),
            memory=given["memory"],
            progress=progress,
        )
    _tell(verdict, folder, json=json)


def _audit_trajectories(given: Given, folder: Path, against: list[str], *, json: bool) -> None:
    from tripcloak.trajectories.checking import audit_trajectories_against

    with progress_on_stderr() as progress:
        verdict = audit_trajectories_against(
            folder,
            tuple(against),
            k=given["k"],
            sign=signing_key(given),
            memory=given["memory"],
            progress=progress,
        )
    _tell(verdict, folder, *_supports(verdict), json=json)


def _supports(verdict: "Verdict") -> list[str]:
    """Return the smallest numbers of trajectories that fit, by what was kept and with what was dropped."""
    support = number(verdict.smallest_support)
    told = [f"Smallest support, over all that were counted: {support} released trajectories."]
    raw = verdict.numbers["raw_record"]
    if raw["people"]:
        fewest = number(raw["smallest_support"])
        told.append(f"With samples that were dropped when the data was read: {fewest} released trajectories.")
    return told


STATES = {"ok": "ok", "broken": "BROKEN", "not promised": "not promised"}


def _tell(verdict: "Verdict", folder: Path, *more: str, json: bool) -> None:
    if json:
        print_json(verdict.to_dict())
    else:
        rows = [(one.rule, STATES[one.state], _in_words(one)) for one in verdict.findings]
        found = table(f"Audit of {folder}", ("rule", "", "what was found"), rows, numbers=False)
        show(verdict.sentence(), *more, *(f"Note: {note}." for note in verdict.notes), found)
        _repeat_broken(verdict)
    if not verdict.safe:
        raise typer.Exit(1)


def _in_words(finding: "Finding") -> str:
    return finding.words.removeprefix(f"{finding.state}: ")


def _repeat_broken(verdict: "Verdict") -> None:
    """Show again, below a long table, what is broken and what follows from it."""
    broken = [one for one in verdict.findings if not one.ok]
    if broken:
        show("Broken:", *(f"  {one.rule}: {one.words}" for one in broken), verdict.sentence())
