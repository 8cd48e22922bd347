"""Profiles of people's own: met with dummies of their own number, held by the audit, and told to nobody."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

import tripcloak as tc
from tripcloak.ground.errors import ImpossibleRequestError, InputError
from tripcloak.trajectories.audit import audit_release
from tripcloak.trajectories.methods.dummies import Dummies
from tripcloak.trajectories.methods.profiles import Profiles, read_profiles
from tripcloak.trajectories.model import Grid, Trajectories

RULE = "dummies-meet-profile"
ALL = {"sd": 0.6, "ld": 0.3, "dst": 1.0, "cell": 2000}


def walkers(people: int = 12, moments: int = 30) -> Trajectories:
    random = np.random.default_rng(1)
    user = np.repeat([f"u{one:02d}" for one in range(people)], moments)
    steps = random.integers(-9, 10, (2, people, moments))
    x, y = 100 + np.cumsum(steps, axis=2).reshape(2, -1)
    return Trajectories.of(user=user, t=np.tile(np.arange(moments), people), x=x, y=y, grid=Grid())


def test_who_asks_for_more_has_more_dummies_than_the_others() -> None:
    people = walkers()
    asked = Profiles({"u03": (0.15, None, None), "u07": (0.15, 0.05, 2.0), "elsewhere": (0.1, None, None)})
    release = Dummies(sd=0.5, ld=0.3, dst=0.5, cell=500, profiles=asked).anonymise(people)
    assert release.guards is not None
    dummies = np.bincount(release.guards[release.guards >= 0], minlength=people.n_users)
    assert dummies[[3, 7]].min() >= 6 > np.delete(dummies, [3, 7]).max()
    assert release.facts["own_profiles"] == 2
    assert release.facts["profiles_of_others"] == 1
    assert audit_release(people, release).safe
    assert "profiles" not in release.parameters
    assert not any("u03" in str(value) for value in (release.promise, release.parameters, repr(asked)))


@pytest.mark.parametrize(
    ("column", "value", "words"),
    [
        (0, 0.01, "do not meet the profile"),
        (1, 1e-17, "do not meet the profile"),
        (2, 500.0, "do not meet the profile"),
        (0, 0.51, "asks for less than is promised"),
        (1, 0.31, "asks for less than is promised"),
        (2, 0.4, "asks for less than is promised"),
        (0, np.nan, "asks for less than is promised"),
    ],
)
def test_the_audit_holds_a_release_to_everybodys_own_profile(column: int, value: float, words: str) -> None:
    people = walkers()
    asked = Profiles({"u01": (0.4, 0.2, 1.0)})
    release = Dummies(sd=0.5, ld=0.3, dst=0.5, cell=500, profiles=asked).anonymise(people)
    assert release.profiles is not None
    other = release.profiles.copy()
    other[5, column] = value
    found = {one.rule: one for one in audit_release(people, replace(release, profiles=other)).findings}
    assert not found[RULE].ok
    assert words in found[RULE].words


def test_profiles_stay_in_the_private_part_where_the_audit_reads_them(tmp_path: Path) -> None:
    calls, out = tc.Cdr(users=120, days=2).table(), tmp_path / "out"
    somebody = str(calls["user_id"][0])
    file = tmp_path / "profiles.csv"
    file.write_text(f"person,sd,ld,dst\n{somebody},0.3,,2\nnobody-there,0.2,,\n", encoding="utf-8")
    release = tc.trajectories.anonymise(calls, method="dummies", profiles=str(file), out=str(out), **ALL)  # type: ignore[arg-type]
    assert release.audit().safe
    for path in (out / "release").iterdir():
        assert somebody.encode() not in path.read_bytes()
        assert b"profiles" not in path.read_bytes() or path.suffix in (".html", ".md")
    mapping = out / "private" / "mapping.parquet"
    table = pq.read_table(mapping)
    mine = np.flatnonzero(np.array(table["user"].to_pylist()) == somebody)
    assert {(table["sd"][int(row)].as_py(), table["dst"][int(row)].as_py()) for row in mine} == {(0.3, 2.0)}
    assert tc.open(str(out)).measures(calls)
    strict = np.array(table["sd"].to_pylist())
    strict[mine] = 0.001
    at = table.schema.get_field_index("sd")
    pq.write_table(table.set_column(at, "sd", [strict]), mapping)
    assert RULE in tc.audit(str(out), against=calls).broken
    strict[mine[0]] = 0.3
    pq.write_table(table.set_column(at, "sd", [strict]), mapping)
    assert RULE in tc.audit(str(out), against=calls).broken


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "needs a header"),
        ("person,age\na,3\n", "needs a header"),
        ("sd\n0.1\n", "needs a header"),
        ("person,sd\nana,0\n", "line 2: sd is a share above 0 and below 1"),
        ("person,sd\nana,1\n", "line 2: sd is a share"),
        ("person,ld\nana,0.2\nben,much\n", "line 3: ld is a share"),
        ("person,dst\nana,-1\n", "line 2: dst is a number of cells, 0 or more"),
        ("person,dst\nana,inf\n", "line 2: dst is"),
        ("person,sd\nana,0.1\nana,0.2\n", "line 3 names nobody, or somebody a second time"),
        ("person,sd\n,0.1\n", "line 2 names nobody"),
    ],
)
def test_bad_files_are_told_by_line_and_never_by_name(text: str, words: str, tmp_path: Path) -> None:
    file = tmp_path / "asked.csv"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=words) as told:
        read_profiles(file)
    assert "ana" not in str(told.value)
    assert "ben" not in str(told.value)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_profiles(tmp_path / "missing.csv")
    file = tmp_path / "asked.csv"
    file.write_bytes(b"person,sd\n\xff\xfe,0.1\n")
    with pytest.raises(InputError, match="no CSV in UTF-8"):
        read_profiles(file)


def test_what_cannot_be_met_is_refused() -> None:
    people = walkers()
    with pytest.raises(InputError, match="fewer than 10 people ask for less than holds for everybody"):
        Dummies(sd=0.4, profiles=Profiles({"u01": (0.5, None, None)})).anonymise(people)
    with pytest.raises(ImpossibleRequestError, match="takes 19 dummies or more"):
        Dummies(sd=0.4, most=8, profiles=Profiles({"u01": (0.05, None, None)})).anonymise(people)
