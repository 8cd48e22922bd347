"""Every promise answers for itself: in the manifest, in words, and to whoever asks what was promised."""

from __future__ import annotations

import json
import math
from dataclasses import is_dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tripcloak.ground.errors import InputError
from tripcloak.promises import (
    AllOf,
    AmongPromise,
    AveragePeople,
    CoLocation,
    Containment,
    DifferentialPrivacy,
    Disclosure,
    Dominance,
    EverySegment,
    HiddenChoices,
    KAnonymity,
    KMAnonymity,
    KMSamples,
    LDiversity,
    Mixing,
    NoisePart,
    PPercent,
    Presence,
    Promise,
    Rounding,
    SegmentsWhereSafe,
    TCloseness,
    TrajectoryNoise,
    TrajectoryPrivacy,
    TrajectoryPromise,
    UnprovenNoise,
    all_of,
)
from tripcloak.promises.counted import KNOWN, called_in_words, counted_as, known_of
from tripcloak.promises.dominance import LargestPart
from tripcloak.promises.promise import OfProducts, PromiseOnPromise
from tripcloak.promises.segments import SegmentName

PEOPLE = KAnonymity(k=10, unit="travellers")
WEIGHED = KAnonymity(k=5000, unit="population")
SEVERAL = AllOf(promises=(PEOPLE, WEIGHED, LDiversity(l=3), LDiversity(l=2, of="places"), TCloseness(t=0.4)))
NOISE = DifferentialPrivacy(
    epsilon=1.0,
    delta=1e-6,
    contributions=10,
    mechanism="discrete Laplace noise on pairs of zones that occur",
    details=(("noise_scale", 10.0), ("threshold", 156), ("study_area", "all")),
)
SEGMENTS = EverySegment(promise=SEVERAL, parts=(SegmentName("sex=F"), SegmentName("sex=M")), by=("sex",))

EXAMPLES: dict[str, Promise] = {
    "k-anonymity": PEOPLE,
    "average people": AveragePeople(k=10),
    "all of": SEVERAL,
    "every segment": SEGMENTS,
    "segments where safe": SegmentsWhereSafe(promise=SEVERAL, parts=SEGMENTS.parts, by=("sex",)),
    "k^m-anonymity": KMAnonymity(promise=PEOPLE, m=2, of=("origin", "destination", "time")),
    "l-diversity": LDiversity(l=3),
    "t-closeness": TCloseness(t=0.4),
    "dominance": Dominance(share=0.3, of=("trips", "population")),
    "p-percent": PPercent(p=15),
    "hidden choices": HiddenChoices(k=10, unit="travellers", times=3),
    "rounding": Rounding(base=5, sums=False),
    "differential privacy": NOISE,
    "containment": Containment(k=3),
    "colocation": CoLocation(k=2, delta=2000.0),
    "presence": Presence(k=5),
    "mixing": Mixing(k=5, width=500, longest=3600),
    "disclosure": Disclosure(sd=0.4, ld=0.25, dst=2.0, cell=500),
    "k^m-anonymity of trajectories": KMSamples(k=5, m=2),
    "differential privacy of trajectories": TrajectoryPrivacy(
        epsilon=1.0, unit="w-event", window=3, parts=(NoisePart("visit 1 time 1", 1.0, 2, 2.0),)
    ),
    "noise without a proof": UnprovenNoise(epsilon=0.5, parts=(NoisePart("levels", 0.5, 1, 2.0),)),
}
every_promise = pytest.mark.parametrize("promise", EXAMPLES.values(), ids=EXAMPLES)


def subclasses(kind: type[Promise]) -> set[type[Promise]]:
    found = set(kind.__subclasses__())
    return found.union(*(subclasses(one) for one in found)) if found else found


def test_no_promise_is_left_out() -> None:
    # What a ledger asks of a search besides is stated by no manifest.
    ours = {one for one in subclasses(Promise) if one.__module__.startswith("tripcloak.promises.")}
    named = {one for one in ours if "kind" in vars(one)}
    assert {type(promise) for promise in EXAMPLES.values()} == named
    assert ours - named == {
        AmongPromise,
        LargestPart,
        OfProducts,
        PromiseOnPromise,
        TrajectoryNoise,
        TrajectoryPromise,
    }
    for kind, promise in EXAMPLES.items():
        assert promise.kind == kind
        assert Promise.of_kind(kind) is type(promise)
        assert is_dataclass(promise)
        assert type(promise).__dataclass_params__.frozen  # type: ignore[attr-defined]


