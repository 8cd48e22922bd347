"""Ways to tamper with a release folder; each changes what it says and nothing else."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import h3
from pyarrow import parquet

from tripcloak.flows.release.tables import zones_geojson
from tripcloak.promises import KAnonymity, Promise
from worlds.released_flows import Folder

Rows = list[dict[str, Any]]


def largest(rows: Rows) -> dict[str, Any]:
    return max(rows, key=lambda row: row["trips"])


def add(column: str, amount: int) -> Callable[[Folder], None]:
    def change(rows: Rows) -> None:
        largest(rows)[column] += amount

    return lambda folder: folder.edit_flows(change)


def remove_a_flow(folder: Folder) -> None:
    folder.edit_flows(lambda rows: rows.pop(3))


def add_a_flow(folder: Folder) -> None:
    def change(rows: Rows) -> None:
        stranger = h3.grid_ring(rows[0]["origin"], 3)[0]
        rows.append({**rows[0], "origin": stranger})

    folder.edit_flows(change)


def repeat_a_flow(folder: Folder) -> None:
    folder.edit_flows(lambda rows: rows.append(dict(rows[0])))


def swap_two_zones(folder: Folder) -> None:
    def change(rows: Rows) -> None:
        first, second = rows[0], rows[-1]
        first["origin"], second["origin"] = second["origin"], first["origin"]

    folder.edit_flows(change)


def move_zone(choose: Callable[[str, list[str]], str]) -> Callable[[Folder], None]:
    """Return a change that gives one origin zone another name, in every table alike."""

    def change(folder: Folder) -> None:
        zones = sorted(set(parquet.read_table(folder.public("flows.parquet"))["origin"].to_pylist()))
        old = max(zones, key=h3.get_resolution)
        new = choose(old, zones)

        def rename(column: str) -> Callable[[Rows], None]:
            def edit(rows: Rows) -> None:
                for row in rows:
                    if row[column] == old and row.get("axis") != "destination":
                        row[column] = new

            return edit

        folder.edit_flows(rename("origin"))
        folder.edit_groups(rename("released_origin"))
        folder.edit_rows("release/zones.parquet", rename("zone"))

    return change


def overlapping_ancestor(old: str, zones: list[str]) -> str:
    other = next(zone for zone in zones if zone != old)
    level = next(r for r in range(9, -1, -1) if h3.cell_to_parent(old, min(r, h3.get_resolution(old))) ==
                 h3.cell_to_parent(other, min(r, h3.get_resolution(other))))  # fmt: skip
    return h3.cell_to_parent(old, level)


def tear_a_tile(folder: Folder) -> None:
    """Send one flow of a tile to the parent of the zone that its other flows go to."""

    def change(rows: Rows) -> None:
        shown = [row for row in rows if row["released_origin"]]
        first = next(row for row, after in pairwise(shown) if row["origin"] == after["origin"])
        zone = first["released_origin"]
        first["released_origin"] = h3.cell_to_parent(zone, h3.get_resolution(zone) - 1)

    folder.edit_groups(change)


def release_nothing(folder: Folder) -> None:
    path = folder.public("flows.parquet")
    parquet.write_table(parquet.read_table(path).slice(0, 0), path, store_schema=False)


def release_a_withheld_flow(folder: Folder) -> None:
    def change(rows: Rows) -> None:
        shown = next(row for row in rows if row["released_origin"])
        hidden = next(row for row in rows if not row["released_origin"])
        hidden.update(
            released_origin=shown["released_origin"], released_destination=shown["released_destination"]
        )

    folder.edit_groups(change)


def release_half_a_flow(folder: Folder) -> None:
    def change(rows: Rows) -> None:
        next(row for row in rows if row["released_origin"])["released_destination"] = None

    folder.edit_groups(change)


def withhold_too_much(folder: Folder) -> None:
    """Withhold released flows, in every table alike, until far more than the limit is gone."""
    gone = set()

    def drop(rows: Rows) -> None:
        rows.sort(key=lambda row: row["trips"])
        while sum(row["trips"] for row in rows) > 1500:
            row = rows.pop()
            gone.add((row["origin"], row["destination"]))

    def hide(rows: Rows) -> None:
        for row in rows:
            if (row["released_origin"], row["released_destination"]) in gone:
                row.update(released_origin=None, released_destination=None)

    folder.edit_flows(drop)
    folder.edit_groups(hide)


def more_trips_in_groups(folder: Folder) -> None:
    folder.edit_groups(lambda rows: rows[5].update(trips=rows[5]["trips"] + 1))


def fewer_travellers_in_groups(folder: Folder) -> None:
    folder.edit_groups(lambda rows: largest(rows).update(travellers=1))


def lose_a_group_row(folder: Folder) -> None:
    folder.edit_groups(lambda rows: rows.pop(7))


def repeat_a_group_row(folder: Folder) -> None:
    folder.edit_groups(lambda rows: rows.append(dict(rows[7])))


def invent_a_group_row(folder: Folder) -> None:
    def change(rows: Rows) -> None:
        rows.append({**rows[0], "origin": h3.grid_ring(rows[0]["origin"], 40)[0]})

    folder.edit_groups(change)


def edit_last_number(name: str) -> Callable[[Folder], None]:
    return lambda folder: folder.edit_text(name, lambda text: re.sub(r"(\d)(\D*)$", _next_digit, text))


def _next_digit(match: re.Match[str]) -> str:
    return f"{(int(match[1]) + 1) % 10}{match[2]}"


def geojson_number(folder: Folder) -> None:
    folder.edit_text("zones.geojson", lambda text: re.sub(r'"tiles": (\d+)', '"tiles": 1', text, count=1))


def geojson_outline(folder: Folder) -> None:
    folder.edit_text("zones.geojson", lambda text: re.sub(r"\[\[\[\d", "[[[1", text, count=1))


def geojson_without_a_zone(folder: Folder) -> None:
    folder.edit_text("zones.geojson", lambda text: re.sub(r'\{"type": "Feature".*?\}\}, ', "", text, count=1))


def extra_file(folder: Folder) -> None:
    folder.public("notes.txt").write_text("nothing much")


def extra_folder(folder: Folder) -> None:
    folder.public("more").mkdir()


def file_behind_a_link(folder: Folder) -> None:
    elsewhere = folder.path / "README.md"
    folder.public("README.md").rename(elsewhere)
    folder.public("README.md").symlink_to(elsewhere)


def lose_a_file(folder: Folder) -> None:
    folder.public("README.md").unlink()


def travellers_of_trips(folder: Folder) -> None:
    def change(rows: Rows) -> None:
        for row in rows:
            row["travellers"] = row["trips"]

    folder.edit_flows(change)


def extra_column(name: str, value: Any) -> Callable[[Folder], None]:
    def change(rows: Rows) -> None:
        for row in rows:
            row[name] = value

    return lambda folder: folder.edit_rows("release/zones.parquet", change)


def zone_entry(**values: Any) -> Callable[[Folder], None]:
    return lambda folder: folder.edit_rows("release/zones.parquet", lambda rows: rows[0].update(values))


def redraw(draw: Callable[[dict[str, Any]], Any]) -> Callable[[Folder], None]:
    """Return a change of the outline of the zone with most tiles, in both files of zones."""

    def change(folder: Folder) -> None:
        import shapely

        def of_rows(rows: Rows) -> None:
            row = max(rows, key=lambda row: (row["tiles"], row["axis"]))
            row["geometry"] = shapely.to_wkb(draw(row))

        folder.edit_rows("release/zones.parquet", of_rows)
        table = parquet.read_table(folder.public("zones.parquet"))
        folder.public("zones.geojson").write_text(json.dumps(zones_geojson(table), ensure_ascii=False))

    return change


def moved_corner(degrees: float) -> Callable[[Folder], None]:
    """Return a change that moves a corner of an outline northwards."""

    def draw(row: dict[str, Any]) -> Any:
        import shapely

        points = shapely.get_coordinates(shapely.from_wkb(row["geometry"]))[:-1]
        points[3, 1] += degrees
        return shapely.Polygon(points)

    return redraw(draw)


def cell_itself(row: dict[str, Any]) -> Any:
    """Return H3's own outline of a zone."""
    import shapely

    return shapely.Polygon([(lon, lat) for lat, lon in h3.cell_to_boundary(row["zone"])])


