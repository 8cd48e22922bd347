"""Every error names what to type next; whatever else a test of this folder gets wrong is held to that too."""

from __future__ import annotations

import pytest

from tripcloak.cli.app import COMMANDS, below
from tripcloak.cli.next_steps import example, next_step, options_of
from tripcloak.ground.errors import InputError
from worlds.fixes import some_fixes
from worlds.next_steps import leads_on
from worlds.trips import write_csv

OUT = "--out {folder}/out"
BAD_LINES = [
    # What was typed, and what is said to type next.
    ("describe {folder}/none.csv", "`ls FOLDER`"),
    ("describe '{folder}/*.parquet'", "`ls FOLDER`"),
    ("describe {folder}/empty.csv", "save or unpack it anew, then `tripcloak describe FILE`"),
    ("describe {folder}/notes.pdf", "save or unpack it anew, then `tripcloak describe FILE`"),
    ("describe {folder}/data.csv", "`tripcloak presets`"),
    ("describe {folder}/bare.csv", "(--origin-lat NAME)"),
    ("describe {trips} --person who", "--person none"),
    ("describe postgresql://ana:secret@127.0.0.1:1/city#trips", "`psql ADDRESS`"),
    ("describe {trips} --k 1", "`--k 10`"),
    ("describe {trips} --preset nyc", "`tripcloak presets`"),
    ("describe {trips} --where nonsense", "`--where \"city = 'Paris'\"`"),
    ("describe {trips} --timezone Mars", "`--timezone Europe/Paris`"),
    ("describe {trips} --memory 12", "`--memory 1GB`"),
    (f"anonymise {{folder}}/empty.csv {OUT}", "`tripcloak describe FILE`"),
    (f"anonymise {{trips}} --method none {OUT}", "`tripcloak methods`"),
    (f"anonymise {{trips}} --levels 2 {OUT}", "`tripcloak methods`"),
    (f"anonymise {{trips}} --k 500 {OUT}", "`tripcloak describe`"),
    (f"anonymise {{trips}} --unit cats {OUT}", "`--unit travellers`"),
    (f"anonymise {{trips}} --suppress 10 {OUT}", "for 10 percent write 0.1 or 10%"),
    (f"anonymise {{trips}} --slot soon {OUT}", "`--slot 1h`"),
    (f"anonymise {{trips}} --t 0.5 --time-slot 1h --method productcut {OUT}", "leave out --t"),
    ("anonymise {trips} --out {trips}", "`--out DIR`"),
    ("anonymise {trips} --out ~", "--out ~/release"),
    ("audit {folder} --against {trips}", "`tripcloak anonymise`"),
    ("check {folder}", "`tripcloak anonymise`"),
    ("compare {trips} --methods magic", "`tripcloak methods`"),
    ("compare {trips} --jobs 0", "--jobs 1"),
    ("exposure {trips} --unit population", "`--unit travellers`"),
    (f"reconstruct {{folder}} --zones {{folder}}/none.geojson {OUT}", "`tripcloak anonymise`"),
    ("measures {folder} --against {trips}", "`tripcloak anonymise`"),
    ("score nist {folder} --against {trips}", "`tripcloak anonymise`"),
    ("score nist {trips} --against {trips} --subsamples few", "--subsamples"),
    ("trajectories describe {folder}/bare.csv", "(--lat NAME)"),
    (f"trajectories anonymise {{fixes}} --method none {OUT}", "`tripcloak trajectories methods`"),
    (f"trajectories anonymise {{fixes}} --k 99 {OUT}", "`tripcloak trajectories describe FILE`"),
    (f"trajectories anonymise {{fixes}} --regions everywhere {OUT}", "--regions auto"),
    (f"trajectories anonymise {{folder}}/empty.csv {OUT}", "`tripcloak trajectories describe FILE`"),
    ("trajectories describe {fixes} --max-speed -1", "`--max-speed 200`"),
    ("trajectories describe {fixes} --since tomorrow", "`--since 2024-05-01`"),
    ("trajectories attack {fixes} --known some", "`--known 4`"),
    ("trajectories attack {fixes} --kind guess", "`--kind points`"),
    ("trajectories trips {fixes} --by luck --out {folder}/t.csv", "`--by stays`"),
    ("synth city --out {folder}/none/city.csv --trips 5", "`tripcloak synth city --help`"),
    ("keygen {trips}", "`tripcloak keygen NAME`"),
    ("anonymize {trips}", "'anonymise'"),
    ("synth town", "'tripcloak synth -h'"),
]


@pytest.mark.parametrize(("line", "step"), BAD_LINES, ids=[line for line, _ in BAD_LINES])
def test_what_to_type_next_is_said(tripcloak, tmp_path, trips, line, step):
    for name in ("empty.csv", "trips.csv.key", "trips.csv.pub"):
        (tmp_path / name).touch()
    (tmp_path / "notes.pdf").write_text("%PDF")
    (tmp_path / "data.csv").write_text("17,48.85,2.35\n")
    (tmp_path / "bare.csv").write_text("a,b\nx,y\n")
    fixes = write_csv(tmp_path / "fixes.csv", some_fixes(14)) if "fixes" in line else ""
    words = [word.strip("'") for word in line.format(folder=tmp_path, trips=trips, fixes=fixes).split()]
    told = tripcloak(*words)
    assert told.code in (1, 2)
    assert step in told.words


@pytest.mark.parametrize("command", [name for name in COMMANDS if not below(name)])
def test_values_that_are_proposed_are_taken(command):
    """Of a column, a file, a box or a method's own option the data or the method decides."""
    decided = {"column", "method option", "run"}
    for flag, option in options_of(command).items():
        value = example(option).strip("\"'")
        ours = option.group not in decided and option.reads != "path" and value != option.metavar
        if ours and option.kind != "switch":
            kinds = {"number": float, "whole number": int}
            taken = option.take(kinds.get(option.kind, str)(value) if option.reads is None else value)
            assert taken is not None, flag


@pytest.mark.parametrize("command", COMMANDS)
def test_an_error_that_says_nothing_still_leads_on(command):
    step = next_step(InputError("something is wrong"), command, [])
    assert leads_on(step, command)
    assert f"`tripcloak {command} FILE" not in step, "the same again leads nowhere"
