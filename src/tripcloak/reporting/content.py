"""What a report says: one mapping of plain values, from which page and JSON are made."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tripcloak._version import __version__
from tripcloak.flows.report.plain import area_words
from tripcloak.flows.report.readme import render_readme
from tripcloak.ground.errors import InputError
from tripcloak.ground.folders import PRIVATE, file_digest
from tripcloak.ground.manifest import RECORD, public_part, read_manifest, read_run
from tripcloak.ground.spelling import spelt
from tripcloak.hierarchy.place_names import Box, largest_towns
from tripcloak.pages.background import published_background, read_background
from tripcloak.pages.citing import citation
from tripcloak.promises import Promise
from tripcloak.promises.counted import called_in_words
from tripcloak.receiving.check import ReleaseCheck, check_release
from tripcloak.reporting.flows import PublicFlows
from tripcloak.reporting.markdown import sections
from tripcloak.reporting.measured import measured_rows
from tripcloak.reporting.originals import OriginalFlows
from tripcloak.reporting.trajectories import PublicTrajectories, original_charts
from tripcloak.trajectories.report.readme import render_trajectory_readme

LOGOS = {".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".svg": "image/svg+xml"}
LARGEST_LOGO = 500_000
PRIVATE_WORDS = (
    "PRIVATE. This page shows original, unprotected data. It must not leave the building; the report to "
    "publish is report.html beside the folder release."
)


@dataclass(frozen=True, kw_only=True)
class Dressing:
    """What the owner puts on a report: words and pictures that are nobody's data."""

    title: str | None = None
    subtitle: str | None = None
    logo: Path | None = None
    background: Path | None = None


def report_content(folder: Path, dressing: Dressing, *, private: bool = False) -> dict[str, Any]:
    """Return everything that a report says of a release.

    Parameters
    ----------
    folder
        The folder that holds ``release/``, or, for a public report, that part itself.
    private
        Show what is original as well; such a report must stay inside.

    Raises
    ------
    InputError
        There is no release, or a private report is asked for and the private part is not there.
    """
    facts, public = read_manifest(folder), public_part(folder)
    checked = check_release(folder)
    run = read_run(folder) if private else {}
    released: PublicFlows | PublicTrajectories
    if facts["kind"] == "flows":
        released, readme = PublicFlows(public, facts), render_readme(facts)
    else:
        released, readme = PublicTrajectories(public, facts), render_trajectory_readme(facts)
    maps, charts = released.maps(), released.charts()
    if private and isinstance(released, PublicFlows):
        original = OriginalFlows(folder, run, released)
        maps = [*original.maps(), *maps, *original.withheld_maps()]
        charts = [*original.charts(), *charts]
    elif private:
        charts = [*original_charts(run.get("measures", {})), *charts]
    told = sections(readme)
    return {
        "format": "tripcloak report 1",
        "private": PRIVATE_WORDS if private else None,
        **_head(facts, dressing),
        "verdict": {"good": checked.untouched, "sentence": _verdict(facts, checked)},
        "figures": [{"value": value, "words": words} for value, words in _figures(facts, released)],
        "plain": list(run.get("plain_words", ())) if private else list(checked.holds),
        "promised": list(checked.promised),
        "counted": list(checked.counted),
        "not_promised": list(checked.not_promised),
        "unseen": list(checked.unseen),
        "signature": checked.signature.words,
        "maps": maps,
        "charts": [chart.to_dict() for chart in charts],
        "measures": measured_rows(run.get("measures", facts.get("measures", {}))),
        "method": _method(facts),
        "cleaning": _cleaning(facts, run),
        "audit": [
            {"rule": rule["rule"], "state": rule["state"], "words": rule["words"]}
            for rule in (
                *run.get("audit", {}).get("findings", ()),
                *(one.to_dict() for one in checked.findings),
            )
        ],
        "files": told.get("Files", ""),
        "how_to_open": told.get("How to open it", ""),
        "how_to_read": told.get("How to read a sample", ""),
        "cite": _cite(facts, dressing, file_digest(public / "manifest.json")),
        "manifest_sha256": file_digest(public / "manifest.json"),
        "towns": _towns(facts, released.box),
        "background": _background(public, facts, dressing.background, released.box),
    }


def has_private_part(folder: Path) -> bool:
    """Return whether the private record of a release is at hand."""
    return (folder / PRIVATE / RECORD).is_file()


def _head(facts: Mapping[str, Any], dressing: Dressing) -> dict[str, Any]:
    what = "Trips between zones" if facts["kind"] == "flows" else "Trajectories"
    return {
        "kind": facts["kind"],
        "title": dressing.title or facts.get("title") or f"{what}: what was released, and how safe it is",
        "subtitle": dressing.subtitle,
        "logo": _logo(dressing.logo),
        "version": facts["version"],
    }


