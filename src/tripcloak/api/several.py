"""The front door's verbs on several releases: a series of periods, and what releases tell together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any, Unpack

from tripcloak.api.card import INTERNAL, CardTable, card
from tripcloak.api.checks import open as opened
from tripcloak.api.flows import ENDS, ReleasedFlows, flow_source
from tripcloak.api.inputs import Inputs, Points, take
from tripcloak.api.keywords import SeriesKeywords
from tripcloak.api.progress import Shown, shown
from tripcloak.api.released import key_of
from tripcloak.api.results import arrow_of
from tripcloak.api.tables import to_pandas
from tripcloak.api.verbs import verb
from tripcloak.flows.keywords import keywords as declared
from tripcloak.flows.keywords import series_method, zoning
from tripcloak.ground.errors import InputError
from tripcloak.ground.given_paths import given_path, output_path
from tripcloak.pages.presenting import presented

if TYPE_CHECKING:
    import pandas

    from tripcloak.flows.series import SeriesOutcome
    from tripcloak.ledger.difference import Difference

LISTED = 5
"""Sets of releases that a card names; the table has all facts."""


@verb(lambda: declared("series"), SeriesKeywords, saves=True)
def series(data: Inputs, /, *, progress: Shown = None, **keywords: Unpack[SeriesKeywords]) -> ReleasedSeries:
    """Return one release a period, all in the same zones, so that months can be compared.

    The zones are planned for all periods at once: every one keeps to the limit on what is withheld, and the
    worst loses as little as possible. All releases are written together. Keywords are those of
    ``tripcloak series``.

    Parameters
    ----------
    data
        As for :func:`anonymise`; without ``periods``, the paths of several files, each a period.
    progress
        Whether to show progress: in notebooks alone if not given; or a function to call.
    **keywords
        ``out="folder"``, which is needed, ``periods="month"``, and all others of the command line.

    Examples
    --------
    >>> import tempfile
    >>> import tripcloak as tc
    >>> trips = tc.City(trips=4_000, people=300).table()
    >>> with tempfile.TemporaryDirectory() as place:
    ...     weeks = tc.series(trips, periods="week", zones="h3:7", k=5, out=f"{place}/weeks")
    ...     flows = weeks["2024-W37"].flows
    >>> list(weeks), int(flows.travellers.min()) >= 5
    (['2024-W36', '2024-W37', '2024-W38', '2024-W39'], True)
    """
    from tripcloak.flows.anonymise import ReleaseRequest
    from tripcloak.flows.checking import sign_release
    from tripcloak.flows.series import SeriesRequest

    given: dict[str, Any] = dict(keywords)
    if (out := given.pop("out", None)) is None:
        raise InputError("a series is written as a whole: say where to save it, out=...")
    force, key = bool(given.pop("force", False)), key_of(given.pop("sign", None))
    source, values = flow_source("series", data, given)
    release = ReleaseRequest(
        source=source,
        zoning=zoning(values),
        method=series_method(values),
        publish=values["publish"],
        **presented(values),
        memory=values["memory"],
    )
    request = SeriesRequest(release=release, out=output_path(out), force=force)
    request = replace(request, **{name: values[name] for name in ("periods", "pilot", "cumulative")})
    with shown(progress) as told:
        outcome = _made(request, values, told)
        for name, one in outcome.released.items():
            if key is not None:
                sign_release(one.out, outcome.inputs[name], key, memory=values["memory"], progress=told)
    return ReleasedSeries(outcome)


def difference(
    *releases: str | PathLike[str],
    against: Inputs | None = None,
    public: bool = False,
    k: int | None = None,
    memory: str | None = None,
    progress: Shown = None,
) -> ReleaseDifference:
    """Return what releases of the same people tell together, by adding and subtracting their numbers.

    For each fact about fewer than k people there are the published numbers that give it away, and how many
    people it is about; never whom. Keywords are those of ``tripcloak difference``.

    Parameters
    ----------
    *releases
        Folders that ``save``, or ``tripcloak anonymise --out``, has written.
    against
        Where the raw input of all of them lies now: a table, paths, or several of these; where each was read
        from, if not given.
    public
        Look at the public parts alone, as readers can; so it is done, too, where there are no others.
    k
        Look for facts about fewer people; the smallest k that any promises, if not given.
    progress
        Whether to show progress: in notebooks alone if not given; or a function to call.

    Examples
    --------
    >>> import tempfile
    >>> import tripcloak as tc
    >>> trips = tc.City(trips=4_000, people=300).table()
    >>> with tempfile.TemporaryDirectory() as place:
    ...     for k in (5, 7):
    ...         _ = tc.anonymise(trips, zones="h3:8", k=k, out=f"{place}/{k}")
    ...     found = tc.difference(f"{place}/5", f"{place}/7", against=trips)
    >>> found.safe, list(found.table.columns)
    (False, ['kind', 'unit', 'least', 'most', 'people', 'releases', 'how'])
    """
    from tripcloak.ledger.difference import difference as told_together
    from tripcloak.ledger.reader import public_alone, public_difference

    folders = [given_path(one) for one in releases]
    inputs = () if against is None else take(against, Points({}, ENDS))
    with shown(progress) as told:
        if public or (not inputs and public_alone(folders)):
            return ReleaseDifference(public_difference(folders, k=k, progress=told))
        return ReleaseDifference(told_together(folders, inputs=inputs, k=k, memory=memory, progress=told))


class ReleasedSeries(Mapping[str, ReleasedFlows]):
    """The releases of a series by the name of their period, in the order of time.

    Attributes
    ----------
    out : Path
        The folder of the series; ``release/map.html`` in it has a slider of time.
    """

    def __init__(self, outcome: SeriesOutcome) -> None:
        self._outcome = outcome
        self.out = outcome.out

    def __getitem__(self, period: str) -> ReleasedFlows:
        found = opened(self._outcome.released[period].out)
        assert isinstance(found, ReleasedFlows)
        return found

    def __iter__(self) -> Any:
        return iter(self._outcome.released)

    def __len__(self) -> int:
        return len(self._outcome.released)

    @property
    def withheld(self) -> Mapping[str, str]:
        """Return the periods that are not released, and why."""
        return self._outcome.withheld

    @property
    def notes(self) -> tuple[str, ...]:
        """Return what a reader should know, over all periods."""
        return self._outcome.notes

    @property
    def table(self) -> pandas.DataFrame:
        """Return one row a period: its flows, and what is lost, of unreleased data: keep it inside."""
        return to_pandas(arrow_of(self._rows()))

    def _rows(self) -> list[dict[str, Any]]:
        return [
            {"period": name, "flows": one.release.n_groups, "G": one.measures["G"], "S": one.measures["S"]}
            for name, one in self._outcome.released.items()
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return the object that ``tripcloak series --json`` prints."""
        return self._outcome.to_dict()

    def __repr__(self) -> str:
        return f"<ReleasedSeries: {', '.join(self)}; in {self.out}>"

    def _repr_html_(self) -> str:
        rows = [
            (row["period"], f"{row['flows']:,}", f"{row['G']:,.4g}", f"{row['S']:.1%}")
            for row in self._rows()
        ]
        return card(
            "One release a period, all in the same zones",
            words=(*self._outcome.plain(), *(f"Note: {note}." for note in self.notes)),
            table=CardTable(columns=("period", "flows", "tiles of a trip (G)", "withheld"), rows=rows),
            foot=INTERNAL,
        )


