"""How a release is cited: by its title and what its manifest says, in its own README as in the report."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import tripcloak as tc
from tripcloak.pages.citing import citation, title_of
from tripcloak.pages.markdown import shown
from tripcloak.synth.cdr import Cdr

FACTS = {"kind": "flows", "version": "1.0", "method": "oigh", "promise": {"sentence": "at least 10 people"}}


def test_a_title_that_was_given_comes_first() -> None:
    assert citation(FACTS).startswith("Released origin-destination flows [Data set]. Made with tripcloak 1.0")
    assert citation(FACTS | {"title": "May"}).startswith("May [Data set]")
    assert citation(FACTS | {"title": "May"}, "June").startswith("June [Data set]")
    assert citation(FACTS).endswith("Promise: at least 10 people.")
    assert citation(FACTS | {"promise": {}}).endswith("method oigh.")


@pytest.mark.parametrize("wing", ["flows", "trajectories"])
def test_the_readme_says_how_to_cite_and_nothing_that_the_manifest_does_not(
    wing: str, tmp_path: Path
) -> None:
    if wing == "flows":
        tc.anonymise(tc.City(trips=2_000, people=300).table(), hierarchy="h3:6", k=5, out=tmp_path / "a")
    else:
        tc.trajectories.anonymise(Cdr(users=20, days=1).table(), k=2, out=tmp_path / "a")
    text = (tmp_path / "a" / "release" / "README.md").read_text(encoding="utf-8")
    (told,) = re.findall(r"## How to cite it\n((?:> .+\n)+)", text)
    facts = json.loads((tmp_path / "a" / "release" / "manifest.json").read_text(encoding="utf-8"))
    assert " ".join(told.replace("> ", "").split()) == shown(citation(facts))
    assert text.startswith(f"# {title_of(facts)}\n")
