"""Release folders of made-up trajectories, written as anonymise writes them."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any

from tripcloak.io.folder import staged
from tripcloak.io.trajectory_folder import write_trajectory_release
from tripcloak.report.trajectory_pages import trajectory_pages
from tripcloak.trajectories import Trajectories, TrajectoryRelease


def written(
    out: Path,
    trajectories: Trajectories,
    release: TrajectoryRelease,
    *,
    formats: Collection[str] | None = None,
    run: dict[str, Any] | None = None,
) -> Path:
    """Return the folder after writing the release into it."""
    with staged(out, force=False) as staging:
        write_trajectory_release(
            staging, trajectories, release, run=run or {}, pages=trajectory_pages, formats=formats
        )
    return out
