"""Analysis: what people do with a release: flows between zones of their own, profiles, land use."""

from tripcloak.analysis.overlap import Overlap, area_overlap, equal_area, point_overlap
from tripcloak.analysis.reconstruction import Reconstruction, reconstruct

__all__ = [
    "Overlap",
    "Reconstruction",
    "area_overlap",
    "equal_area",
    "point_overlap",
    "reconstruct",
]
