"""Releases: what may leave the building."""

from tripcloak.flows.release.public import (
    ReleasedZones,
    manifest,
    published_numbers,
    published_units,
    released_zones,
    restated,
    segment_numbers,
)
from tripcloak.flows.release.release import Bound, Release, build_noisy_release, build_release, main_volume
from tripcloak.flows.release.withheld import Band, withheld_bands

__all__ = [
    "Band",
    "Bound",
    "Release",
    "ReleasedZones",
    "build_noisy_release",
    "build_release",
    "main_volume",
    "manifest",
    "published_numbers",
    "published_units",
    "released_zones",
    "restated",
    "segment_numbers",
    "withheld_bands",
]
