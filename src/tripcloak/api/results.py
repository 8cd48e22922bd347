"""Results that are for the data owner: an audit, measures, what is in an input, methods side by side."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tripcloak.api.card import INTERNAL, CardTable, Fact, card
from tripcloak.api.tables import to_pandas
from tripcloak.ground.masking import mask_small
from tripcloak.ground.rulebook import Finding, Verdict

if TYPE_CHECKING:
    import pandas
    import pyarrow as pa

    from tripcloak.analysis.scoring import ContestScores
    from tripcloak.comparing.choice import Choice
    from tripcloak.comparing.compare import Comparison
    from tripcloak.comparing.rows import ComparisonColumn
    from tripcloak.comparing.trajectories import TrajectoryComparison
    from tripcloak.flows.describe import Description
    from tripcloak.receiving.check import ReleaseCheck
    from tripcloak.trajectories.reading.reading import TrajectoryDescription


class ReleaseAudit:
    """What an audit found: whether a release is safe, and one finding a rule.

    Examples
    --------
    >>> found = ReleaseAudit(Verdict.of([Finding("digests-match", False, "a file was changed")]))
    >>> found
    <ReleaseAudit: NOT SAFE; broken: digests-match>
    >>> found.safe, found.findings[0].words
    (False, 'a file was changed')
    """

    def __init__(self, verdict: Verdict) -> None:
        self._verdict = verdict

    @property
    def safe(self) -> bool:
        """Return whether every rule holds."""
        return self._verdict.safe

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Return what became of every rule, in words that tell no unreleased number."""
        return self._verdict.findings

    @property
    def broken(self) -> tuple[str, ...]:
        """Return the names of the rules that do not hold."""
        return self._verdict.broken

    @property
    def notes(self) -> tuple[str, ...]:
        """Return what else to know, such as that this is another file than the release was made of."""
        return self._verdict.notes

    @property
    def table(self) -> pandas.DataFrame:
        """Return one row a rule: its name, whether it holds, its state, and in words what was found."""
        return to_pandas(arrow_of([finding.to_dict() for finding in self.findings]))

    @property
    def private(self) -> Mapping[str, Any]:
        """Return what the auditor counted afresh; of a release that is not safe, unreleased numbers."""
        return self._verdict.numbers

    def to_dict(self) -> dict[str, Any]:
        """Return the object that ``tripcloak audit --json`` prints."""
        return self._verdict.to_dict()

    def __repr__(self) -> str:
        told = "safe; every rule holds"
        if not self.safe:
            told = f"NOT SAFE; broken: {', '.join(self.broken)}"
        return f"<ReleaseAudit: {told}>"

    def _repr_html_(self) -> str:
        states = {"ok": "holds", "broken": "BROKEN", "not promised": "not promised"}
        rows = [(one.rule, states[one.state], one.words) for one in self.findings]
        return card(
            "Safe: every rule holds" if self.safe else "Not safe: do not publish",
            tone="safe" if self.safe else "unsafe",
            said=f"{len(rows)} rules, checked by code that shares nothing with the method",
            words=[f"{note[:1].upper()}{note[1:]}." for note in self.notes],
            table=CardTable(columns=("rule", "", "what was found"), rows=rows, texts=True),
        )