@every_promise
def test_it_comes_back_from_the_manifest(promise: Promise) -> None:
    told = json.loads(json.dumps(promise.stated(), allow_nan=False))
    again = Promise.from_manifest(told)
    assert type(again) is type(promise)
    assert repr(again) == repr(promise)
    assert again.stated() == told
    assert again.segments == promise.segments
    assert type(promise).from_manifest(told).stated() == told


@every_promise
def test_it_says_what_it_promises_and_what_not(promise: Promise) -> None:
    sentence, limits = promise.sentence(), promise.limits()
    assert sentence == sentence.strip()
    assert "\n" not in sentence
    assert promise.stated()["sentence"] == sentence
    assert limits
    assert len(set(limits)) == len(limits)
    for words in limits:
        assert words == " ".join(words.split())
        assert words[0].isupper() or words[0].isdigit()
        assert words.endswith(".")


@every_promise
def test_it_is_not_read_from_anything_else(promise: Promise) -> None:
    told = promise.stated()
    # Beside noise any public fact may stand; which of them make sense the audit judges.
    facts = {"note", *(name for name, _ in getattr(promise, "details", ()))}
    for broken in (
        *([] if promise.noisy else [{**told, "note": 3}]),
        {**told, "kind": "trust me"},
        {**told, "kind": ["k-anonymity"]},
        {name: value for name, value in told.items() if name != "kind"},
        *({**told, name: {}} for name in set(told) - {"kind", "sentence", "mechanism"} - facts),
    ):
        with pytest.raises(InputError, match="the manifest states a promise that cannot be read"):
            Promise.from_manifest(broken)


@pytest.mark.parametrize("entry", [None, 3, "at least 10 travellers", [], {}, {"kind": None}])
def test_what_is_no_entry_is_no_promise(entry: Any) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        Promise.from_manifest(entry)


def test_promises_nested_without_end_are_refused() -> None:
    entry: dict[str, Any] = PEOPLE.to_manifest()
    for _ in range(5000):
        entry = {"kind": "every segment", "by": ["sex"], "names": ["sex=F"], "promise": entry}
    with pytest.raises(InputError, match="cannot be read"):
        Promise.from_manifest(entry)


def test_words_of_a_forged_entry_are_not_repeated() -> None:
    with pytest.raises(InputError) as told:
        Promise.from_manifest({"kind": "k-anonymity", "k": 10, "unit": "p17 lives here"})
    assert "p17" not in str(told.value)


def test_promises_of_the_other_wing_are_not_taken_for_ones_own() -> None:
    assert TrajectoryPromise.from_manifest(Containment(k=4).stated()) == Containment(k=4)
    with pytest.raises(InputError):
        TrajectoryPromise.from_manifest(PEOPLE.stated())


def test_whole_numbers_are_told_as_such() -> None:
    assert KAnonymity(k=10.0, unit="trips").to_manifest() == {"kind": "k-anonymity", "k": 10, "unit": "trips"}
    assert isinstance(KAnonymity(k=10.0, unit="trips").to_manifest()["k"], int)


# --- what may be published ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("promise", "columns"),
    [
        (PEOPLE, ("trips", "travellers")),
        (KAnonymity(k=5, unit="trips"), ("trips",)),
        (WEIGHED, ("population",)),
        (SEVERAL, ("trips", "travellers", "population")),
        (NOISE, ("trips",)),
        (KMAnonymity(promise=PEOPLE, m=1), ("trips",)),
        (EverySegment(promise=PEOPLE, parts=(SegmentName("a"),)), ("trips", "travellers")),
    ],
)
def test_numbers_are_published_that_are_kept_large(promise: Promise, columns: tuple[str, ...]) -> None:
    assert promise.published("trips") == columns


def test_a_small_flow_tells_its_volume_alone() -> None:
    assert KMAnonymity(promise=WEIGHED, m=1).published("population") == ("population",)


def test_people_in_several_segments_are_not_told_by_segment() -> None:
    parts = (SegmentName("a"), SegmentName("b"))
    apart = EverySegment(promise=PEOPLE, parts=parts)
    mixed = EverySegment(promise=PEOPLE, parts=parts, people_in_several=True)
    assert apart.published_by_segment("trips") == ("trips", "travellers")
    assert mixed.published_by_segment("trips") == ("trips",)
    assert mixed.published("trips") == ("trips", "travellers")
    assert "people_in_several" not in json.dumps(mixed.stated())


