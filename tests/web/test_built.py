"""The built pages: what web/ gives, byte by byte, and a lock file without addresses."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WEB = ROOT / "web"
BUILT = ROOT / "src" / "tripcloak" / "pages" / "assets" / "built"


def test_the_lock_file_names_versions_and_digests_and_no_addresses():
    text = (WEB / "package-lock.json").read_text(encoding="utf-8")
    assert "://" not in text
    packages = {name: held for name, held in json.loads(text)["packages"].items() if name}
    assert packages
    assert all(held["version"] and held["integrity"].startswith("sha512-") for held in packages.values())
    wanted = json.loads((WEB / "package.json").read_text(encoding="utf-8"))
    for name, version in {**wanted["dependencies"], **wanted["devDependencies"]}.items():
        assert packages[f"node_modules/{name}"]["version"] == version, name


def test_what_is_committed_is_what_the_sources_give(tmp_path):
    if shutil.which("node") is None or not (WEB / "node_modules" / "vite").is_dir():
        pytest.skip("Node or web/node_modules is not here: make web builds the pages, and then this compares")
    subprocess.run(["node", "build.mjs", str(tmp_path)], cwd=WEB, check=True, capture_output=True)
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == {
        file.name: file.read_bytes() for file in BUILT.iterdir()
    }, "make web builds them anew; commit what it writes"


def test_the_licences_of_what_is_built_in_stand_beside_it():
    text = (BUILT / "licences.txt").read_text(encoding="utf-8")
    wanted = json.loads((WEB / "package.json").read_text(encoding="utf-8"))
    for name, version in wanted["dependencies"].items():
        assert f"\n{name} {version} (" in text, name
    assert all(name not in text for name in wanted["devDependencies"]), "tools are not built in"
    assert "copyright notice" in text
    assert "registry." not in text


def test_what_is_built_asks_for_nothing():
    for file in BUILT.glob("*.js"):
        text = file.read_text(encoding="utf-8")
        assert "</script" not in text.lower(), file.name
        assert "<!--" not in text, file.name


def test_colours_by_day_and_by_night_stand_in_one_place():
    styles = {file.name: file.read_text(encoding="utf-8") for file in BUILT.parent.glob("*.css")}
    # The card stands in pages of others, such as notebooks, and takes its colours from them.
    pages = {name: text for name, text in styles.items() if not name.startswith("card")}
    assert [name for name, text in pages.items() if "prefers-color-scheme" in text] == ["colours.css"]
    day, night = pages["colours.css"].split("@media screen and (prefers-color-scheme: dark)")
    by_day, by_night = (set(re.findall(r"(--[a-z0-9-]+):", part)) for part in (day, night))
    assert by_night < by_day
    assert by_day - by_night == {"--font", "--mono", "--alarm"}
    own = {"--share-width", "--tall"}
    for name, text in pages.items():
        assert set(re.findall(r"var\((--[a-z0-9-]+)", text)) <= by_day | own, name
