"""Writes rebuilt flows: the table, and for the data owner the agreement and profiles."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tripcloak.io.folder import Parts, refuse_if_taken, staged, write_json
from tripcloak.report.lines import Chart, lines_page
from tripcloak.workflow.rebuilt_check import Checked
from tripcloak.workflow.reconstruct import Rebuilt

TABLES = ("flows.csv", "flows.parquet")
INTERNAL = ("agreement.json", "profiles.html")
RECONSTRUCTION = Parts("reconstruction", files=TABLES, optional=INTERNAL)


def refuse_if_rebuilt(out: Path, *, force: bool) -> None:
    """Raise if the folder already holds rebuilt flows, is no folder, or may not be written to."""
    refuse_if_taken(out, force=force, parts=RECONSTRUCTION)


def write_rebuilt(
    out: Path, rebuilt: Rebuilt, checked: Checked | None, *, pairs: Sequence[str] = (), force: bool = False
) -> None:
    """Write the rebuilt flows and, where they were checked, agreement and profiles; all or nothing."""
    import pyarrow as pa
    from pyarrow import csv, parquet

    table = pa.table(rebuilt.columns())
    with staged(out, force=force, parts=RECONSTRUCTION) as staging:
        parquet.write_table(table, staging / "flows.parquet", compression="zstd")
        csv.write_csv(table, staging / "flows.csv", csv.WriteOptions(quoting_style="needed"))
        if checked is not None:
            for name in INTERNAL:
                (staging / name).touch(mode=0o600)
            write_json(staging / "agreement.json", checked.agreement._asdict())
            page = profiles_page(checked, checked.telling_pairs(pairs))
            (staging / "profiles.html").write_text(page, encoding="utf-8")


def profiles_page(checked: Checked, pairs: Sequence[tuple[int, int]]) -> str:
    """Return the page with profiles of some pairs, original beside rebuilt (figure 14 of paper 003)."""
    charts = []
    for pair in pairs:
        original, rebuilt = (checked.profile(pair, original=which) for which in (True, False))
        origin, destination = (str(checked.names[end]) for end in pair)
        words = f"{original.sum():,.0f} original, {rebuilt.sum():,.0f} rebuilt"
        labels = ["all"] if checked.slots is None else checked.slots.tolist()
        if len(labels) == 1:
            # A line needs two ends.
            labels, original, rebuilt = ["", ""], original.repeat(2), rebuilt.repeat(2)
        lines = {"original": original.tolist(), "rebuilt from the release": rebuilt.tolist()}
        charts.append(Chart(f"{origin} to {destination}", words, labels, lines))
    found = checked.agreement
    return lines_page(
        "Original and rebuilt flows",
        internal="Internal: shows original data. Not for publication.",
        words=["Flows between zones as the original trips have them, and as a reader rebuilds them."],
        facts={
            "common part (CPC)": f"{found.cpc:.3f}",
            "correlation": f"{found.correlation:.3f}",
            "mean error": f"{found.mean_error:,.2f}",
            "in the 95 % interval": f"{found.within_interval:.1%}",
            "in the bounds": f"{found.within_bounds:.1%}",
        },
        charts=charts,
    )