class ReleaseDifference:
    """What releases tell together; for the eyes of the data owner.

    Examples
    --------
    >>> import tripcloak as tc
    >>> tc.difference("no such folder", "nor this")
    Traceback (most recent call last):
    tripcloak.InputError: no such folder holds no release: ...
    """

    def __init__(self, found: Difference) -> None:
        self._found = found

    @property
    def safe(self) -> bool:
        """Return whether nothing about few people follows, and all was looked at."""
        return self._found.safe

    @property
    def words(self) -> str:
        """Return the verdict in a sentence."""
        return self._found.words()

    @property
    def table(self) -> pandas.DataFrame:
        """Return one row a fact: what follows, about how many people, and from which published numbers."""
        # The first row is there for its types alone.
        return to_pandas(arrow_of([_NO_FACT, *self._rows()]).slice(1))

    def _rows(self) -> Sequence[Mapping[str, Any]]:
        names = [one.name for one in self._found.releases]
        return [
            {
                "kind": fact.kind,
                "unit": fact.unit,
                "least": fact.least,
                "most": fact.most,
                "people": fact.people,
                "releases": ", ".join(names[one] for one in fact.releases),
                "how": self._found.certificate(fact),
            }
            for fact in self._found.facts.found
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return the object that ``tripcloak difference --json`` prints."""
        return self._found.to_dict()

    def __repr__(self) -> str:
        return f"<ReleaseDifference: {self.words}>"

    def _repr_html_(self) -> str:
        # What the facts are, and of how few, stands in the table, which is asked for.
        rows = [(names, f"{facts:,}") for names, facts, _ in self._found.between()[:LISTED]]
        table = CardTable(columns=("from which releases", "facts"), rows=rows)
        return card(
            "Nothing follows" if self.safe else "Do not publish these together",
            tone="safe" if self.safe else "unsafe",
            said=self.words,
            words=[said for said in [self._found.left_out()] if said],
            table=table if rows else None,
            foot=INTERNAL,
        )


_NO_FACT: Mapping[str, Any] = {
    **dict.fromkeys(("kind", "unit"), ""),
    **dict.fromkeys(("least", "most", "people"), 0),
    **dict.fromkeys(("releases", "how"), ""),
}


def _made(request: Any, values: Mapping[str, Any], told: Any) -> SeriesOutcome:
    from tripcloak.flows.series import make_series

    if values["ledger"] is None and values["needs_approvals"] is None:
        return make_series(request, told)
    from tripcloak.ledger.releasing import ledger_of, series_with_ledger

    kept = ledger_of(values)
    assert kept is not None
    outcome, _ = series_with_ledger(request, kept, approvals_needed=values["needs_approvals"], progress=told)
    return outcome
