"""Where a whole makes its parts dear, the owner is told of the better road; elsewhere not."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tripcloak.ground.errors import ImpossibleRequestError
from tripcloak.ledger import advising
from tripcloak.ledger.prevention import Prevention
from tripcloak.ledger.releasing import anonymise_with_ledger
from tripcloak.ledger.store import Ledger
from worlds.ledgers import Releases, asked, ledger_of_fixed_key, record

PART = {"source": {"where": "sex = 'F'"}}
ALIKE = {"k": 6}


@pytest.fixture(scope="module")
def releases(tmp_path_factory: pytest.TempPathFactory) -> Releases:
    return Releases(tmp_path_factory.mktemp("made"))


@pytest.fixture
def ledger(releases: Releases, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ledger:
    """A ledger that knows of a release of everybody."""
    made = ledger_of_fixed_key(tmp_path / "ledger", monkeypatch)
    record(made, releases.first, tmp_path / "all")
    return made


@pytest.mark.parametrize(("changes", "told"), [(PART, 1), (ALIKE, 0)])
def test_a_dear_part_is_told_and_nothing_else(
    releases: Releases,
    ledger: Ledger,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    changes: dict,
    told: int,
) -> None:
    monkeypatch.setattr(advising, "DEAR", 0)
    made, _ = anonymise_with_ledger(asked(releases.trips, tmp_path / "new", **changes), ledger)
    assert len([note for note in made.notes if "segment_where_safe=True" in note]) == told


@pytest.mark.parametrize(("changes", "told"), [(PART, True), (ALIKE, False)])
def test_so_is_a_part_that_is_refused(
    releases: Releases,
    ledger: Ledger,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    changes: dict,
    told: bool,
) -> None:
    def refused(*given: object) -> None:
        raise ImpossibleRequestError("not possible")

    monkeypatch.setattr(Prevention, "anonymise", refused)
    with pytest.raises(ImpossibleRequestError, match="not possible") as error:
        anonymise_with_ledger(asked(releases.trips, tmp_path / "new", **changes), ledger)
    assert ("segment_where_safe=True" in str(error.value)) == told


def test_a_part_is_dear_from_half_as_much_more_on(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = {"with": 1.5, "without": 1.0, "less": 1.49, "pairs": 1.0}
    monkeypatch.setattr(advising, "mean_tiles", lambda one: sizes[one.name])
    made: dict[str, Any] = {name: SimpleNamespace(name=name, method="twincut") for name in sizes}
    (words,) = advising.advice(made["with"], made["without"])
    assert "1.5 tiles on average (G), and in 1 without the ledger" in words
    assert words.endswith(", or zones pair by pair (method='productcut')")
    assert advising.advice(made["less"], made["without"]) == ()
    # Whoever has zones pair by pair is not sent there.
    made["pairs"].method = "productcut"
    (words,) = advising.advice(made["with"], made["pairs"])
    assert words.endswith("segment_where_safe=True)")
