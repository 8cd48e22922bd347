"""A source of trips checks itself and survives being written down."""

from __future__ import annotations

import json

import pytest

from tripcloak.ground.errors import InputError
from tripcloak.records.source import TripSource

FULL = TripSource(
    paths=("a.csv", "b/*.parquet"),
    preset="citibike",
    columns={"person": "rider", "weight": "none"},
    form="trips",
    where="age > 3",
    box=(48.8, 2.2, 48.9, 2.4),
    polygon="area.geojson",
    silence=300,
    attributes=("sex",),
    timezone="Europe/Paris",
    people_once=True,
    zone_prefix=11,
)


@pytest.mark.parametrize("source", [FULL, TripSource(paths=("a.csv",))])
def test_a_source_survives_json(source: TripSource) -> None:
    again = TripSource.from_dict(json.loads(json.dumps(source.to_dict())))
    assert again == source
    assert hash(again) == hash(source)
    assert again.to_dict() == source.to_dict()


def test_one_path_may_be_plain_text() -> None:
    assert TripSource(paths="trips.csv").paths == ("trips.csv",)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"paths": ()}, "no input"),
        ({"paths": ("",)}, "no input"),
        ({"preset": "nowhere"}, "porto-taxi"),
        ({"form": "rides"}, "polyline"),
        ({"columns": {"start": "a"}}, "origin_lat"),
        ({"columns": {"occupied": "a"}}, "unknown roles"),
        ({"columns": {"person": ""}}, "empty name"),
        ({"attributes": ("a", "a")}, "different"),
        ({"silence": 0}, "positive"),
        ({"silence": float("nan")}, "positive"),
        ({"zone_prefix": 0}, "1 or more"),
        ({"box": (1, 2, 3)}, "south, west, north, east"),
        ({"box": (48.9, 2.2, 48.8, 2.4)}, "south"),
        ({"box": (48.8, 2.2, 98.9, 2.4)}, "latitudes"),
        ({"box": (48.8, 2.2, 48.9, 182.4)}, "longitudes"),
        ({"box": (48.8, float("nan"), 48.9, 2.4)}, "degrees"),
    ],
)
def test_a_wrong_source_is_refused(options: dict[str, object], expected: str) -> None:
    with pytest.raises(InputError, match=expected):
        TripSource(**{"paths": ("a.csv",), **options})  # type: ignore[arg-type]


def test_unknown_entries_of_a_description_are_refused() -> None:
    with pytest.raises(InputError, match="colour"):
        TripSource.from_dict({"paths": ["a.csv"], "colour": "red"})


@pytest.mark.parametrize(
    "wrong",
    [
        {"timezone": ["x"]},
        {"timezone": 12},
        {"segment": "sex"},
        {"segment": {"sex": 1}},
        {"columns": {"person": ["rider"]}},
        {"attributes": ["a", 1]},
        {"silence": "long"},
        {"silence": True},
        {"people_once": 1},
        {"zone_prefix": 1.5},
        {"sample": [5]},
        {"box": [1, 2, 3]},
        {"form": 3},
        {"paths": "a.csv"},
    ],
    ids=str,
)
def test_entries_of_another_kind_are_refused_by_name(wrong: dict[str, object]) -> None:
    name = next(iter(wrong))
    with pytest.raises(InputError, match=f"another kind: {name}$"):
        TripSource.from_dict({"paths": ["a.csv"], **wrong})
