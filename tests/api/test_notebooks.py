"""The front door in notebooks: the examples run and show what they showed, and progress is a bar."""

from __future__ import annotations

import html
import re
import runpy
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

EXAMPLES = Path(__file__).parents[2] / "examples"
NOTEBOOKS = sorted(EXAMPLES.glob("*.ipynb"))
LARGEST = 400_000


def outputs(notebook: Any) -> list[Any]:
    return [one for cell in notebook.cells if cell.cell_type == "code" for one in cell.outputs]


def told(notebook: Any) -> list[str]:
    """Return all that a notebook says, without styles, maps and pictures."""
    shown = []
    for output in outputs(notebook):
        data = output.get("data", {"text/plain": output.get("text", "")})
        bare = re.sub(r"<style.*?</style>|<iframe.*?</iframe>", " ", data.get("text/html", ""), flags=re.S)
        shown.append(f"{data['text/plain']}\n{html.unescape(re.sub(r'<[^>]*>', ' ', bare))}")
    return shown


@pytest.mark.timeout(300)
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_an_example_runs_and_shows_what_it_showed(path: Path) -> None:
    kept = nbformat.read(path, as_version=4)
    ran = runpy.run_path(str(EXAMPLES / "make_notebooks.py"))["executed"](path)
    assert not [one for one in outputs(ran) if one.output_type == "error" or one.get("name") == "stderr"]
    cards = [one.data["text/html"] for one in outputs(ran) if "tripcloak-card" in str(one.get("data"))]
    assert len(cards) >= 3
    assert any("Safe to publish" in card and "<iframe" in card for card in cards)
    assert told(ran) == told(kept), "run `make notebooks`"


def test_there_are_two_examples_that_a_forge_can_show() -> None:
    assert [path.stem for path in NOTEBOOKS] == ["flows", "trajectories"]
    for path in NOTEBOOKS:
        assert path.stat().st_size < LARGEST
        cells = nbformat.read(path, as_version=4).cells
        # Every piece of code has a sentence before it that says why; now and then two share one.
        kinds = "".join(cell.cell_type[0] for cell in cells)
        assert kinds.startswith("mc")
        assert "cccc" not in kinds


class Watched(NotebookClient):  # type: ignore[misc]
    """A client that keeps all that a kernel shows on the way."""

    def process_message(self, msg: Any, cell: Any, cell_index: int) -> Any:
        if msg["msg_type"] in {"display_data", "update_display_data"}:
            self.__dict__.setdefault("shown", []).append((cell_index, msg["content"]["data"]))
        return super().process_message(msg, cell, cell_index)


WITHOUT_WIDGETS = """
import sys

class NotInstalled:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "ipywidgets":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, NotInstalled())
"""
RUN = (
    """
import tripcloak as tc
trips = tc.City(trips=2_000, people=200).table()
release = tc.anonymise(trips, zones="h3:7")
""",
    'tc.anonymise(trips, zones="h3:7", progress=False);',
    "release",
)


@pytest.mark.timeout(300)
@pytest.mark.parametrize("before", [WITHOUT_WIDGETS, "import ipywidgets"], ids=["without", "with"])
def test_progress_is_a_bar_with_widgets_and_without(before: str, tmp_path: Path) -> None:
    cells = [nbformat.v4.new_code_cell(source) for source in (before, *RUN)]
    notebook = nbformat.v4.new_notebook(cells=cells)
    client = Watched(notebook, timeout=120, resources={"metadata": {"path": str(tmp_path)}})
    client.execute()
    bars = [data["text/html"] for at, data in client.__dict__["shown"] if at == 1]
    assert any(re.search(r'<progress value="\d+" max="\d+"', bar) for bar in bars)
    # In the end the bar is gone, and nothing else was shown, not by the engine either.
    assert bars[-1] == ""
    assert [one.data["text/html"] for one in notebook.cells[1].outputs] == [""]
    assert not [at for at, _ in client.__dict__["shown"] if at == 2]
    (shown,) = notebook.cells[3].outputs
    assert "Safe to publish" in shown.data["text/html"]
    assert shown.data["text/plain"].startswith("<ReleasedFlows: ")
