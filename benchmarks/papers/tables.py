"""Markdown tables in the form of the published ones, their figures above ours."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from benchmarks.papers.published import ATG_DETAILED, ATG_LARGE, ATG_SMALL, SIZES, THESIS, Table
from benchmarks.papers.remarks import ATG_MEASURES, ATG_METHODS, THESIS_MEASURES, THESIS_METHODS
from benchmarks.papers.runs import ATG_RUNS, Run, thesis_runs
from benchmarks.papers.solving import Result

Results = Mapping[str, Mapping[str, Result]]
"""By data set and by the title of the run."""

NOT_RUN: Result = {"failed": "not run"}

_HEADS = {
    "C_DM": "C_DM",
    "C_AVG": "C_AVG",
    "G_observed": "G, observed tiles",
    "G": "G",
    "E": "E",
    "D": "D",
    "GDM_mean": "GDM (m)",
    "cpu_s": "time (s)",
    "S": "S",
    "groups": "groups",
}
THESIS_COLUMNS = ("C_DM", "C_AVG", "G_observed", "E", "GDM_mean", "cpu_s", "G", "S", "groups")
ATG_COLUMNS = ("G", "E", "D", "cpu_s", "S", "groups")
_DETAILS = ("cpu_s", "G", "E", "S")


def thesis_tables(results: Results) -> Iterable[str]:
    """Yield tables 5.2 to 5.4 and what is to be said about their measures."""
    for name, table in THESIS.items():
        if name in results:
            heading = f"### {table.source[0].upper()}{table.source[1:]}: {name}\n"
            yield heading + _table(table, thesis_runs(name), results[name], THESIS_COLUMNS, THESIS_METHODS)
    yield _listed(THESIS_MEASURES)


def atg_tables(results: Results) -> Iterable[str]:
    """Yield tables 3, 4 and 6 and what is to be said about their measures."""
    for table in (ATG_SMALL, ATG_LARGE):
        parts = {name: results[name] for name in table.data if name in results}
        if parts:
            pooled = {
                run.title: pool({name: part[run.title] for name, part in parts.items()}) for run in ATG_RUNS
            }
            heading = f"### {table.source}: mean over {', '.join(parts)}\n"
            yield heading + _table(table, ATG_RUNS, pooled, ATG_COLUMNS, ATG_METHODS)
    if rows := [row for name in ATG_DETAILED if name in results for row in _detailed(name, results[name])]:
        heads = [f"{_HEADS[name]}, {whose}" for name in _DETAILS for whose in ("published", "here")]
        words = "\nWhy a method's two figures differ is said at tables 3 and 4.\n"
        yield "### ATG paper, table 6, appendix C\n" + words + _markdown(("", *heads, "D, here", ""), rows)
    yield _listed(ATG_MEASURES)


def own_table(name: str, results: Mapping[str, Result]) -> str:
    """Return one table of all measures for data of your own, which nobody has published on."""
    known = {run.title: run for run in (*thesis_runs(name), *ATG_RUNS)}
    runs = [known[title] for title in results]
    table = Table("data of your own", (name,), {})
    columns = (*THESIS_COLUMNS[:4], "D", *THESIS_COLUMNS[4:])
    return f"### Data of your own: {name}\n" + _table(table, runs, results, columns, {})


def sizes_table(results: Results) -> str:
    """Return what went in, beside what the papers tell of theirs."""
    heads = ("data", "trips", "flows", "origins x destinations", "safe flows", "trips in safe flows", "")
    rows = []
    for name, result in results.items():
        if name in SIZES:
            told = SIZES[name]
            rows.append((f"{name}, published", *_sizes(told._asdict()), told.remark))
        done = [found for found in result.values() if "matrices" in found]
        if done:
            matrices = len(done[0]["matrices"])
            remark = f"mean of {matrices} matrices" if matrices > 1 else ""
            rows.append((f"{name}, here", *_sizes(mean(done[0]["matrices"])), remark))
    return _markdown(heads, rows)


def pool(found: Mapping[str, Result]) -> Result:
    """Return all matrices of several data sets as one, and the data sets for which there are none."""
    failed = {name: one["failed"] for name, one in found.items() if "failed" in one}
    if len(failed) == len(found):
        return {"failed": next(iter(failed.values()))}
    matrices = [matrix for one in found.values() for matrix in one.get("matrices", [])]
    return {"matrices": matrices, "without": list(failed)}


def mean(matrices: Sequence[Mapping[str, Any]]) -> dict[str, float | None]:
    """Return the mean of every number over matrices; None where one of them has none."""
    numbers = [name for name, value in matrices[0].items() if not isinstance(value, str | bool)]
    columns = {name: [matrix[name] for matrix in matrices] for name in numbers}
    return {
        name: None if any(value is None for value in values) else sum(values) / len(values)
        for name, values in columns.items()
    }


def _table(
    table: Table,
    runs: Sequence[Run],
    results: Mapping[str, Result],
    columns: Sequence[str],
    why: Mapping[str, str],
) -> str:
    rows: list[Sequence[str]] = []
    for run in runs:
        told = table.figures.get(run.published or "")
        if told is not None:
            short = run.title.partition(",")[0]
            rows.append((f"{short}, published", *(shown(name, told.get(name)) for name in columns), ""))
        whose = ", not in the paper" if told is None else ", here"
        found = results.get(run.title, NOT_RUN)
        here = mean(found["matrices"]) if "matrices" in found else {}
        cells = (shown(name, here.get(name)) for name in columns)
        rows.append(
            (run.title + whose * bool(table.figures), *cells, _words(found, why.get(run.published or "", "")))
        )
    return _markdown(("", *(_HEADS[name] for name in columns), "why they differ" if why else ""), rows)


def _words(found: Result, why: str) -> str:
    if "failed" in found:
        return str(found["failed"])
    without = f"without {', '.join(found['without'])}, see table 6" if found.get("without") else ""
    return "; ".join(words for words in (without, why) if words)


def _detailed(name: str, results: Mapping[str, Result]) -> Iterable[Sequence[str]]:
    """Yield the rows of table 6 for one data set; the paper leaves suppression and noise out of it."""
    told = ATG_DETAILED[name].figures
    for run in ATG_RUNS:
        found = results.get(run.title, NOT_RUN)
        here = mean(found["matrices"]) if "matrices" in found else {}
        published = told.get(run.published or "", {})
        pairs = ((published.get(measure), here.get(measure)) for measure in _DETAILS)
        cells = (
            shown(measure, value) for measure, pair in zip(_DETAILS, pairs, strict=True) for value in pair
        )
        yield (f"{name}, {run.title}", *cells, shown("D", here.get("D")), found.get("failed", ""))


def shown(measure: str, value: float | None) -> str:
    """Return a figure as a table shows it.

    >>> shown("S", 0.0999), shown("C_DM", 54_000_000.0), shown("G", 24.9), shown("G", 2277.9), shown("E", 1.8)
    ('10.0 %', '5.4e+07', '24.9', '2,278', '1.80')
    """
    if value is None:
        return "-"
    if measure in {"S", "safe_flows", "safe_volume"}:
        return f"{value:.1%}".replace("%", " %")
    if measure == "C_DM":
        return f"{value:.1e}"
    if measure in {"groups", "trips", "flows"} or value >= 1000:
        return f"{value:,.0f}"
    return (
        f"{value:.2f}" if measure in {"E", "D"} else f"{value:.3g}" if measure == "cpu_s" else f"{value:.4g}"
    )


def _sizes(told: Mapping[str, Any]) -> tuple[str, ...]:
    tiles = [f"{told[axis]:,.0f}" for axis in ("origins", "destinations")]
    plain = {name: shown(name, told[name]) for name in ("trips", "flows", "safe_flows", "safe_volume")}
    return (plain["trips"], plain["flows"], " x ".join(tiles), plain["safe_flows"], plain["safe_volume"])


def _listed(remarks: Iterable[str]) -> str:
    return "Why the two differ:\n\n" + "\n".join(f"- {remark}" for remark in remarks) + "\n"


def _markdown(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(heads) + " |", "|---|" + "---:|" * (len(heads) - 2) + "---|"]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n" + "\n".join(lines) + "\n"
