"""The scorecard: every measure, always in the same order, never NaN."""

from __future__ import annotations

import json
import math
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from tripcloak.flows import measures as metrics
from tripcloak.promises import Volume
from worlds.releases import Drawn, drawn_releases

KEYS = ["G", "G_observed", "E", "D", "S", "C_DM", "C_AVG", "GDM_mean", "GDM_median", "GDM_std", "CPC"]
KEYS += ["CPC_shares", "trip_length_emd_km", "top_flow_agreement"]
TIMED = [*KEYS[:2], "G_time", *KEYS[2:]]
VOLUMES = st.sampled_from(["trips", "population"])


@given(drawn=drawn_releases(), volume=VOLUMES)
def test_the_scorecard_holds_what_each_function_says(drawn: Drawn, volume: Volume) -> None:
    both = drawn.matrix, drawn.release
    moved = metrics.displacement(*both, volume=volume) or (None, None, None)
    timed = {"G_time": metrics.generalisation_in_time(*both, volume=volume)}
    assert metrics.measure(*both, volume) == {
        **(timed if drawn.matrix.times is not None else {}),
        "G": metrics.generalisation(*both, volume=volume),
        "G_observed": metrics.generalisation(*both, "observed", volume=volume),
        "E": metrics.reconstruction_loss(*both, volume=volume),
        "D": metrics.distribution_loss(*both, volume=volume),
        "S": metrics.suppressed_share(*both, volume=volume),
        "C_DM": metrics.discernability(*both, volume=volume),
        "C_AVG": metrics.average_group_size(*both, volume=volume),
        "GDM_mean": moved[0],
        "GDM_median": moved[1],
        "GDM_std": moved[2],
        "CPC": metrics.cpc(*both, volume=volume),
        "CPC_shares": metrics.cpc_of_shares(*both, volume=volume),
        "trip_length_emd_km": metrics.trip_length_distance(*both, volume=volume),
        "top_flow_agreement": metrics.top_flow_agreement(*both, volume=volume),
    }


@given(drawn=drawn_releases(), volume=VOLUMES, blind=st.booleans())
def test_the_scorecard_is_plain_numbers_in_one_order(drawn: Drawn, volume: Volume, blind: bool) -> None:
    if blind:
        nowhere = [dict.fromkeys(place, (math.nan, math.nan)) for place in drawn.places]
        drawn = replace(drawn, places=(nowhere[0], nowhere[1]))
    found = metrics.measure(drawn.matrix, drawn.release, volume)
    assert list(found) == (KEYS if drawn.matrix.times is None else TIMED)
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    missing = {name for name in KEYS if found[name] is None}
    assert not blind or {"GDM_mean", "GDM_median", "GDM_std", "trip_length_emd_km"} <= missing
    assert all(type(value) in (int, float, type(None)) for value in found.values())


@given(drawn=drawn_releases(), volume=VOLUMES)
def test_measuring_twice_gives_the_same_and_changes_nothing(drawn: Drawn, volume: Volume) -> None:
    before = drawn.matrix.digest(), drawn.release.group_of_flow.tolist(), drawn.release.trips.tolist()
    first = metrics.measure(drawn.matrix, drawn.release, volume)
    assert metrics.measure(drawn.matrix, drawn.release, volume) == first
    assert (
        drawn.matrix.digest(),
        drawn.release.group_of_flow.tolist(),
        drawn.release.trips.tolist(),
    ) == before
