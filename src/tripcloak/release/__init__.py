"""Releases: what may leave the building."""

from tripcloak.release.release import Bound, Release, build_release, main_volume

__all__ = ["Bound", "Release", "build_release", "main_volume"]