class CheckedRelease:
    """What a release shows by itself, to whoever was given it; nothing in it is private.

    Examples
    --------
    >>> import tripcloak as tc
    >>> tc.check("no such folder")
    Traceback (most recent call last):
    tripcloak.InputError: no such folder holds no release: release/manifest.json is missing. ...
    """

    def __init__(self, found: ReleaseCheck) -> None:
        self._found = found

    @property
    def untouched(self) -> bool:
        """Return whether nothing speaks against the files."""
        return self._found.untouched

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Return what became of every rule."""
        return self._found.findings

    @property
    def promised(self) -> tuple[str, ...]:
        """Return what is promised, in sentences."""
        return self._found.promised

    @property
    def counted(self) -> tuple[str, ...]:
        """Return what was counted: people, vehicles, trips."""
        return self._found.counted

    @property
    def not_promised(self) -> tuple[str, ...]:
        """Return what is not promised."""
        return self._found.not_promised

    @property
    def unseen(self) -> tuple[str, ...]:
        """Return what cannot be checked without the raw data."""
        return self._found.unseen

    @property
    def signature(self) -> str:
        """Return what is known of who signed it."""
        return self._found.signature.words

    def to_dict(self) -> dict[str, Any]:
        """Return the object that ``tripcloak check --json`` prints."""
        return self._found.to_dict()

    def __repr__(self) -> str:
        told = "untouched" if self.untouched else self._found.sentence().rstrip(".")
        return f"<CheckedRelease: {told}; {' '.join(self.promised) or 'nothing is promised'}>"

    def _repr_html_(self) -> str:
        states = {"ok": "holds", "broken": "BROKEN", "not promised": "not promised"}
        rows = [(one.rule, states[one.state], one.words) for one in self.findings]
        sections = [f"{heading}: {' '.join(words)}" for heading, words in self._found.sections()]
        return card(
            self._found.sentence().partition(":")[0].partition(",")[0].capitalize(),
            tone="safe" if self.untouched else "unsafe",
            said=self._found.sentence(),
            words=sections,
            table=CardTable(columns=("rule", "", "what was found"), rows=rows, texts=True),
        )


class ReleaseMeasures(Mapping[str, Any]):
    """What a release is still good for, measure by measure; they look at unreleased data and stay inside.

    Examples
    --------
    >>> measures = ReleaseMeasures({"S": 0.0999, "G": 77.41, "size": {"mean": 3.0}})
    >>> measures["G"], len(measures)
    (77.41, 3)
    >>> measures
    <ReleaseMeasures: S 0.0999, G 77.41, size mean 3; internal>
    """

    def __init__(self, measures: Mapping[str, Any]) -> None:
        self._measures = dict(measures)

    def __getitem__(self, name: str) -> Any:
        return self._measures[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._measures)

    def __len__(self) -> int:
        return len(self._measures)

    @property
    def table(self) -> pandas.DataFrame:
        """Return one row a measure; those within others have names of several words."""
        rows = [{"measure": name, "value": value} for name, value in self._plain()]
        return to_pandas(arrow_of(rows))

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, as ``tripcloak measures --json`` prints them."""
        return dict(self._measures)

    def _plain(self) -> list[tuple[str, float]]:
        """Return the measures that are numbers, those within others by their path."""
        return [
            (name, value)
            for name, value in _flat(self._measures)
            if isinstance(value, (int, float)) and not isinstance(value, bool)
        ]

    def __repr__(self) -> str:
        # Of how something is spread, the mean will do.
        told = [f"{name} {value:.4g}" for name, value in self._plain() if not _of_spread(name)]
        more = [f"{len(told) - 6} more"] if len(told) > 6 else []
        return f"<ReleaseMeasures: {', '.join([*told[:6], *more])}; internal>"

    def _repr_html_(self) -> str:
        words = _measures_in_words()
        rows = [(name, figure(value), words.get(name, "")) for name, value in self._plain()]
        table = CardTable(columns=("measure", "value", "what it is"), rows=rows, texts=True)
        if not any(said for *_, said in rows):
            table = CardTable(columns=("measure", "value"), rows=[row[:2] for row in rows])
        return card("Measures", table=table, foot=INTERNAL)