def with_a_corner_more(row: dict[str, Any]) -> Any:
    """Return an outline with a corner where there is none, in the middle of an edge."""
    import shapely

    points = shapely.get_coordinates(shapely.from_wkb(row["geometry"]))
    return shapely.Polygon([points[0], (points[0] + points[1]) / 2, *points[1:]])


def with_a_hole(row: dict[str, Any]) -> Any:
    """Return an outline with one tile cut out."""
    import shapely

    tile = shapely.Point(row["lon"], row["lat"]).buffer(1e-4)
    return shapely.from_wkb(row["geometry"]).difference(shapely.transform(tile, lambda xy: xy + 5e-4))


def drop_zone_column(name: str) -> Callable[[Folder], None]:
    def change(folder: Folder) -> None:
        path = folder.public("zones.parquet")
        parquet.write_table(parquet.read_table(path).drop_columns([name]), path, store_schema=False)

    return change


def lose_a_zone(folder: Folder) -> None:
    folder.edit_rows("release/zones.parquet", lambda rows: rows.pop())


def manifest_entry(**values: Any) -> Callable[[Folder], None]:
    return lambda folder: folder.edit_manifest(lambda facts: facts.update(values))


def promise(told: Promise) -> Callable[[Folder], None]:
    """Return a change that promises something else, in words that fit."""
    return lambda folder: folder.restate(told)


