"""Attacks on a release: how many released trajectories fit what is known of somebody, and which is whose."""

from tripcloak.trajectories.attacks.after.owner import name_owners
from tripcloak.trajectories.attacks.after.release import match_release

__all__ = ["match_release", "name_owners"]