class ReleaseScore:
    """What a release is worth on the scale of a contest; computed from unreleased data, so it stays inside.

    Examples
    --------
    >>> import tripcloak as tc
    >>> one = {"taxi_id": [1], "shift": [0], "pickup_community_area": [8], "dropoff_community_area": [9]}
    >>> import pyarrow as pa
    >>> tc.score(pa.table(one), against=pa.table(one), subsamples=())
    <ReleaseScore: 1000.0 of 1000; internal>
    """

    def __init__(self, found: ContestScores) -> None:
        self._found = found

    @property
    def score(self) -> float:
        """Return the score, 0 to 1000; of several epsilons their mean."""
        return self._found.score

    @property
    def notes(self) -> tuple[str, ...]:
        """Return how records came about, and what does not count."""
        return self._found.notes

    @property
    def table(self) -> pandas.DataFrame:
        """Return one row for what was scored and one for each subsample of the truth, part by part."""
        return to_pandas(arrow_of(self._rows()))

    def to_dict(self) -> dict[str, Any]:
        """Return the object that ``tripcloak score nist --json`` prints."""
        return self._found.to_dict()

    def _rows(self) -> list[dict[str, Any]]:
        told = self._found.to_dict()["rows"]
        return [{name: value for name, value in row.items() if name != "columns"} for row in told]

    def __repr__(self) -> str:
        return f"<ReleaseScore: {self.score:.1f} of 1000; internal>"

    def _repr_html_(self) -> str:
        names = ("name", "score", "k_marginal", "graph", "conjunctions")
        rows = [[row["name"], *(figure(row[name]) for name in names[1:])] for row in self._rows()]
        words = [f"{note[:1].upper()}{note[1:]}." for note in self.notes]
        table = CardTable(columns=("", *(name.replace("_", "-") for name in names[1:])), rows=rows)
        return card(f"NIST score {self.score:.1f}", words=words, table=table, foot=INTERNAL)


def _measures_in_words() -> dict[str, str]:
    """Return what the measures of flows are, in a few words each.

    >>> _measures_in_words()["S"]
    'share of the volume that is withheld'
    """
    from tripcloak.comparing.rows import LOSS

    return {
        **{column.key: column.words for column in LOSS},
        "GDM_median": "metres from the true to the released place, median",
        "GDM_std": "the same, standard deviation",
        "trip_length_emd_km": "kilometres between the lengths of released and true trips, as distributions",
        "top_flow_agreement": "rank correlation of the largest flows, rebuilt and true",
    }


def _of_spread(name: str) -> bool:
    """Return whether a measure tells of a spread what its mean does not.

    >>> _of_spread("area_km2 q95"), _of_spread("area_km2 mean"), _of_spread("median")
    (True, False, False)
    """
    return bool(re.fullmatch(r".+ (q\d+|median|min|max|std)", name))


