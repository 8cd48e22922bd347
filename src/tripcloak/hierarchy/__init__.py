"""Hierarchies: trees of zones, cuts through them, and the tilings that build them from places."""

from tripcloak.hierarchy.box_grid import grid_step, on_grid
from tripcloak.hierarchy.boxes import BoxZones, bounding_boxes, box_zones, distinct_boxes, read_box_names
from tripcloak.hierarchy.domains import Domain, shared_domains, steps_down
from tripcloak.hierarchy.h3.binary import H3BinaryTiling, member_cells
from tripcloak.hierarchy.h3.cells import cells_to_text, parent_cells, resolution_of, text_to_cells
from tripcloak.hierarchy.h3.tiling import H3Tiling
from tripcloak.hierarchy.places import Centres, Corners, tile_centres, tile_extents
from tripcloak.hierarchy.quadtree import QuadtreeTiling, study_area
from tripcloak.hierarchy.spec import parse_tiling
from tripcloak.hierarchy.tiling import OUTSIDE, Tiling
from tripcloak.hierarchy.time import Slots, time_hierarchy
from tripcloak.hierarchy.tree import Cut, Geometry, Hierarchy, Lineage, Zones
from tripcloak.hierarchy.zonefile.tilings import DendrogramTiling, TableTiling
from tripcloak.hierarchy.zonefile.zones import ZoneFile

__all__ = [
    "OUTSIDE",
    "BoxZones",
    "Centres",
    "Corners",
    "Cut",
    "DendrogramTiling",
    "Domain",
    "Geometry",
    "H3BinaryTiling",
    "H3Tiling",
    "Hierarchy",
    "Lineage",
    "QuadtreeTiling",
    "Slots",
    "TableTiling",
    "Tiling",
    "ZoneFile",
    "Zones",
    "bounding_boxes",
    "box_zones",
    "cells_to_text",
    "distinct_boxes",
    "grid_step",
    "member_cells",
    "on_grid",
    "parent_cells",
    "parse_tiling",
    "read_box_names",
    "resolution_of",
    "shared_domains",
    "steps_down",
    "study_area",
    "text_to_cells",
    "tile_centres",
    "tile_extents",
    "time_hierarchy",
]
