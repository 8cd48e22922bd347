"""The process behind a preview: holds a sample's matrix, and answers what a choice would cost.

Lines of JSON in, lines of JSON out. It is started once for an input and kept warm, so that an answer takes a
fraction of a second; should it die, the next question starts another.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from tripcloak.ground.errors import InputError, TripcloakError
from tripcloak.studio.followed_preview import cost_to_people, few_people

if TYPE_CHECKING:
    from tripcloak.flows.model import ODMatrix

SAMPLE = 30_000
"""Trips that a preview looks at, about."""

QUICK = {"twincut": {"certify": 0.01}}
"""Options with which a method answers at once: proving how good it is can wait for the run."""


@dataclass
class Sample:
    """A sample, read and kept with what it was read for."""

    key: str
    matrix: ODMatrix
    trips: int
    one_in: int


def main() -> None:
    """Answer questions on stdin until there are no more."""
    from tripcloak.ground.ending import end_with
    from tripcloak.ground.sparing import load_sparingly

    if (parent := os.environ.get("TRIPCLOAK_ENDS_WITH", "")).isdigit():
        end_with(int(parent))
    load_sparingly()
    kept: list[Any] = []
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line), kept)), flush=True)


def answer(asked: Mapping[str, Any], kept: list[Any]) -> dict[str, Any]:
    """Return what a choice of settings costs on a sample, or words for why that cannot be told."""
    try:
        if "towns" in asked:
            from tripcloak.hierarchy.place_names import ATTRIBUTION, largest_towns

            return {"towns": largest_towns(asked["towns"]), "attribution": ATTRIBUTION}
        if asked.get("wing") == "trajectories":
            few = few_people(asked["path"], asked["settings"], kept)
            return cost_to_people(few.trajectories, asked["settings"])
        sample = sample_of(
            asked["path"], asked["settings"], int(asked.get("rows") or 0), asked.get("person"), kept
        )
        return {"trips": sample.trips, "one_in": sample.one_in, **cost(sample.matrix, asked["settings"])}
    except TripcloakError as error:
        return {"error": str(error)}
    except Exception as error:
        return {
            "error": f"the preview failed with an unexpected {type(error).__name__}; the run itself may not"
        }


def sample_of(
    path: str, settings: Mapping[str, Any], rows: int, person: str | None, kept: list[Any]
) -> Sample:
    """Return the sample of an input in these zones: the one that was kept, or else one read now.

    Parameters
    ----------
    rows
        How many rows the input has, as far as known: a large one is thinned out.
    person
        The column with ids: people are drawn with all their trips, or none would reach k any more.
    """
    from tripcloak.flows.keywords import keywords, zoning
    from tripcloak.flows.reading.matrix import read_matrix
    from tripcloak.ground.options import values_of
    from tripcloak.records.keywords import trip_source

    given = values_of(keywords("anonymise"), read_by(settings))
    one_in = max(1, rows // SAMPLE) if person else 1
    key = json.dumps([path, read_by(settings), one_in], sort_keys=True)
    if kept and kept[0].key == key:
        found: Sample = kept[0]
        return found
    kept.clear()
    source = trip_source([path], given)
    if one_in > 1 and person:
        quoted = '"' + person.replace('"', '""') + '"'
        drawn = f"hash({quoted}) % {one_in} = 0"
        source = replace(source, where=drawn if source.where is None else f"({source.where}) and {drawn}")
    matrix = read_matrix(source, zoning(given), memory=given["memory"]).trips.matrix
    sample = Sample(key, matrix, int(matrix.flows.trips.sum()), one_in)
    kept.append(sample)
    return sample


def read_by(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings that a matrix depends on: all but what is promised and by which method."""
    from tripcloak.flows.keywords import keywords

    groups = {"column", "reading", "counts", "zones"}
    of_reading = {one.name for one in keywords("anonymise") if one.group in groups or one.name == "memory"}
    return {name: value for name, value in settings.items() if name in of_reading}


def cost(matrix: ODMatrix, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return how coarse a release of a matrix is with these settings, and how much of it is withheld."""
    from tripcloak.flows.keywords import flow_method, keywords, zoning
    from tripcloak.flows.measures.sizes import generalisation, suppressed_share
    from tripcloak.flows.release.public import typical_zone_km2
    from tripcloak.ground.options import values_of

    given = values_of(keywords("anonymise"), settings)
    for name, value in QUICK.get(given["method"], {}).items():
        given[name] = value if given[name] is None else given[name]
    if given["slot"] is not None or given["zones_from"] is not None:
        raise InputError("there is no preview of slots kept apart, or of zones of an earlier release; run it")
    release = flow_method(given, zoning(given).kept).anonymise(matrix)
    origins, destinations = release.zone_numbers
    return {
        "groups": release.n_groups,
        "origins": origins,
        "destinations": destinations,
        "G": generalisation(matrix, release),
        "S": suppressed_share(matrix, release),
        "zone_km2": typical_zone_km2(release),
    }


if __name__ == "__main__":
    main()