def _flat(measures: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in measures.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{above}{name} ")
        else:
            yield f"{above}{name}", value


@dataclass(frozen=True, repr=False, eq=False)
class InputSummary:
    """What is in an input, and what is realistic; exact numbers, for the eyes of the data owner.

    Attributes
    ----------
    numbers : mapping
        How much there is of what.
    columns : mapping
        The column that was found for every role; for trajectories, nothing.
    notes, advice : tuple of str
        What a reader should know about how the input was read, and what to ask for.
    """

    numbers: Mapping[str, Any]
    columns: Mapping[str, str]
    notes: tuple[str, ...]
    advice: tuple[str, ...]
    title: str
    _rows: Sequence[Mapping[str, Any]]
    _told: Mapping[str, Any]

    @property
    def table(self) -> pandas.DataFrame:
        """Return, for flows, the share of the trips below k at each height; for trajectories, the spread."""
        return to_pandas(arrow_of(self._rows))

    def to_dict(self) -> dict[str, Any]:
        """Return the object that ``tripcloak describe --json`` prints."""
        return dict(self._told)

    def __repr__(self) -> str:
        counts = {name: n for name, n in self.numbers.items() if isinstance(n, (int, float))}
        told = ", ".join(mask_small(int(n), name) for name, n in list(counts.items())[:3])
        return f"<InputSummary: {told}>"

    def _repr_html_(self) -> str:
        facts = [Fact(name, _masked(value, "number")) for name, value in self.numbers.items()]
        columns = list(self._rows[0]) if self._rows else []
        rows = [[_masked(row[name], name) for name in columns] for row in self._rows]
        return card(
            "What is in it",
            said=self.title,
            facts=facts,
            words=(*self.advice, *(f"Note: {note}." for note in self.notes)),
            table=CardTable(columns=[name.replace("_", " ") for name in columns], rows=rows)
            if rows
            else None,
            foot=INTERNAL,
        )


def summary_of_flows(found: Description) -> InputSummary:
    """Return what is in a table of trips."""
    rows = [
        {
            "height": level.height,
            "flows": level.pairs,
            **{f"share_below_k_{unit}": level.below[unit] for unit in found.units},
        }
        for level in found.levels
    ]
    return InputSummary(
        numbers=found.numbers,
        columns=found.columns,
        notes=found.notes,
        advice=found.advice,
        title=f"zones of {found.hierarchy}, k = {found.k:g}",
        _rows=rows,
        _told=found.to_dict(),
    )


def summary_of_fixes(found: TrajectoryDescription) -> InputSummary:
    """Return what is in a table of fixes."""
    from tripcloak.promises.counted import ones_of

    facts = found.facts
    spread = {name: value for name, value in facts.items() if isinstance(value, Mapping) and "50%" in value}
    sample, period, extent = facts["resolution"], facts["period"], facts["extent_km"]
    numbers = {
        ones_of(found.id_is).several: facts["users"],
        "samples": facts["samples"],
        "a sample lasts and spans": f"{sample['seconds']} s, {sample['metres']} m",
        **({} if period is None else {"from, to": ", ".join(period)}),
        **({} if extent is None else {"extent, km": " x ".join(f"{side:g}" for side in extent)}),
    }
    return InputSummary(
        numbers=numbers,
        columns={},
        notes=found.notes,
        advice=(),
        title="trajectories",
        _rows=[{"measure": name, **value} for name, value in spread.items()],
        _told=found.to_dict(),
    )


class MethodComparison:
    """Methods side by side on one input; they are measured on unreleased data, and so stay inside.

    Attributes
    ----------
    choices : tuple of Choice
        What to use at every k and limit that were asked for, and why.
    notes : tuple of str
        What a reader should know about how the input was read.
    """

    def __init__(self, found: Comparison | TrajectoryComparison) -> None:
        from tripcloak.comparing.compare import Comparison

        self._found = found
        self._told = found.to_dict()
        flows = isinstance(found, Comparison)
        self.choices: tuple[Choice, ...] = found.choices if isinstance(found, Comparison) else ()
        self.notes: tuple[str, ...] = tuple(self._told["notes"])
        self._columns = _flow_columns() if flows else _trajectory_columns()

    @property
    def table(self) -> pandas.DataFrame:
        """Return one row a release: what was asked for, what is lost, and what it took."""
        return to_pandas(arrow_of(self._told["rows"]))

    @property
    def best(self) -> str | None:
        """Return the method to use at the first k and limit that were asked for; None where there is none.

        Of flows, ``choices`` says why, and has the others. Of trajectories it is the safe release whose
        samples moved least, of those in which a simple guess is right no more often than one time in k if
        there are any.
        """
        if self.choices:
            return self.choices[0].method
        recommended: str | None = self._told.get("recommended")
        return recommended

    def save(self, out: str | Path, *, force: bool = False) -> Path:
        """Write ``compare.html``, ``.md``, ``.csv`` and ``.json`` to a folder, and return where it is."""
        from tripcloak.comparing.compare import Comparison
        from tripcloak.comparing.files import write_comparison
        from tripcloak.comparing.trajectory_files import write_trajectory_comparison
        from tripcloak.ground.given_paths import output_path

        home = output_path(out)
        if isinstance(self._found, Comparison):
            write_comparison(home, self._found, force=force)
        else:
            write_trajectory_comparison(home, self._found, force=force)
        return home

    def to_dict(self) -> dict[str, Any]:
        """Return the object that ``tripcloak compare --json`` prints."""
        return self._told

    def __repr__(self) -> str:
        ran = sum(row.get("reason") is None for row in self._told["rows"])
        best = "nothing to recommend" if self.best is None else f"use {self.best}"
        return f"<MethodComparison: {ran} of {len(self._told['rows'])} releases were made; {best}>"

    def _repr_html_(self) -> str:
        rows = self._told["rows"]
        ran = [row for row in rows if row.get("reason") is None]
        chosen = {(one.k, one.limit, one.method) for one in self.choices}
        asked = [(row["k"], row.get("suppression_limit"), row["method"]) for row in ran]
        from tripcloak.comparing.rows import written

        return card(
            "Nothing to recommend" if self.best is None else f"Use {self.best}",
            said=f"{len(ran)} releases of the same input, all measured and audited alike",
            words=self.choices[0].words if self.choices else (),
            table=CardTable(
                columns=[column.name for column in self._columns],
                meanings=[column.words for column in self._columns],
                rows=[[written(column, row[column.key]) for column in self._columns] for row in ran],
                chosen=[at for at, one in enumerate(asked) if one in chosen],
                broken="NOT SAFE",
            ),
            aside_title="did not run",
            asides=_reasons(rows),
            foot=INTERNAL,
        )


def _flow_columns() -> tuple[ComparisonColumn, ...]:
    """Return the columns of a card on flows; the table has them all."""
    from tripcloak.comparing.rows import ASKED, LOSS, RELEASE

    shown = ("audit", "S", "G", "GDM_mean", "CPC", "groups", "origin_zones", "destination_zones", "cpu_s")
    by_key = {column.key: column for column in (*LOSS, *RELEASE)}
    return (*ASKED, *(by_key[key] for key in shown))


def _trajectory_columns() -> tuple[ComparisonColumn, ...]:
    from tripcloak.comparing.rows import ComparisonColumn

    return (
        ComparisonColumn("method", "method", "what made the release", "text"),
        ComparisonColumn("k", "k", "the k that was asked for", "whole"),
        ComparisonColumn("promise", "promise", "what protects people", "text"),
        ComparisonColumn(
            "spatial_km", "space error, km", "how far samples are from the true place", "figure"
        ),
        ComparisonColumn("time_minutes", "time error, min", "how far they are from the true time", "figure"),
        ComparisonColumn("created", "created", "share of the samples that were made up", "share"),
        ComparisonColumn("deleted", "deleted", "share of the samples that were left out", "share"),
        ComparisonColumn("places_apart", "places", "how far shares of places are apart", "figure"),
        ComparisonColumn("distances_apart", "distances", "how far shares of distances are apart", "figure"),
        ComparisonColumn("moves_apart", "moves", "how far shares of moves are apart", "figure"),
        ComparisonColumn("smallest_support", "smallest", "released trajectories that fit anybody", "whole"),
        ComparisonColumn("guessed", "guessed", "of 100 people whom a simple guess names", "whole"),
        ComparisonColumn("cpu_seconds", "CPU s", "processor seconds", "seconds"),
    )


def _reasons(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return which methods did not run and why, each reason once.

    >>> _reasons([{"method": "laplace", "k": k, "reason": "it needs epsilon."} for k in (5, 10)])
    ['laplace (k = 5, 10): it needs epsilon.']
    """
    told: dict[tuple[str, str], dict[str, None]] = {}
    for row in rows:
        if row.get("reason") is not None:
            ks = told.setdefault((row["method"], row["reason"].rstrip(".")), {})
            # Methods that add noise have no k.
            ks.update({} if row["k"] is None else {f"{row['k']:g}": None})
    several = len({row["k"] for row in rows} - {None}) > 1
    return [
        f"{method} (k = {', '.join(ks)}): {reason}." if several and ks else f"{method}: {reason}."
        for (method, reason), ks in told.items()
    ]


def figure(value: Any) -> str:
    """Return a value for people.

    >>> figure(None), figure(1234567), figure(0.12345), figure(1234.5678), figure("safe")
    ('-', '1,234,567', '0.1235', '1,234.6', 'safe')
    """
    if value is None:
        return "-"
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return str(value)
    if float(value).is_integer():
        return f"{int(value):,}"
    return f"{value:,.4f}" if abs(value) < 10 else f"{value:,.1f}"


def _masked(value: Any, column: str = "") -> str:
    """Return a value for people, unless it is a small number of something."""
    if column == "height":
        return str(value)
    if column.startswith("share_"):
        return f"{100 * value:.1f} %"
    if isinstance(value, int) or (column == "number" and isinstance(value, float)):
        return mask_small(round(value), zero=not value)
    return f"{value:,.4g}" if isinstance(value, float) else str(value)


def arrow_of(rows: Sequence[Mapping[str, Any]]) -> pa.Table:
    """Return rows as a table."""
    import pyarrow as pa

    return pa.Table.from_pylist([dict(row) for row in rows])
