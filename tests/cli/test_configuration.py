"""Options from a file: the same as on the command line, which wins."""

from __future__ import annotations

from functools import wraps
from types import SimpleNamespace

import pytest

from tripcloak.cli import app
from tripcloak.cli.app import alone, parameters_of
from tripcloak.cli.configuration import read_configuration
from tripcloak.ground.errors import InputError


@pytest.fixture
def asked(monkeypatch):
    """What the command anonymise is asked for, without doing it."""
    from tripcloak.cli import anonymise

    seen = SimpleNamespace()

    @wraps(anonymise.command._run)
    def note(**all_of_it):
        seen.__dict__.update(all_of_it)

    monkeypatch.setattr(anonymise.command, "_run", note)
    monkeypatch.setattr(app, "_KEPT", {})

    def ask(*arguments: str):
        alone("anonymise")(args=[*arguments], standalone_mode=False)
        return seen

    return ask


def test_what_a_file_says_is_as_if_typed_and_the_command_line_wins(tmp_path, asked):
    file = tmp_path / "run.toml"
    file.write_text(
        'inputs = ["a.csv", "b.csv"]\nout = "there"\nk = 5\nsuppress = "20%"\nwith_margins = true\n'
        'with-levels = "8,6"\nattribute = ["age"]\nforce = true\n'
    )
    seen = asked("--config", str(file), "--k", "7")
    assert (seen.inputs, str(seen.out), seen.force) == (["a.csv", "b.csv"], "there", True)
    given = seen.given
    assert (given["k"], given["suppress"], given["with_margins"]) == (7, 0.2, True)
    assert (given["with_levels"], given["attribute"]) == ((8, 6), ("age",))
    assert given["method"] == "twincut"
    assert asked("c.csv", "--config", str(file)).inputs == ["c.csv"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("kk = 5", "a key kk that is no option of this command; did you mean k"),
        ("k = [1]", "takes one value"),
        ("with_margins = 1", "true or false"),
        ("inputs = 5", "a list of texts"),
        ("k = ", "no TOML file"),
        ("help = true", "a key help"),
    ],
)
def test_what_a_file_may_not_say_is_told(tmp_path, text, words):
    file = tmp_path / "run.toml"
    file.write_text(text)
    with pytest.raises(InputError, match=words):
        read_configuration(file, parameters_of("anonymise"))


def test_a_file_that_is_not_there_is_told(tmp_path):
    with pytest.raises(InputError, match="there is no file"):
        read_configuration(tmp_path / "run.toml", [])
