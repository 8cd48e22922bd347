"""The guess that a release tells beside the owner's, of whichever kind its promise leaves open."""

from __future__ import annotations

from tripcloak.trajectories.attacks.dummies import guess_apart
from tripcloak.trajectories.attacks.passages import guess_links
from tripcloak.trajectories.model import Trajectories
from tripcloak.trajectories.release.guess import BesideGuess
from tripcloak.trajectories.release.release import TrajectoryRelease


def guess_beside(trajectories: Trajectories, release: TrajectoryRelease) -> BesideGuess | None:
    """Return how often pieces are linked, or people told from their dummies; None where there is neither."""
    if release.promise.parted:
        return guess_links(trajectories, release)
    return guess_apart(trajectories, release) if release.promise.adds else None
