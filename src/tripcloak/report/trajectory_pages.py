"""The pages that travel with a release of trajectories: README.md and map.html."""

from __future__ import annotations

from tripcloak.report.trajectory_map import render_trajectory_map
from tripcloak.report.trajectory_readme import render_trajectory_readme
from tripcloak.trajectories.published import PublishedTrajectories


def trajectory_pages(published: PublishedTrajectories) -> dict[str, str]:
    """Return the pages for readers by file name, made of what is published alone."""
    return {
        "README.md": render_trajectory_readme(published.manifest),
        "map.html": render_trajectory_map(published),
    }
