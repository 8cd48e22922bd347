"""What goes to a cluster's file system stands there whole or not at all, and what is private stays so."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from tripcloak.api.flows import ReleasedFlows
from tripcloak.api.released import refuse_before
from tripcloak.engines import cluster_files
from tripcloak.engines.cluster_files import written_to
from tripcloak.engines.spark import spark_cluster
from tripcloak.flows import anonymise
from tripcloak.ground.errors import InputError, OutputExistsError


@pytest.fixture
def shelf(spark: Any, tmp_path: Path) -> tuple[str, Path]:
    """Give the address of a folder on another file system of Hadoop's, and where it lies on this one."""
    name, there = f"shelf-{tmp_path.name}".replace("_", "-"), tmp_path / "there"
    there.mkdir()
    settings = spark._jsc.hadoopConfiguration()
    settings.set(f"fs.viewfs.mounttable.{name}.link./data", there.as_uri())
    return f"viewfs://{name}/data", there


def put(address: str, text: str = "1", more: str = "", force: bool = False) -> None:
    with written_to(address, master=None, force=force) as here:
        for part in ("private", "release", *([more] if more else [])):
            (here / part / "deep").mkdir(parents=True)
            (here / part / "deep" / "a b.csv").write_text(text)
        for path in (private := here / "private", *private.rglob("*")):
            path.chmod(0o700 if path.is_dir() else 0o600)


def held(folder: Path) -> dict[str, str]:
    """Return the files below a folder; Hadoop's file system of this machine adds sums of its own."""
    return {
        str(path.relative_to(folder)): path.read_text()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.suffix != ".crc"
    }


def test_all_of_it_is_there_in_the_end(shelf: tuple[str, Path]) -> None:
    address, there = shelf
    put(f"{address}/may/out", "first")
    whole = {"may/out/private/deep/a b.csv": "first", "may/out/release/deep/a b.csv": "first"}
    assert held(there) == whole
    private = there / "may" / "out" / "private"
    modes = {path.name: path.stat().st_mode & 0o777 for path in (private, *private.rglob("[a-z]*"))}
    assert modes == {"private": 0o700, "deep": 0o700, "a b.csv": 0o600}
    assert (there / "may" / "out").stat().st_mode & 0o777 == 0o755
    with pytest.raises(OutputExistsError, match=r"viewfs://.*/may/out already holds a release; choose"):
        put(f"{address}/may/out", "second")
    assert held(there) == whole
    # What is replaced is replaced as in a folder here: nothing else is touched, an old report goes.
    (there / "may" / "out" / "notes.txt").write_text("mine")
    (there / "may" / "out" / "report.html").write_text("old")
    put(f"{address}/may/out", "second", force=True)
    assert held(there) == {**dict.fromkeys(whole, "second"), "may/out/notes.txt": "mine"}
    assert [path.name for path in (there / "may").iterdir()] == ["out"]


def test_nothing_is_left_where_something_fails(
    shelf: tuple[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    address, there = shelf
    with pytest.raises(FileExistsError):
        put(f"{address}/a/b", more="release")
    assert not list(there.iterdir())
    put(f"{address}/out", "old")
    before, moved = held(there), cluster_files._Place._move

    def refused(self: Any, source: Any, target: Any) -> None:
        if "exports" in target.toString():
            raise InputError("not this one")
        moved(self, source, target)

    monkeypatch.setattr(cluster_files._Place, "_move", refused)
    with pytest.raises(InputError, match="not this one"):
        put(f"{address}/out", "new", more="exports", force=True)
    assert held(there) == before
    assert [path.name for path in there.iterdir()] == ["out"]


class Unwilling:
    """A file system that removes nothing."""

    def __init__(self, system: Any, fail: Any) -> None:
        self._system, self.delete = system, fail

    def __getattr__(self, name: str) -> Any:
        return getattr(self._system, name)


def test_what_could_not_be_removed_is_named(spark: Any, shelf: tuple[str, Path]) -> None:
    address, there = shelf
    with spark_cluster(None) as cluster:
        place = cluster_files._Place.of(f"{address}/out", cluster)
        # An error of Java's own.
        unwilling = Unwilling(place.system, lambda *_: spark._jvm.java.lang.Integer.parseInt("none"))
        with (
            pytest.raises(InputError, match=r"NumberFormat.*/\.partial-out-\w+ may be left behind and hold"),
            replace(place, system=unwilling).staged(),
        ):
            pass
    assert [path.name.startswith(".partial-out-") for path in there.iterdir()] == [True]


def test_what_is_nobodys_part_is_not_replaced(shelf: tuple[str, Path]) -> None:
    address, there = shelf
    (there / "out" / "exports").mkdir(parents=True)
    with pytest.raises(OutputExistsError, match=r"/out already holds exports; choose another folder"):
        put(f"{address}/out", more="exports")
    assert [path.name for path in (there / "out").iterdir()] == ["exports"]


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("/out/release/x", "lies in the public part of a release"),
        ("/out/release/manifest.json/x", r"manifest\.json is a file; out needs a folder"),
        ("/out?x=1", "ends with the name of a folder"),
    ],
)
def test_a_place_that_cannot_be_is_refused_before(shelf: tuple[str, Path], place: str, said: str) -> None:
    address, there = shelf
    (there / "out" / "release").mkdir(parents=True)
    (there / "out" / "release" / "manifest.json").touch()
    with pytest.raises(InputError, match=said), written_to(address + place, master=None, force=True):
        pytest.fail("this could not be written")


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("s3://bucket/x", "the cluster knows no file system of that name"),
        ("viewfs://nowhere/x", "Empty Mount table"),
        ("viewfs://ana:secret@nowhere/x", "must not hold a password"),
    ],
)
def test_an_address_that_leads_nowhere_is_named(spark: Any, address: str, said: str) -> None:
    with (
        pytest.raises(InputError, match=re.escape(said)) as error,
        written_to(address, master=None, force=False),
    ):
        pytest.fail("this could not be written")
    assert "secret@" not in str(error.value)


def test_a_release_of_python_goes_there_too(shelf: tuple[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    address, there = shelf
    monkeypatch.setattr(
        anonymise, "write_release", lambda made, out, *, force: (out / "release").mkdir(parents=True)
    )
    request = SimpleNamespace(engine="spark", master=None)
    audit = SimpleNamespace(findings=(), safe=True)
    made = ReleasedFlows(cast(Any, None), made=SimpleNamespace(request=request, audit=audit))
    assert made.save(f"{address}/out") == f"{address}/out"
    assert (there / "out" / "release").is_dir()
    with pytest.raises(OutputExistsError, match="already holds a release"):
        made.save(f"{address}/out")
    refuse_before(address, force=False, sign=None, engine="spark")
    request.engine = "arrays"
    for refused in (lambda: made.save(address), lambda: refuse_before(address, force=False, sign=None)):
        with pytest.raises(InputError, match="found an address with viewfs://"):
            refused()
