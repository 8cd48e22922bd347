"""Outlines at the places where a plane and a globe disagree."""

from __future__ import annotations

import h3
import pytest

from tripcloak.ground.errors import InputError
from tripcloak.pages.outlines import encode_outlines


def polygon(*rings):
    return {"type": "Polygon", "coordinates": [list(map(list, ring)) for ring in rings]}


def rectangle(west, south, east, north):
    return [(west, south), (east, south), (east, north), (west, north), (west, south)]


def corners(ring):
    longitude = latitude = 0
    found = []
    for step in range(0, len(ring), 2):
        longitude, latitude = longitude + ring[step], latitude + ring[step + 1]
        found.append((longitude / 1e6, latitude / 1e6))
    return found


def span(outline):
    longitudes = [longitude for part in outline for ring in part for longitude, _ in corners(ring)]
    return min(longitudes), max(longitudes)


def cell_polygon(cell):
    return polygon([(lon, lat) for lat, lon in h3.cell_to_boundary(cell)])


def test_a_cell_across_the_antimeridian_stays_narrow():
    cells = list(h3.grid_disk(h3.latlng_to_cell(-16.8, 180.0, 6), 3))
    outlines = encode_outlines(list(map(cell_polygon, cells)), [h3.cell_area(c) for c in cells])
    for outline in outlines:
        west, east = span(outline)
        assert east - west < 0.2
    everywhere = [edge for outline in outlines for edge in span(outline)]
    assert max(everywhere) - min(everywhere) < 1.0


def test_zones_on_both_sides_of_the_antimeridian_lie_side_by_side():
    geometries = [polygon(rectangle(178, 0, 179, 1)), polygon(rectangle(-179, 0, -178, 1))]
    (a, b), (c, d) = map(span, encode_outlines(geometries, [12_364, 12_364]))
    assert sorted([b - a, d - c]) == [1, 1]
    assert abs(a - c) == 3


def test_parts_cut_at_the_antimeridian_meet_again():
    parts = [[rectangle(179, 0, 180, 1)], [rectangle(-180, 0, -179, 1)]]
    west, east = span(encode_outlines([{"type": "MultiPolygon", "coordinates": parts}], [24_728])[0])
    assert east - west == 2


@pytest.mark.parametrize(("area_km2", "width"), [(510_000_000, 360), (0.0, 0)])
def test_area_tells_the_whole_world_from_a_seam(area_km2, width):
    west, east = span(encode_outlines([polygon(rectangle(-180, -90, 180, 90))], [area_km2])[0])
    assert east - west == width


def test_a_wide_study_area_is_not_mistaken_for_its_complement():
    wide = rectangle(-150, 10, 150, 20)
    west, east = span(encode_outlines([polygon(wide)], [35_800_000])[0])
    assert (west, east) == (-150, 150)


@pytest.mark.parametrize("pole", [90.0, -90.0])
def test_a_cell_over_a_pole_closes_along_it(pole):
    cell = h3.latlng_to_cell(pole, 0.0, 2)
    [[[ring]]] = encode_outlines([cell_polygon(cell)], [h3.cell_area(cell)])
    points = corners(ring)
    assert span([[ring]])[1] - span([[ring]])[0] == pytest.approx(360)
    assert [latitude for _, latitude in points].count(pole) == 2


def test_holes_move_with_their_polygon():
    outer, hole = rectangle(179, 0, -179, 2), rectangle(-179.8, 0.5, -179.2, 1.5)
    [[rings]] = encode_outlines([polygon(outer, hole)], [42_000])
    (west, east), (inner_west, inner_east) = (span([[ring]]) for ring in rings)
    assert west < inner_west < inner_east < east


def test_an_unclosed_ring_and_a_single_point_are_drawn_as_they_are():
    outlines = encode_outlines([polygon([(1, 2), (3, 2), (3, 4)]), polygon([(5, 6)])], [1.0, 0.0])
    assert corners(outlines[0][0][0]) == [(1, 2), (3, 2), (3, 4)]
    assert corners(outlines[1][0][0]) == [(5, 6)]


@pytest.mark.parametrize(
    ("geometry", "says"),
    [
        ({"type": "Point", "coordinates": [1, 2]}, "found Point"),
        ({}, "found none"),
        ({"type": "MultiPolygon", "coordinates": []}, "empty"),
        (polygon([]), "empty ring"),
        (polygon([(1, float("inf")), (2, 3), (4, 5)]), "not a number"),
    ],
)
def test_what_is_no_outline_is_refused(geometry, says):
    with pytest.raises(InputError, match=says):
        encode_outlines([geometry], [1.0])
