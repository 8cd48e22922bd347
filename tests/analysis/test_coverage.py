"""What is called an interval or a bound holds what it says: measured against all trips of made cities."""

from __future__ import annotations

import json
from pathlib import Path

import h3
import pytest
from pyarrow import Table, parquet

from tripcloak.analysis.rebuild import Checked, check_against, rebuild
from tripcloak.cli.run import run
from tripcloak.synth.city import City

CASES = {
    "twincut": ("--method", "twincut", "--k", "10", "--hierarchy", "h3:8"),
    "productcut": ("--method", "productcut", "--k", "5", "--hierarchy", "h3:8"),
    "boxes": ("--method", "mondrian", "--k", "20", "--hierarchy", "h3:8"),
}


@pytest.fixture(scope="module", params=[(1, "twincut"), (2, "productcut"), (3, "boxes")], ids=str)
def checked(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Checked:
    """Flows between hexagons of a release of a made-up city, beside the true ones."""
    seed, case = request.param
    folder = tmp_path_factory.mktemp(case)
    trips, out = folder / "trips.parquet", folder / "out"
    parquet.write_table(Table.from_batches(City(trips=12_000, seed=seed).batches()), trips)
    assert run(["anonymise", str(trips), *CASES[case], "--out", str(out), "--json"]) == 0
    zones = str(hexagons(folder / "zones.geojson", City().centre))
    return check_against(rebuild(out, zones), out, (str(trips),), zones)


def hexagons(path: Path, centre: tuple[float, float]) -> Path:
    """Write the cells around a place, of a resolution between districts and towns."""
    features = []
    for cell in sorted(h3.grid_disk(h3.latlng_to_cell(*centre, 6), 3)):
        ring = [[lon, lat] for lat, lon in h3.cell_to_boundary(cell)]
        shape = {"type": "Polygon", "coordinates": [[*ring, ring[0]]]}
        features.append({"type": "Feature", "properties": {"zone": cell}, "geometry": shape})
    path.write_text(json.dumps({"type": "FeatureCollection", "features": features}))
    return path


def test_nine_of_ten_flows_are_in_an_interval_of_95_percent(checked: Checked) -> None:
    assert len(checked.key) > 300
    assert checked.agreement.within_interval >= 0.9


def test_no_flow_is_beyond_its_bounds(checked: Checked) -> None:
    assert checked.agreement.within_bounds == 1


def test_intervals_are_narrower_than_knowing_nothing(checked: Checked) -> None:
    assert checked.agreement.interval_width < 0.02 * checked.original.sum()
