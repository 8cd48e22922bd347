"""Figures of a release: every kind, in every format, the same each time, from the public part alone."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tripcloak.api.figures import KINDS, save_figure
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
