"""Every made file is read as said, or refused in those words, and no row disappears uncounted."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import tripcloak as tc
from tripcloak.ground.errors import TripcloakError
from tripcloak.records.cleaning import REASONS
from worlds.made_files import CASES, Made


def described(made: Made, folder: Path) -> dict[str, Any]:
    """Return what the wing that is meant tells of the files."""
    made.write(folder)
    paths, keywords = made.given(folder)
    describe = tc.describe if made.kind == "trips" else tc.trajectories.describe
    return describe(paths, **keywords).to_dict()


@pytest.mark.parametrize("made", [made for made in CASES if not made.refused], ids=lambda made: made.name)
def test_a_file_is_read_as_said(made: Made, tmp_path: Path) -> None:
    told = described(made, tmp_path)
    cleaning = told["cleaning"]
    # Where trips are made of fixes, rows of the file are fixes.
    rows = cleaning.get("before", cleaning)
    dropped = sum((Counter(of_file) for of_file in made.dropped.values()), Counter[str]())
    assert rows["dropped"] == dropped
    assert rows["kept"] == made.used
    assert sum(made.rows.values()) == rows["read"] == made.used + dropped.total()
    assert made.made is None or cleaning["kept"] == made.made
    of_files = [(path, n, dict(made.dropped.get(path, {}))) for path, n in made.rows.items()]
    found = [(Path(one["name"]).name, one["read"], one["dropped"]) for one in rows["files"]]
    if found and found[0][0].startswith("file 1 of "):
        # Names of files may be ids of people.
        of_files = [
            (f"file {place} of {len(found)}", *of_files[place - 1][1:]) for place in range(1, len(found) + 1)
        ]
    assert sorted(found, key=str) == sorted(
        ((Path(name).name, *numbers) for name, *numbers in of_files), key=str
    )
    assert all(one["read"] == one["kept"] + sum(one["dropped"].values()) for one in rows["files"])
    words = json.dumps(told, ensure_ascii=False)
    assert [word for word in made.told if word not in words] == []


@pytest.mark.parametrize("made", [made for made in CASES if made.refused], ids=lambda made: made.name)
def test_a_file_is_refused_in_these_words(made: Made, tmp_path: Path) -> None:
    with pytest.raises(TripcloakError) as refusal:
        described(made, tmp_path)
    assert [word for word in made.refused if word not in str(refusal.value)] == []


def test_cases_have_names_of_their_own_and_known_reasons() -> None:
    assert [name for name, n in Counter(made.name for made in CASES).items() if n > 1] == []
    reasons = {reason for made in CASES for of_file in made.dropped.values() for reason in of_file}
    assert reasons <= {reason.name for reason in REASONS}
    assert [made.name for made in CASES if not made.refused and not set(made.dropped) <= set(made.rows)] == []