def _verdict(facts: Mapping[str, Any], checked: ReleaseCheck) -> str:
    """Return one sentence for whoever reads nothing else."""
    if not checked.untouched:
        made = facts["version"]
        another = (
            f" It was made with tripcloak {made}, and this is {__version__}: only the version that made "
            "a release can write its files anew and compare them."
        )
        return checked.sentence() + ("" if made == __version__ else another)
    promise = Promise.from_manifest(facts["promise"])
    brief = promise.in_brief()
    brief = f"{brief[:1].upper()}{brief[1:]}"
    if facts["kind"] == "trajectories":
        return f"{brief}; {facts['released']['trajectories']:,} trajectories are released."
    unit = next(iter(promise.thresholds), None)
    smallest = facts["smallest"].get(unit) if unit else None
    behind = "" if smallest is None else f", and the smallest has {smallest:,}"
    return f"{brief}{behind}; withheld: {facts['withheld']['words']}."


def _figures(facts: Mapping[str, Any], released: PublicFlows | PublicTrajectories) -> list[tuple[str, str]]:
    """Return the numbers of the first screen, each with its words."""
    if isinstance(released, PublicTrajectories):
        k = facts["promise"].get("k")
        return [
            (f"{facts['released']['trajectories']:,}", "trajectories released"),
            (f"{facts['released']['samples']:,}", "samples released"),
            *([] if k is None else [(f"{k:,}", "among so many each one hides, at least (k)")]),
            *released.figures(),
        ]
    rows = [
        (f"{facts['released']:,}", f"{facts['volume']} released"),
        (f"{facts['groups']:,}", "flows"),
        *(
            (f"{least:,}", f"{_called(facts, unit)} in the smallest flow")
            for unit, least in facts["smallest"].items()
        ),
    ]
    if facts["typical_zone_km2"] is not None:
        size, _, across = area_words(facts["typical_zone_km2"]).partition(" (")
        rows.append((size, f"is a typical zone ({across}" if across else "is a typical zone"))
    if facts["bound"] is not None:
        rows.append(
            (f"{facts['bound']['within_percent']} %", "proven to be within this of the best possible")
        )
    return rows


def _called(facts: Mapping[str, Any], unit: Any) -> str:
    return called_in_words(unit, Promise.from_manifest(facts["promise"]).id_is)


def _method(facts: Mapping[str, Any]) -> list[list[str]]:
    rows = {"method": facts["method"], "made with": f"tripcloak {facts['version']}"}
    rows |= {name: "none" if value is None else str(value) for name, value in facts["parameters"].items()}
    for name in ("hierarchy", "grid"):
        rows |= {f"{name} {key}": str(value) for key, value in facts.get(name, {}).items()}
    return [[name, value] for name, value in rows.items()]


def _cleaning(facts: Mapping[str, Any], run: Mapping[str, Any]) -> list[list[str]]:
    """Return what became of the rows: all of it where that is private, else what may be told."""
    told = run.get("cleaning", {})
    rows = [[name, f"{told[name]:,}"] for name in ("read", "kept") if name in told]
    dropped = told.get("dropped", facts.get("dropped_rows", {}))
    return rows + [
        [f"dropped: {reason.replace('_', ' ')}", f"{number:,}"] for reason, number in dropped.items()
    ]


def _cite(facts: Mapping[str, Any], dressing: Dressing, digest: str) -> str:
    return f"{citation(facts, dressing.title or '')} SHA-256 of its manifest: {digest}."


def _towns(facts: Mapping[str, Any], box: Box | None) -> list[dict[str, Any]]:
    """Return the towns to label on the map: those of the release, else of the list of places at hand."""
    if "names" in facts:
        return list(facts["names"].get("towns", ()))
    return largest_towns(box)


def _logo(path: Path | None) -> str | None:
    """Return a picture as an address that holds it."""
    if path is None:
        return None
    kind = LOGOS.get(path.suffix.lower())
    data = _read(path, "logo", LARGEST_LOGO)
    if kind is None:
        raise InputError(f"{spelt('logo')} needs a PNG, JPEG or SVG file, found {path.name}")
    return f"data:{kind};base64,{base64.b64encode(data).decode()}"


def _background(
    public: Path, facts: Mapping[str, Any], given: Path | None, box: Box | None
) -> dict[str, Any] | None:
    """Return lines and polygons to draw below zones: those of a file, else what the release's own map has."""
    if given is not None:
        return None if box is None else read_background(given, box)
    return published_background(public, facts)


def _read(path: Path, what: str, most: int) -> bytes:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"{spelt(what)}: {path} cannot be read ({error.strerror})") from None
    if len(data) > most:
        raise InputError(
            f"{spelt(what)}: {path.name} has {len(data):,} bytes, and a report takes "
            f"{most:,} at most; make it smaller"
        )
    return data
