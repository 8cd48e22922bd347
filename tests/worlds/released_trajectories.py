"""Release folders of made-up trajectories, written as anonymise writes them."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any

from tripcloak.ground.folders import staged
from tripcloak.trajectories.attacks.owner import guess_owner
from tripcloak.trajectories.model import Trajectories
from tripcloak.trajectories.release.release import TrajectoryRelease
from tripcloak.trajectories.release.writing import write_trajectory_release
from tripcloak.trajectories.report.map import trajectory_pages

COUNTED = {"trajectories": "people: every id stands for one person"}
"""What the manifest says is counted, where ids are people."""


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
            staging,
            trajectories,
            release,
            run=run or {},
            pages=trajectory_pages,
            formats=formats,
            guess=guess_owner(trajectories, release),
        )
    return out
