"""Puts the tables and the picture of a full run into papers.md; run it after `python -m benchmarks.papers`.

python docs/images/make_papers.py out/papers
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

PAGE = Path(__file__).parents[1] / "papers.md"
PICTURE = Path(__file__).with_name("papers.svg")
START, END = "<!-- tables -->\n", "<!-- end of tables -->\n"


def refresh(run: Path) -> None:
    """Replace what stands between the marks of the page by a run's tables, and the picture by its picture."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(START)
    _, _, after = rest.partition(END)
    tables = (run / "tables.md").read_text(encoding="utf-8").strip()
    PAGE.write_text(f"{before}{START}\n{tables}\n\n{END}{after}", encoding="utf-8")
    shutil.copyfile(run / "figure12.svg", PICTURE)


if __name__ == "__main__":
    refresh(Path(sys.argv[1]))
