"""Two peer packages on the same 20 k trips: anonypy's Mondrian for speed, pycanon's k as a second opinion.

Both want older numpy and pandas than ours, so they live in an environment of their own, made here when it
is not there. Where no package can be had, the reason is printed and the bench goes on.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.lines import Line, Skipped
from benchmarks.measuring import city, run, task

TRIPS = 20_000
K = 10
HOME = Path(__file__).parents[1] / ".bench-venv"
PINS = Path(__file__).with_name("peers-constraints.txt")
PACKAGES = ("anonypy", "pycanon")


def peers(folder: Path) -> Iterator[Line | Skipped]:
    """Yield how much faster our Mondrian is than anonypy's, and whether pycanon finds our audit's k."""
    try:
        python = environment(HOME, PINS, PACKAGES)
    except NoPeers as reason:
        yield Skipped("anonypy's Mondrian, pycanon's k", str(reason))
        return
    path = str(city(folder, TRIPS))
    yield _faster(python, path, folder)
    yield from _agreeing(python, path, folder)


class NoPeers(Exception):
    """The peer packages cannot be had here."""


def environment(
    home: Path = HOME, pins: Path = PINS, packages: tuple[str, ...] = PACKAGES, maker: str = sys.executable
) -> Path:
    """Return the Python of an environment of peers, made by another Python and filled if need be."""
    python = home / "bin" / "python"
    stamp = home / ".installed"
    if not stamp.exists() or stamp.stat().st_mtime < pins.stat().st_mtime:
        _must([maker, "-m", "venv", "--clear", str(home)])
        quiet = ["--quiet", "--disable-pip-version-check", "--no-input"]
        _must([str(python), "-m", "pip", "install", *quiet, "--constraint", str(pins), *packages])
        stamp.touch()
    return python


def _must(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        told = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
        why = (told or done.stderr.splitlines() or [f"exit code {done.returncode}"])[-1]
        raise NoPeers(why.replace("|", "/"))


def _faster(python: Path, path: str, folder: Path) -> Line:
    table = folder / "peer-trips.csv"
    task("ends", path, str(table))
    theirs = _asked(python, "mondrian", str(table), str(K))
    ours = task("solve", path, "mondrian", "trips").json()
    cutting = theirs["cutting_cpu_s"]
    remark = (
        f"{cutting:.2f} against {ours['cpu_s']:.3f} CPU s, {theirs['groups']:,} against "
        f"{ours['groups']:,} groups; anonypy's whole call {theirs['cpu_s']:.2f} CPU s"
    )
    what = f"anonypy's Mondrian, cutting only / ours, {TRIPS:,} trips"
    return Line(what, cutting / ours["cpu_s"], 20, "times", remark=remark, at_least=True)


def _agreeing(python: Path, path: str, folder: Path) -> Iterator[Line]:
    tables = folder / "peer-releases"
    tables.mkdir(exist_ok=True)
    audited: dict[str, Any] = task("releases", path, str(tables)).json()
    files = {method: str(tables / f"{method}.csv") for method in audited}
    found = _asked(python, "k", *files.values())
    for method, ours in audited.items():
        theirs = found[files[method]]
        what = f"k of {method}'s release, pycanon against our audit"
        remark = f"{theirs} trips in the smallest group, and {ours:g}"
        yield Line(what, abs(theirs - ours), 0, "trips apart", remark=remark)


def _asked(python: Path, *arguments: str) -> dict[str, Any]:
    return run([str(python), str(Path(__file__).with_name("peer_tasks.py")), *arguments]).json()
