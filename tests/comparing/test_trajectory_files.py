"""The files of a comparison on trajectories: every number, the advice, and nothing of anybody."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tripcloak.comparing.trajectories import TrajectoryComparison, TrajectoryRow
from tripcloak.comparing.trajectory_files import write_trajectory_comparison
from tripcloak.ground.errors import OutputExistsError
from tripcloak.trajectories.model import Grid

SECRETS = ("48.9123", "1714521", "id-of-one", "calls-of-may")
"""Where and when samples lie, an id, and the name of a file."""


def row(method: str, km: float, deleted: float, **told: Any) -> TrajectoryRow:
    numbers = {
        "seconds": 2.5,
        "cpu_seconds": 2.25,
        "memory_mb": 31.0,
        "time_minutes": 40 * km,
        "created": 0.0,
    }
    alike = {"places_apart": km / 9, "distances_apart": km / 10, "moves_apart": 0.2}
    judged = {"safe": True, "smallest_support": 3, "guessed": 31, "guessed_blindly": 30, "deleted_users": 0.0}
    given = {"k": 3, "promise": "containment", "withstands": True, **numbers, **alike, **judged, **told}
    return TrajectoryRow(method=method, spatial_km=km, deleted=deleted, **given)


def compared(*rows: TrajectoryRow) -> TrajectoryComparison:
    grid = Grid(projection="+proj=laea +lat_0=48.9123 +lon_0=2.3", start=1714521600)
    reading: Any = SimpleNamespace(
        trajectories=SimpleNamespace(n_users=1234, n_samples=56789, grid=grid),
        cleaning=SimpleNamespace(to_dict=lambda: {"kept": 56789}),
        notes=("calls-of-may.csv: id-of-one was everywhere",),
    )
    return TrajectoryComparison(reading=reading, rows=rows)


ROWS = (
    row("k-scale", 1.25, 0.02),
    row("glove", 2.5, 0.0),
    row("w4m", 0.75, 0.1, promise="colocation", guessed=None, guessed_blindly=None, withstands=False),
    TrajectoryRow(method="nwa", k=3, reason="took <b>too</b> long"),
)


@pytest.fixture
def written(tmp_path: Path) -> Path:
    write_trajectory_comparison(tmp_path / "out", compared(*ROWS))
    return tmp_path / "out"


def test_the_files_tell_every_row_and_nothing_of_anybody(written):
    texts = {path.name: path.read_text(encoding="utf-8") for path in written.iterdir()}
    assert sorted(texts) == ["compare.csv", "compare.html", "compare.json", "compare.md"]
    assert {path.stat().st_mode & 0o777 for path in written.iterdir()} == {0o600}
    for name, text in texts.items():
        assert not [secret for secret in SECRETS if secret in text], name
        assert all(one.method in text for one in ROWS), name
        assert "not for publication" in text.lower() or name == "compare.json", name
    rows = list(csv.DictReader(texts["compare.csv"].splitlines()))
    assert [(one["method"], one["audit"], one["spatial_km"]) for one in rows] == [
        ("k-scale", "safe", "1.25"),
        ("glove", "safe", "2.5"),
        ("w4m", "(k, delta) only", "0.75"),
        ("nwa", "", ""),
    ]
    assert json.loads(texts["compare.json"])["recommended"] == "k-scale"
    page = texts["compare.html"]
    assert "<b>too</b>" not in page
    assert "1,234" in page
    assert page.count('<tr class="chosen">') == 1
    assert "shared zones" not in page + texts["compare.md"], "they are the words of flows"


def test_a_comparison_is_not_replaced_unasked(written):
    with pytest.raises(OutputExistsError, match="already holds a comparison"):
        write_trajectory_comparison(written, compared(*ROWS))
    write_trajectory_comparison(written, compared(replace(ROWS[0], method="other")), force=True)
    assert "glove" not in (written / "compare.md").read_text()


def test_with_nothing_to_show_it_says_why(tmp_path):
    write_trajectory_comparison(tmp_path, compared(ROWS[-1]))
    page = (tmp_path / "compare.html").read_text()
    assert "Nothing to recommend" in page
    assert "took &lt;b&gt;too&lt;/b&gt; long" in page


@pytest.mark.parametrize("width", [1280, 390])
def test_it_fits_the_screen(written, browser, width):
    page = browser.new_page(viewport={"width": width, "height": 900})
    page.goto((written / "compare.html").as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.get_by_role("button", name="Minutes").click()
    assert page.locator(".loss:visible").get_attribute("data-loss") == "time_minutes"
    page.get_by_role("button", name="Places", exact=True).click()
    assert page.locator(".loss:visible").get_attribute("data-loss") == "places_apart"
    page.close()


def test_what_is_made_up_is_on_the_plot_of_places_and_called_so(tmp_path):
    made_up = row("adatrace", 3.0, 1.0, promise="differential privacy of trajectories", k=None)
    write_trajectory_comparison(
        tmp_path, compared(ROWS[0], replace(made_up, spatial_km=None, time_minutes=None))
    )
    page = (tmp_path / "compare.html").read_text()
    assert "made up from noisy numbers" in page
    places = page[page.rindex('data-loss="places_apart"') :]
    assert "adatrace" in places[: places.index("</svg>")]
    kilometres = page[page.rindex('data-loss="spatial_km"') :]
    assert "adatrace" not in kilometres[: kilometres.index("</svg>")]
    rows = list(csv.DictReader((tmp_path / "compare.csv").read_text().splitlines()))
    assert [one["places_apart"] for one in rows[-1:]] == [str(3.0 / 9)]
