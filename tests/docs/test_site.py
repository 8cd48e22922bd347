"""The site: every page is in its navigation, and generated pages are what the code says."""

from __future__ import annotations

import re
import runpy
import sys
from pathlib import Path
from subprocess import run
from typing import Any

ROOT = Path(__file__).parents[2]


def test_every_page_is_in_the_navigation() -> None:
    listed = set(re.findall(r"([\w/-]+\.md)$", (ROOT / "mkdocs.yml").read_text(), flags=re.M))
    assert listed == {str(page.relative_to(ROOT / "docs")) for page in (ROOT / "docs").rglob("*.md")}


def test_the_page_of_commands_is_what_they_declare() -> None:
    page = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    assert page == runpy.run_path(str(ROOT / "docs" / "make_commands.py"))["rendered"](), "run `make docs`"


def test_the_page_of_files_is_what_is_written_and_says_what_it_means() -> None:
    page = (ROOT / "docs" / "files.md").read_text(encoding="utf-8")
    made = runpy.run_path(str(ROOT / "docs" / "make_files.py"))
    assert page == made["rendered"](), "run `make docs`"
    told = set(re.findall(r"^\| `([\w.]+)` \|", page, flags=re.M))
    assert {name.partition(" of ")[0] for name in made["MEANINGS"]} == told


def test_the_site_is_searched_without_a_network(tmp_path: Path, browser: Any) -> None:
    """Opened as a file: nothing is asked of anybody, and a word is found."""
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir", str(tmp_path)]
    run(command, cwd=ROOT, check=True, capture_output=True)
    page = browser.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto((tmp_path / "methods" / "noisycut.html").as_uri())
    page.keyboard.press("s")
    page.keyboard.type("dominance")
    page.get_by_text(re.compile(r"\d+ matching documents")).wait_for()
    page.close()
    assert not [url for url in asked if not url.startswith(("file:", "data:"))]
    fetched = re.compile(r"""<(?:script|link|img)[^>]+(?:src|href)=["']https?:""")
    loading = [page for page in tmp_path.rglob("*.html") if fetched.search(page.read_text(encoding="utf-8"))]
    assert not loading
