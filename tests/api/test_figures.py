"""Figures of a release: every kind, in every format, the same each time, from the public part alone."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from tripcloak.api.figures import KINDS, _of_flows, draw, save_figure
from tripcloak.cli.run import run
from tripcloak.ground.errors import InputError, OutputExistsError
from worlds.released_flows import World, raw_trips

BEGINNINGS = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    world = World.of(raw_trips(), "h3:8")
    out = world.publish(tmp_path_factory.mktemp("flows") / "out", world.release()).path
    shutil.rmtree(out / "private")
    return out


@pytest.mark.parametrize("kind", KINDS)
def test_every_figure_is_the_same_each_time(kind: str, folder: Path, tmp_path: Path) -> None:
    for name in ("a.svg", "b.svg"):
        save_figure(folder, kind, tmp_path / name)
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
    assert "<path" in (tmp_path / "a.svg").read_text()


@pytest.mark.parametrize("ending", BEGINNINGS)
def test_every_format_is_what_its_name_says(ending: str, folder: Path, tmp_path: Path) -> None:
    assert run(["plot", str(folder), "--kind", "support", "--out", str(tmp_path / f"a{ending}")]) == 0
    assert (tmp_path / f"a{ending}").read_bytes().startswith(BEGINNINGS[ending])


def test_what_cannot_be_drawn_is_told(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"must end in .png, .svg, .pdf; got 'a.gif'"):
        save_figure(folder, "zones", tmp_path / "a.gif")
    with pytest.raises(InputError, match=r"must be one of zones, .*; got 'pie'"):
        save_figure(folder, "pie", tmp_path / "a.png")
    (tmp_path / "a.png").write_text("mine")
    with pytest.raises(OutputExistsError):
        save_figure(folder, "support", tmp_path / "a.png")
    with pytest.raises(OutputExistsError, match="public part"):
        save_figure(folder, "support", folder / "release" / "a.png")
    assert not list(tmp_path.glob("*partial*"))


@pytest.mark.parametrize("kind", ["zones", "coarseness"])
def test_both_maps_show_the_same_frame(kind: str, folder: Path) -> None:
    origins, destinations, *_ = draw(_of_flows(folder), kind).axes
    assert origins.get_xlim() == destinations.get_xlim()
    assert origins.get_ylim() == destinations.get_ylim()
    assert re.fullmatch(r"[\d,.]+ km", origins.texts[0].get_text())


def test_lines_say_what_their_width_is(folder: Path) -> None:
    tables = _of_flows(folder)
    (axes,) = draw(tables, "flows").axes
    told = [int(text.get_text().replace(",", "")) for text in axes.get_legend().get_texts()]
    assert told == sorted(told, reverse=True)
    assert 0 < told[0] <= max(tables.flows["trips"].to_pylist())


def test_support_has_every_flow_in_a_bin(folder: Path) -> None:
    tables = _of_flows(folder)
    (axes,) = draw(tables, "support").axes
    assert sum(bar.get_height() for bar in axes.patches) == tables.flows.num_rows
    # Rounded numbers leave no empty bins between their steps.
    assert all(bar.get_width() >= 10 for bar in axes.patches)
