"""The check of a series by its receiver: every release is whole, and all are in the zones that it states."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tripcloak.flows.checking import check_flows
from tripcloak.flows.publish import write_cumulative
from tripcloak.flows.release.cumulating import CUMULATIVE, cumulative_table
from tripcloak.flows.release.keeping import PLAN, periods_of, plan_of
from tripcloak.flows.report.series import series_page, series_readme
from tripcloak.ground.errors import InputError
from tripcloak.ground.folders import PUBLIC, json_text
from tripcloak.ground.memory import Memory
from tripcloak.ground.progress import Progress, silent
from tripcloak.ground.rulebook import Finding


@dataclass(frozen=True, kw_only=True)
class SeriesCheck:
    """What the public parts of a series show by themselves: a finding on its own files, and one a period."""

    folder: Path
    findings: tuple[Finding, ...]

    @property
    def untouched(self) -> bool:
        """Return whether nothing speaks against the files."""
        return all(one.ok for one in self.findings)

    def sentence(self) -> str:
        """Return the result in a sentence."""
        if self.untouched:
            return (
                f"Untouched, as far as its files can show: {len(self.findings) - 1:,} releases, all in the "
                "zones that the series states."
            )
        broken = ", ".join(one.rule for one in self.findings if not one.ok)
        return f"TOUCHED OR BROKEN: do not rely on it. Broken: {broken}."

    def to_dict(self) -> dict[str, Any]:
        """Return the object that ``tripcloak check --json`` prints."""
        return {
            "untouched": self.untouched,
            "verdict": self.sentence(),
            "folder": str(self.folder),
            "kind": "series",
            "findings": [one.to_dict() for one in self.findings],
        }


def check_series(folder: Path, *, memory: Memory = None, progress: Progress = silent) -> SeriesCheck:
    """Return what can be found out about a series from its public parts alone.

    Parameters
    ----------
    folder
        The folder that holds the series: ``release/`` and a folder for every period.
    """
    releases = periods_of(folder)
    if not releases:
        raise InputError(f"{folder} holds no releases beside the public part of a series")
    public = next(iter(releases.values())).parent / PUBLIC
    findings = [_own_files(public, releases)]
    for name, release in releases.items():
        progress(f"checking {name}", len(findings) - 1, len(releases))
        broken = [
            one.rule for one in check_flows(release, earlier=public.parent, memory=memory) if not one.ok
        ]
        words = f"broken: {', '.join(broken)}" if broken else "untouched, in the zones of the series"
        findings.append(Finding(name, not broken, words))
    return SeriesCheck(folder=folder, findings=tuple(findings))


def _own_files(public: Path, releases: Mapping[str, Path]) -> Finding:
    """Return whether the files of a series are, byte by byte, what comes of its releases' public parts."""
    found = {path.name: path.read_bytes() for path in public.iterdir() if path.is_file()}
    try:
        right = _written_anew(releases, cumulative=bool({*CUMULATIVE} & {*found}))
    except (InputError, KeyError, TypeError, ValueError):
        right = {}
    changed = sorted(name for name in {*found, *right} if found.get(name) != right.get(name))
    words = (
        f"not what comes of writing the public parts of the releases: {', '.join(changed)}"
        if changed or not right
        else f"{_listed(right)} are what comes of writing the public parts of the releases"
    )
    return Finding("series-as-written", not changed and bool(right), words)


def _written_anew(releases: Mapping[str, Path], *, cumulative: bool) -> dict[str, bytes]:
    """Return the files of a series as they come of writing the public parts of its releases."""
    texts = {
        PLAN: json_text(plan_of(releases).to_dict()),
        "map.html": series_page(releases),
        "README.md": series_readme(releases, cumulative=cumulative),
    }
    right = {name: text.encode() for name, text in texts.items()}
    if cumulative:
        with TemporaryDirectory(prefix="tripcloak-") as name:
            write_cumulative(Path(name), cumulative_table(releases))
            right |= {file: (Path(name) / file).read_bytes() for file in CUMULATIVE}
    return right


def _listed(names: Iterable[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}"