def test_more_than_the_limit_is_told_where_no_flow_is_small_and_nothing_is_noisy() -> None:
    silent = [kind for kind, promise in EXAMPLES.items() if not promise.tells_withheld]
    assert silent == ["k^m-anonymity", "differential privacy"]
    assert not PEOPLE.silence
    assert "under differential privacy no exact number" in NOISE.silence


def test_dropped_rows_are_told_where_enough_people_stand_behind_them_and_never_beside_noise() -> None:
    rows = {"duplicate": 9, "null_island": 40, "outside_box": 10, "never": 0}
    assert PEOPLE.told_rows(rows) == {"null_island": 40, "outside_box": 10}
    people = {"duplicate": 9, "null_island": 9, "outside_box": 10}
    assert PEOPLE.told_rows(rows, people) == {"outside_box": 10}
    assert PEOPLE.told_rows(rows, {}) == {}
    assert NOISE.told_rows(rows) == {}
    several = AllOf(promises=(KAnonymity(k=40, unit="trips"), PEOPLE, KAnonymity(k=500, unit="population")))
    assert several.told_rows(rows) == {"null_island": 40}
    assert several.told_rows({"null_island": 39}) == {}
    assert KAnonymity(k=500, unit="population").told_rows({"null_island": 499}) == {}


# --- who asks what ------------------------------------------------------------------------------------


def test_several_promises_lie_flat_and_are_told_apart() -> None:
    inner = AllOf(promises=(PEOPLE, TCloseness(t=0.4)))
    outer = AllOf(promises=(inner, LDiversity(l=3)))
    assert outer.promises == (PEOPLE, TCloseness(t=0.4), LDiversity(l=3))
    assert outer.by_group == AllOf(promises=(PEOPLE, LDiversity(l=3)))
    assert outer.by_release == (TCloseness(t=0.4),)
    assert outer.of_people == PEOPLE
    assert inner.by_group == PEOPLE
    assert outer.family == "k-anonymity"
    assert not outer.plain
    assert AllOf(promises=(PEOPLE, AveragePeople(k=3))).plain


def test_segments_keep_what_is_inside_them() -> None:
    assert SEGMENTS.by_release == (TCloseness(t=0.4),)
    assert SEGMENTS.by_group.by_release == ()
    assert SEGMENTS.by_group.segments == SEGMENTS.segments
    assert SEGMENTS.of_people.promise == AllOf(promises=(PEOPLE, WEIGHED))
    assert SEGMENTS.of_everybody == SEVERAL
    assert SEGMENTS.segmented_by == ("sex",)
    assert SEGMENTS.family == "k-anonymity"
    assert SEGMENTS.further()[-1] == "the same holds for every one of the segments on its own"


@pytest.mark.parametrize("alone", [LDiversity(l=2), TCloseness(t=0.5), NOISE, Containment(k=2)])
def test_what_counts_nobody_says_what_it_lacks(alone: Promise) -> None:
    assert not alone.counts_people
    assert alone.lacks
    with pytest.raises(InputError):
        AllOf(promises=(alone,))


@pytest.mark.parametrize(
    "outer", [SEGMENTS, KMAnonymity(promise=PEOPLE, m=1), NOISE, Containment(k=2), CoLocation(k=2, delta=1.0)]
)
def test_what_goes_around_others_does_not_stand_beside_them(outer: Promise) -> None:
    with pytest.raises(InputError, match="does not stand beside other promises"):
        AllOf(promises=(PEOPLE, outer))


def test_all_items_known_is_the_promise_itself() -> None:
    known = {"units": ("trips", "travellers"), "represented": None, "id_is": "card"}
    two, three = SimpleNamespace(axes=(0, 1), **known), SimpleNamespace(axes=(0, 1, 2), **known)
    cards = KAnonymity(k=4, unit="travellers", id_is="card")
    asked = KMAnonymity(promise=KAnonymity(k=4), m=2)
    assert asked.resolve(two) == cards  # type: ignore[arg-type]
    held = asked.resolve(three)  # type: ignore[arg-type]
    assert held == KMAnonymity(promise=cards, m=2, of=("origin", "destination", "time"))
    assert held.of_items(3) == (cards, 2)
    assert PEOPLE.of_items(3) == (PEOPLE, 3)
    with pytest.raises(InputError, match="a trip has the items"):
        KMAnonymity(promise=PEOPLE, m=1, of=("place",))


def test_one_of_several_stays_as_it_is() -> None:
    assert all_of([PEOPLE]) is PEOPLE
    assert all_of(iter([PEOPLE, WEIGHED])) == AllOf(promises=(PEOPLE, WEIGHED))
    with pytest.raises(InputError, match="at least one promise"):
        all_of([])