def stated(**entries: Any) -> Callable[[Folder], None]:
    """Return a change of the entry on what is promised, which need make no sense."""
    return lambda folder: folder.edit_manifest(lambda facts: facts["promise"].update(entries))


def tell_what_is_withheld(folder: Folder) -> None:
    """Tell the true withheld volume, of too few people, as a band of its own."""
    groups = parquet.read_table(folder.path / "private/groups.parquet").to_pylist()
    withheld = sum(row["trips"] for row in groups if not row["released_origin"])
    assert 0 < withheld < 10
    folder.edit_manifest(lambda facts: facts["withheld"].update(at_least=withheld, at_most=withheld))


def tell_a_wrong_volume(folder: Folder) -> None:
    """Tell a band that the withheld volume does not lie in."""
    folder.edit_manifest(lambda facts: facts["withheld"].update(at_least=facts["withheld"]["at_most"]))


def tell_it_in_words(folder: Folder) -> None:
    folder.edit_manifest(
        lambda facts: facts["withheld"].update(words=facts["withheld"]["words"] + " (4 trips)")
    )


def other_measure(folder: Folder) -> None:
    folder.edit_manifest(lambda facts: facts["measures"].update(E=0.37))


def better_measure(folder: Folder) -> None:
    folder.edit_manifest(lambda facts: facts["measures"].update(G=facts["measures"]["G"] * 0.9))


def higher_k(folder: Folder) -> None:
    """Promise more than the flows hold, with a measure that fits."""

    def change(facts: dict[str, Any]) -> None:
        facts["promise"] = KAnonymity(k=facts["promise"]["k"] * 50, unit="travellers").stated()
        facts["measures"]["C_AVG"] /= 50

    folder.edit_manifest(change)


def released_total(folder: Folder) -> None:
    folder.edit_manifest(lambda facts: facts.update(released=facts["released"] + 1))


def map_number(folder: Folder) -> None:
    folder.edit_text("map.html", lambda page: re.sub(r'("trips":\[)(\d+)', r"\g<1>9\2", page, count=1))


def map_flow_number(folder: Folder) -> None:
    folder.edit_text(
        "map.html", lambda page: re.sub(r'("flows":\{.*?"trips":\[)(\d+)', r"\g<1>9\2", page, count=1)
    )


def map_zone(folder: Folder) -> None:
    zone = parquet.read_table(folder.public("flows.parquet"))["origin"][0].as_py()
    other = h3.grid_ring(zone, 2)[0]
    folder.edit_text("map.html", lambda page: page.replace(f'"{zone}"', f'"{other}"'))


def map_remark(folder: Folder) -> None:
    tile = parquet.read_table(folder.path / "private/groups.parquet")["origin"][0].as_py()
    folder.edit_text("map.html", lambda page: page.replace("</h1>", f" {tile}</h1>"))


def map_column(folder: Folder) -> None:
    folder.edit_text("map.html", lambda page: page.replace('"height":[', '"travellers":[],"height":[', 1))


def map_without_data(folder: Folder) -> None:
    folder.edit_text("map.html", lambda page: page.replace('id="release"', 'id="nothing"'))


def wrong_digest(folder: Folder) -> None:
    folder.edit_manifest(lambda facts: facts["files"].update({"flows.csv": "0" * 64}))
