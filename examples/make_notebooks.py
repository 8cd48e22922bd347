"""Runs the notebooks of this folder and writes them with what they show: ``make notebooks``.

Outputs are kept, so that the pages of a forge show them. ``tests/api/test_notebooks.py`` runs the notebooks
too and compares what they say.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

HERE = Path(__file__).parent


def executed(path: Path, timeout: int = 300) -> Any:
    """Return a notebook that was run from its first cell to its last; a cell that errs raises."""
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(notebook, timeout=timeout, resources={"metadata": {"path": str(HERE)}}).execute()
    return settled(notebook)


def settled(notebook: Any) -> Any:
    """Return a notebook without what differs from run to run and says nothing: clocks, empty bars."""
    notebook.metadata = {"kernelspec": notebook.metadata["kernelspec"], "language_info": {"name": "python"}}
    for number, cell in enumerate(notebook.cells):
        cell.id = f"cell-{number}"
        cell.metadata = {}
        if cell.cell_type == "code":
            cell.outputs = [one for one in cell.outputs if _shows(one)]
    return notebook


def _shows(output: Any) -> bool:
    return output.output_type != "display_data" or any(output.data.values())


if __name__ == "__main__":
    for place in sorted(HERE.glob("*.ipynb")):
        nbformat.write(executed(place), place)
