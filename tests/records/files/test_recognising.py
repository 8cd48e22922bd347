"""Files without a line of names are recognised where their lines can be nothing else, and only there."""

from __future__ import annotations

from pathlib import Path

import pytest

from tripcloak.ground.errors import InputError
from tripcloak.records.columns import listed, looks_like_data
from tripcloak.records.files.recognising import recognised
from tripcloak.records.presets import PRESETS, of_lines
from tripcloak.records.source import TripSource
from worlds.made_files.public_whereabouts import BRIGHTKITE_LINES, CAB_LINES, PLT, TDRIVE_LINES, TIST, TSMC
from worlds.trip_readings import ReadPaths, WriteText

GOWALLA_LINE = "0\t2010-10-19T23:55:27Z\t30.2359091167\t-97.7951395833\t22847\n"


@pytest.mark.parametrize(
    ("text", "ending", "name"),
    [
        (TDRIVE_LINES, ".txt", "tdrive"),
        (CAB_LINES, ".txt", "cabspotting"),
        (PLT, ".plt", "geolife"),
        (TSMC, ".txt", "foursquare"),
        (TIST["dataset_TIST2015_Checkins.txt"], ".txt", "foursquare"),
        (TIST["dataset_TIST2015_POIs.txt"], ".txt", "foursquare"),
        (GOWALLA_LINE, ".txt", "gowalla"),
        (BRIGHTKITE_LINES, ".txt", "brightkite"),
        (GOWALLA_LINE, ".csv", "gowalla"),
        # Which of two columns is the longitude shows only where one of them is no latitude.
        (TDRIVE_LINES.replace("116.", "16."), ".txt", None),
        ("user\ttime\tlat\tlon\tplace\n" + GOWALLA_LINE, ".txt", None),
        # Places of Gowalla have nine digits at most.
        ("0\t2010-10-19T23:55:27Z\t30.2\t-97.7\t2284700000\n", ".txt", "brightkite"),
        ("", ".txt", None),
        (GOWALLA_LINE, ".plt", None),
    ],
)
def test_lines_tell_what_they_are(text: str, ending: str, name: str | None) -> None:
    found = of_lines(text.splitlines(), ending)
    assert (None if found is None else found[0].name) == name


def test_one_line_that_does_not_fit_is_one_too_many(write_text: WriteText) -> None:
    fine = write_text("a/one.txt", GOWALLA_LINE * 20 + "a line of another kind\n")
    assert recognised([str(fine)]) is PRESETS["gowalla"]
    wrong = write_text("b/one.txt", GOWALLA_LINE * 19 + "a line of another kind\n")
    assert recognised([str(wrong)]) is None
    assert recognised([str(fine), str(wrong)]) is None


def test_files_of_two_formats_are_of_none(write_text: WriteText, tmp_path: Path) -> None:
    write_text("one.txt", GOWALLA_LINE)
    write_text("two.txt", TDRIVE_LINES)
    assert recognised([str(tmp_path)]) is None


def test_a_preset_that_is_said_wins_over_what_lines_tell(write_text: WriteText, read: ReadPaths) -> None:
    path = write_text("fixes.txt", TDRIVE_LINES)
    with pytest.raises(InputError):
        read(path, preset="gowalla").report  # noqa: B018
    assert TripSource(paths=(str(path),)).preset is None
    assert read(path).canonical.columns["person"] == "taxi_id"


def test_lines_of_numbers_are_no_names() -> None:
    assert looks_like_data(CAB_LINES.splitlines()[0])
    assert not looks_like_data("start station 1")
    assert listed(CAB_LINES.splitlines()[:1]) == "1 column with names that look like data"