def test_noise_is_known_by_its_budget_and_nothing_else_is() -> None:
    assert [kind for kind, promise in EXAMPLES.items() if promise.noisy] == [
        "differential privacy",
        "differential privacy of trajectories",
        "noise without a proof",
    ]
    assert [kind for kind, promise in EXAMPLES.items() if promise.budget] == [
        "differential privacy",
        "differential privacy of trajectories",
    ]
    assert NOISE.noise_facts()["differential_privacy"]["noise_scale"] == 10.0
    assert "drawn anew" in NOISE.note()
    assert PEOPLE.note() is None
    assert PEOPLE.noise_facts() == {}


# --- trajectories -------------------------------------------------------------------------------------


def test_trajectories_are_safe_among_k() -> None:
    found = np.array([1, 2, 3, 4])
    assert Containment(k=3).safe(found).tolist() == [False, False, True, True]
    # Who is counted has k - 1 others, and is one of the k.
    assert CoLocation(k=3, delta=5.0).safe(found).tolist() == [False, True, True, True]


@pytest.mark.parametrize("k", [1, 0, -3])
def test_a_trajectory_alone_hides_nobody(k: int) -> None:
    for make in (lambda: Containment(k=k), lambda: CoLocation(k=k, delta=1.0)):
        with pytest.raises(InputError, match="among how many trajectories each one hides"):
            make()


@pytest.mark.parametrize("delta", [-1.0, float("nan"), float("inf")])
def test_a_distance_is_one(delta: float) -> None:
    with pytest.raises(InputError, match="delta is a distance"):
        CoLocation(k=2, delta=delta)


def test_several_promises_are_of_the_family_of_the_first_that_counts_people() -> None:
    people = KAnonymity(k=5, unit="travellers")
    for first in (TCloseness(t=0.5), LDiversity()):
        assert AllOf(promises=(first, people)).family == people.family != first.family


def test_a_promise_of_trajectories_is_what_its_headline_says() -> None:
    assert Containment(k=2).in_brief() == "what is known of a person fits 2 trajectories or more"
    for promise in (Containment(k=3, id_is="device"), CoLocation(k=2, delta=50.0)):
        assert promise.in_brief() == promise.headline()[1] != promise.headline()[0]


def test_what_cannot_be_asked_is_refused() -> None:
    groups: Any = None
    with pytest.raises(InputError, match="the unit of k is still open"):
        HiddenChoices(k=5).safe(groups)
    with pytest.raises(InputError):
        assert Dominance(share=0.5).monotone
    for m in (0, 4):
        with pytest.raises(InputError, match="from 1 to 3"):
            KMSamples(k=2, m=m)
    for promise in (Presence(k=3), KMSamples(k=3, m=3)):
        assert promise.safe(np.array([2, 3, 4])).tolist() == [False, True, True]


def test_units_are_called_what_they_are() -> None:
    assert called_in_words("trips", "person") == "trips"
    assert called_in_words("population", "vehicle") == "population"
    assert called_in_words("travellers", "person") == "people"
    assert called_in_words("travellers", "vehicle") == "vehicles (not people)"
    assert known_of("trips", "vehicle") == KNOWN["trips"]
    assert known_of("travellers", "card").startswith("cards, not people")
    assert known_of("travellers", None) == known_of("travellers", "unknown")
    assert counted_as({}, "who") == "counted as nobody knows what: column who"
    told = {"counted": {"travellers": "people: every id", "trips": "trips, not people: all"}}
    assert counted_as(told, None) == "counted as people and trips, not people: no column of ids"


@pytest.mark.parametrize("epsilon", [0.0, -1.0, math.inf, math.nan])
@pytest.mark.parametrize("kind", [TrajectoryPrivacy, UnprovenNoise])
def test_noise_of_trajectories_needs_an_epsilon_that_is_a_number_above_0(kind: Any, epsilon: float) -> None:
    with pytest.raises(InputError, match="finite number above 0"):
        kind(epsilon=epsilon)


def test_a_promise_is_known_by_the_kind_that_it_names_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    before = dict(Promise._kinds)
    monkeypatch.setattr(Promise, "_kinds", dict(before))

    class Unnamed(KAnonymity):
        pass

    assert Promise._kinds == before

    class Named(KAnonymity):
        kind = "named in a test"

    assert Promise._kinds == {**before, "named in a test": Named}
    assert issubclass(Unnamed, KAnonymity)
