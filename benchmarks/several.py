"""Several releases of the same people: what it costs to attack them, and to add one more to a ledger."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from benchmarks.lines import Line
from benchmarks.measuring import Cost, city, tripcloak

FEW = ("--unit", "trips", "--k", "2")
TEN: tuple[tuple[str, ...], ...] = (
    FEW,
    ("--unit", "trips", "--k", "3", "--method", "nestedcut"),
    (*FEW, "--where", "start_time < '2024-09-21'"),
    (*FEW, "--where", "start_time < '2024-09-22'"),
    (*FEW, "--method", "nestedcut", "--where", "sex = 'F'"),
    (*FEW, "--method", "nestedcut", "--where", "sex = 'M'"),
    (*FEW, "--method", "nestedcut", "--where", "age < 45"),
    (*FEW, "--method", "nestedcut", "--where", "age >= 45"),
    (*FEW, "--where", "person_id <> 'p0000000'"),
    ("--unit", "trips", "--k", "5", "--method", "productcut"),
)
"""Releases that differ in k, period, sex, age and method, of about 100,000 flows each in a million trips."""

BEFORE: tuple[tuple[str, ...], ...] = (
    (),
    ("--where", "person_id <> 'p0000000'"),
    ("--k", "20"),
    ("--where", "start_time < '2024-09-21'"),
    ("--where", "sex = 'F'"),
)
NOW = ("--where", "person_id not in ('p0000000', 'p0000001')")
"""One more person is erased."""


def several(folder: Path, trips: int, into_ledger: int) -> Iterator[Line]:
    """Yield what ten releases cost to attack, and a release beside five earlier ones, against one alone.

    Parameters
    ----------
    trips, into_ledger
        Trips of the made-up city that each is measured on.
    """
    yield from attacked(folder, trips)
    yield beside_earlier(folder, into_ledger)


def attacked(folder: Path, trips: int) -> Iterator[Line]:
    """Yield what `difference` costs on ten releases: CPU time and memory."""
    made, flows = [], []
    for number, options in enumerate(TEN):
        out = folder / f"several-{trips}-{number}"
        told = _anonymised(city(folder, trips), out, *options)
        made.append(str(out))
        flows.append(int(told.json()["groups"]))
    cost = tripcloak("difference", *made, "--json", answers=(0, 1))
    found = cost.json()
    what = f"difference of {len(TEN)} releases of {min(flows):,} flows and more"
    remark = f"{sum(flows):,} flows; complete: {str(found['complete']).lower()}"
    yield Line(what, cost.cpu_s, 60, "CPU s", cost.peak_mb, remark)
    yield Line(f"{what}, peak memory", cost.peak_mb / 1000, 4, "GB", cost.peak_mb)


def beside_earlier(folder: Path, trips: int) -> Line:
    """Return how much longer `anonymise` takes with a ledger of five earlier releases than without one."""
    path, ledger = city(folder, trips), folder / f"ledger-{trips}"
    tripcloak("ledger", "init", str(ledger))
    for number, options in enumerate(BEFORE):
        _anonymised(path, folder / f"before-{trips}-{number}", *options, "--ledger", str(ledger))
    alone = _anonymised(path, folder / f"alone-{trips}", *NOW)
    beside = _anonymised(path, folder / f"beside-{trips}", *NOW, "--ledger", str(ledger))
    what = f"anonymise --ledger, {len(BEFORE)} earlier releases of {trips:,} trips / without"
    remark = f"{beside.cpu_s:.0f} against {alone.cpu_s:.0f} CPU s"
    return Line(what, beside.cpu_s / alone.cpu_s, 1.6, "times", beside.peak_mb, remark)


def _anonymised(path: Path, out: Path, *options: str) -> Cost:
    return tripcloak("anonymise", str(path), "--out", str(out), "--json", *options)
