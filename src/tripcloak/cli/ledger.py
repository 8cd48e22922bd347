"""tripcloak ledger: what was released of the same people, who approved of it, and under which key."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tripcloak.cli.options import Json, Memory
from tripcloak.cli.screen import number, print_json, progress_on_stderr, show, table

if TYPE_CHECKING:
    from tripcloak.ledger.store import Ledger, RecordedRelease

Place = Annotated[Path, typer.Argument(metavar="DIR", help="The folder of the ledger.")]
Release = Annotated[
    str, typer.Argument(metavar="RELEASE", help="A release of the ledger: its number, name or folder.")
]
EpsilonCap = Annotated[
    float | None,
    typer.Option(metavar="EPSILON", help="What noisy releases together may spend of anybody at most."),
]
DeltaCap = Annotated[
    float | None, typer.Option(metavar="CHANCE", help="The delta of that epsilon; 1e-6 by default.")
]
Kept = Annotated[Path, typer.Option("--ledger", metavar="DIR", help="The folder of the ledger.")]


def root() -> None:
    """Keep a ledger of what was released of the same people: private, chained, never rewritten.

    `tripcloak anonymise --ledger DIR` holds every new release against all in it.

    [bold]Examples[/bold]

      tripcloak ledger init ledger

      tripcloak anonymise trips.parquet --out may --ledger ledger

      tripcloak ledger list ledger

      tripcloak ledger approve may --ledger ledger --by 'Data Protection' --key officer.key
    """


def init(
    folder: Place,
    needs_approvals: Annotated[
        int, typer.Option(metavar="N", help="How many people must approve of a release.")
    ] = 0,
    epsilon_cap: EpsilonCap = None,
    delta_cap: DeltaCap = None,
    json: Json = False,
) -> None:
    """Make a ledger in a folder of its own, with a new key.

    The key, DIR/key, is yours: keep a copy of it. Without it no record is known again.

    [bold]Examples[/bold]

      tripcloak ledger init ledger

      tripcloak ledger init ledger --needs-approvals 2

      tripcloak ledger init ledger --epsilon-cap 3 --delta-cap 1e-6
    """
    from tripcloak.ledger.account import Cap
    from tripcloak.ledger.store import init_ledger

    cap = Cap.asked(epsilon_cap, delta_cap)
    ledger = init_ledger(folder, approvals_needed=needs_approvals, cap=cap)
    if json:
        told = {"approvals_needed": needs_approvals, "cap": None if cap is None else cap._asdict()}
        print_json({"ledger": str(folder), **told, "head": ledger.head})
        return
    show(
        f"The ledger {folder} is empty. Give it to every run: `tripcloak anonymise FILE --out DIR --ledger "
        f"{folder}`.",
        f"Keep a copy of {folder / 'key'} in a safe place, and the ledger inside.",
    )


def cap(
    folder: Place,
    epsilon_cap: Annotated[
        float, typer.Option(metavar="EPSILON", help="What noisy releases together may spend of anybody.")
    ],
    reason: Annotated[str, typer.Option(metavar="TEXT", help="Why it is set.")],
    delta_cap: DeltaCap = None,
    json: Json = False,
) -> None:
    """Set what differentially private releases together may spend of anybody, from now on.

    Written into the chain with its reason. What was spent stays spent.

    [bold]Example[/bold]

      tripcloak ledger cap ledger --epsilon-cap 4 --reason 'board, 3 June'
    """
    from tripcloak.ledger.account import Cap
    from tripcloak.ledger.store import open_ledger

    ledger, asked = open_ledger(folder), Cap.asked(epsilon_cap, delta_cap)
    assert asked is not None
    ledger.set_cap(asked, reason=reason)
    if json:
        print_json({"ledger": str(folder), "account": ledger.account.to_dict(), "head": ledger.head})
    else:
        show(f"The cap is {asked.words()} from now on.", ledger.account.words())


def add(
    release: Annotated[Path, typer.Argument(metavar="RELEASE", help="A folder written by anonymise.")],
    ledger: Kept,
    against: Annotated[
        list[str] | None,
        typer.Option(metavar="INPUT", help="Where its raw input lies now, if not where it was read from."),
    ] = None,
    memory: Memory = None,
    json: Json = False,
) -> None:
    """Record a release that was made without the ledger, such as one from before there was any.

    Needs its private part, and reads the raw input again. It is out already, so it is recorded whatever it
    tells together with others.

    [bold]Examples[/bold]

      tripcloak ledger add out-2023 --ledger ledger

      tripcloak ledger add out-2023 --ledger ledger --against archive/trips.parquet
    """
    from tripcloak.ledger.adding import add_release
    from tripcloak.ledger.store import open_ledger

    with progress_on_stderr() as progress:
        found = add_release(
            release, open_ledger(ledger), inputs=tuple(against or ()), memory=memory, progress=progress
        )
    after = f"Whether it tells too much beside the others, `tripcloak ledger check {ledger}` says."
    _tell(found, f"{found.words()} {after}", json=json)


def list_(folder: Place, json: Json = False) -> None:
    """List the releases of a ledger in their order: when, what is promised, what is covered, who approved.

    [bold]Example[/bold]

      tripcloak ledger list ledger

      tripcloak ledger list ledger --json
    """
    from tripcloak.ledger.store import open_ledger

    ledger = open_ledger(folder)
    if json:
        releases = [one.to_dict() for one in ledger.releases]
        state = {"waiting_for_company": ledger.waiting, "account": ledger.account.to_dict()}
        print_json({"ledger": str(folder), "head": ledger.head, "releases": releases, **state})
        return
    show(_in_words(ledger))
    rows = [(str(one.number), one.prepared.time[:10], _timeline(one)) for one in ledger.releases]
    columns = ("", "date", "release")
    if rows:
        show(table(f"Releases in {folder}", columns, rows, numbers=False))
    _show_account(ledger)
    show(f"Head: {ledger.head}")


def show_(release: Release, ledger: Kept, json: Json = False) -> None:
    """Show one release of a ledger: how it was made, what it covers, and what became of it.

    [bold]Examples[/bold]

      tripcloak ledger show may --ledger ledger

      tripcloak ledger show 3 --ledger ledger --json
    """
    from tripcloak.ledger.store import open_ledger
    from tripcloak.ledger.store.describing import covered_words
    from tripcloak.ledger.store.releases import WORDS

    kept = open_ledger(ledger)
    found = kept.find(release)
    changed = kept.changed_files(found)
    if json:
        cost = [one.to_dict() for one in kept.account.spent if one.release == found.number]
        account = {"spends": cost[0] if cost else None, "account": kept.account.to_dict()}
        print_json({**found.to_dict(), **account, "changed_files": changed})
        return
    facts = found.facts
    rows = [
        ("state", WORDS[found.state]),
        ("counts as published", "yes" if found.counts else "no"),
        ("recorded", found.prepared.time),
        ("folder", facts["folder"]),
        ("method", facts["method"]),
        ("promised", facts["promise"]["sentence"]),
        *([] if found.of_trajectories else [("zones of", facts["hierarchy"]["spec"])]),
        ("covers", covered_words(facts)),
        ("people" if found.of_trajectories else "records", number(facts["records"])),
        ("in it", _held(found)),
        ("spends", _spends(kept, found)),
        ("wait for company", _waiting(found)),
        ("public files", _as_recorded(changed)),
        ("approvals", found.approval_words()),
        *([] if found.withdrawn is None else [("withdrawn because", found.withdrawn.content["reason"])]),
    ]
    show(found.words())
    if facts.get("spent") is not None:
        show(f"The account of the ledger: {kept.account.words()}")
    show(table(f"Release {found.number}: {found.name}", ("", "value"), rows, numbers=False))
    if found.approvals:
        told = [(one.time, one.by, one.verdict, one.comment, f"{one.key[:16]}...") for one in found.approvals]
        columns = ("when", "by", "verdict", "comment", "key")
        show(table("Verdicts", columns, told, numbers=False))


def _timeline(one: "RecordedRelease") -> str:
    """Return a release in a few lines."""
    from tripcloak.ledger.store.describing import covered_words

    state = one.state if one.counts else f"{one.state}, does not count"
    return "\n".join(
        (
            f"{one.name}: {state}",
            f"promised: {one.facts['promise']['sentence']}",
            f"covers: {covered_words(one.facts)}; {_held(one)}",
            f"approvals: {one.approval_words()}",
        )
    )


def _held(one: "RecordedRelease") -> str:
    """Return how much is in a release."""
    return f"{number(one.facts['groups'])} {'trajectories' if one.of_trajectories else 'flows'}"


def verify(
    folder: Place,
    head: Annotated[
        str | None,
        typer.Option(metavar="DIGEST", help="A head that was noted down: the ledger must still hold it."),
    ] = None,
    json: Json = False,
) -> None:
    """Check a ledger: its chain, its files, and the signatures of its verdicts.

    Exits 1 when something is missing or was changed.

    [bold]Examples[/bold]

      tripcloak ledger verify ledger

      tripcloak ledger verify ledger --head 3f8a...
    """
    from tripcloak.ledger.store import open_ledger

    ledger = open_ledger(folder)
    faults = ledger.faults()
    if head is not None and not any(entry.digest.startswith(head.lower()) for entry in ledger.entries):
        faults.append("it does not hold the entry of that head: it is another ledger, or an older copy")
    if json:
        print_json({"ledger": str(folder), "whole": not faults, "faults": faults, "head": ledger.head})
    else:
        entries = f"{len(ledger.entries):,} {'entry' if len(ledger.entries) == 1 else 'entries'}"
        show(f"{folder} is {'NOT whole' if faults else 'whole'}: {entries}.", *faults)
        show(f"Head: {ledger.head}")
    if faults:
        raise typer.Exit(1)


def withdraw(
    release: Release,
    ledger: Kept,
    reason: Annotated[str, typer.Option(metavar="TEXT", help="Why it is taken back.")],
    never_published: Annotated[
        bool,
        typer.Option("--never-published", metavar="", help="Nobody ever had it: it no longer counts."),
    ] = False,
    json: Json = False,
) -> None:
    """Note that a release was taken back.

    What was published stays known, so it goes on to count, unless nobody ever had it.

    [bold]Examples[/bold]

      tripcloak ledger withdraw may --ledger ledger --reason 'wrong period'

      tripcloak ledger withdraw 3 --ledger ledger --reason 'run was stopped' --never-published
    """
    from tripcloak.ledger.store import open_ledger

    kept = open_ledger(ledger)
    found = kept.withdraw(kept.find(release), reason=reason, never_published=never_published)
    _tell(found, f"Release {found.number} ({found.name}) is withdrawn.", json=json)


def approve(
    release: Release,
    ledger: Kept,
    by: Annotated[str, typer.Option(metavar="NAME", help="Who judges.")],
    key: Annotated[Path, typer.Option(metavar="KEY", help="Their private key (see `tripcloak keygen`).")],
    verdict: Annotated[
        str, typer.Option(metavar="VERDICT", help="approve, subject-to-change or reject.")
    ] = "approve",
    comment: Annotated[str, typer.Option(metavar="TEXT", help="A few words.")] = "",
    json: Json = False,
) -> None:
    """Sign a verdict on a release into the ledger.

    The last verdict of a key counts. A release may be published when as many approve as it needs, and nobody
    objects.

    [bold]Examples[/bold]

      tripcloak ledger approve may --ledger ledger --by 'Data Protection' --key officer.key

      tripcloak ledger approve may --ledger ledger --by 'Statistics' --key head.key --verdict reject
    """
    from tripcloak.ground.keys import read_signing_key
    from tripcloak.ledger.store import open_ledger

    kept = open_ledger(ledger)
    signing = read_signing_key(key)
    found = kept.approve(kept.find(release), by=by, key=signing, verdict=verdict, comment=comment)
    words = f"{by}: {verdict}, signed with the key {signing.public.id[:16]}..."
    _tell(found, words, found.words(), json=json)


def check(
    folder: Place,
    k: Annotated[
        int | None, typer.Option("--k", metavar="K", help="Look for facts about fewer people than this.")
    ] = None,
    json: Json = False,
) -> None:
    """Attack all releases of a ledger together, as `tripcloak difference` does folders.

    Needs no raw data: the ledger knows which record went where. Noisy releases tell nothing exactly; what
    they have spent is shown, against the cap. Exits 1 when facts are found, or when more is spent than the
    cap allows.

    [bold]Examples[/bold]

      tripcloak ledger check ledger

      tripcloak ledger check ledger --json
    """
    from tripcloak.cli.difference import show_difference
    from tripcloak.ledger.difference import within
    from tripcloak.ledger.store import open_ledger

    ledger = open_ledger(folder)
    with progress_on_stderr() as progress:
        noisy = [one.name for one in ledger.releases if one.counts and one.facts.get("spent") is not None]
        found = within(ledger.disclosures(), k=k, noisy=noisy, progress=progress)
    if json:
        print_json({**found.to_dict(), "account": ledger.account.to_dict()})
    else:
        show_difference(found)
        _show_account(ledger)
    if not found.safe or ledger.account.overdrawn:
        raise typer.Exit(1)


def rotate(folder: Place, json: Json = False) -> None:
    """Give a ledger a new key, and every digest in it a new value under it.

    Whoever had the old key can no longer find a record. Keep a copy of the new one, DIR/key.

    [bold]Example[/bold]

      tripcloak ledger rotate ledger
    """
    from tripcloak.ledger.store import open_ledger

    ledger = open_ledger(folder)
    ledger.rotate()
    if json:
        print_json({"ledger": str(folder), "head": ledger.head})
        return
    show(f"The ledger {folder} has a new key. Keep a copy of {folder / 'key'}; the old one is of no use now.")


def _tell(release: "RecordedRelease", *words: str, json: bool) -> None:
    if json:
        print_json(release.to_dict())
    else:
        show(*words)


def _as_recorded(changed: list[str] | None) -> str:
    if changed is None:
        return "not where they were to be written"
    return f"changed or replaced since: {', '.join(changed)}" if changed else "as they were recorded"


def _waiting(release: "RecordedRelease") -> str:
    if release.waiting is None:
        return "-"
    who = "1 erased person" if release.waiting == 1 else f"{release.waiting:,} erased people"
    return f"{who}, still in an older number that stands" if release.waiting else "nobody"


def _spends(ledger: "Ledger", release: "RecordedRelease") -> str:
    cost = [one.spending for one in ledger.account.spent if one.release == release.number]
    return cost[0].words() if cost else "nothing: no noise, and outside the account"


def _show_account(ledger: "Ledger") -> None:
    """Print what noisy releases have spent, where there is noise or a cap."""
    from tripcloak.ledger.account import OUTSIDE

    account = ledger.account
    if not account.spent and account.cap is None:
        return
    show(account.words())
    rows = [
        (
            one.time[:10],
            one.name or "-",
            one.words(),
            one.method,
            *(f"{figure:.4g}" for figure in one.figures),
        )
        for one in account.spent
    ]
    columns = ("date", "release", "what", "method", "epsilon", "delta", "rho")
    if rows:
        show(table("Noise that was drawn", columns, rows, numbers=False), OUTSIDE)


def _in_words(ledger: "Ledger") -> str:
    from tripcloak.ledger.store.releases import waiting_words

    releases: Any = ledger.releases
    if not releases:
        return "No release yet."
    counting = sum(one.counts for one in releases)
    told = f"{len(releases):,} {'release' if len(releases) == 1 else 'releases'}"
    waiting = sum(one.state == "released" and not one.may_be_published for one in releases)
    words = f"{told}, of which {counting:,} count as published."
    words += f" {waiting:,} may not be published yet." if waiting else ""
    return words + waiting_words(ledger.waiting)
