"""Attacks on a release: how many released trajectories fit what is known of somebody."""

from tripcloak.trajectories.attacks.after.release import match_release

__all__ = ["match_release"]
