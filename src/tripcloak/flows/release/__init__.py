"""Releases: what may leave the building."""

from tripcloak.flows.release.public import (
    ReleasedZones,
    manifest,
    measures_of_table,
    published_numbers,
    released_zones,
    restated,
    segment_numbers,
    segments_told,
)
from tripcloak.flows.release.publication import (
    PUBLISH,
    Publication,
    Publish,
    main_volume,
    publication_of,
    published_as,
    summed,
)
from tripcloak.flows.release.release import Bound, Release, build_noisy_release, build_release
from tripcloak.flows.release.withheld import Band, withheld_bands

__all__ = [
    "PUBLISH",
    "Band",
    "Bound",
    "Publication",
    "Publish",
    "Release",
    "ReleasedZones",
    "build_noisy_release",
    "build_release",
    "main_volume",
    "manifest",
    "measures_of_table",
    "publication_of",
    "published_as",
    "published_numbers",
    "released_zones",
    "restated",
    "segment_numbers",
    "segments_told",
    "summed",
    "withheld_bands",
]
