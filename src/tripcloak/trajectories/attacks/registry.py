"""The attacks there are: what the attacker knows in each."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Attack:
    """An attacker: what he knows, and how much of it.

    Attributes
    ----------
    name, summary
        What it is called, and what the attacker knows.
    unit
        What the number of known things counts.
    known
        How many, if nobody says; None is all there are.
    worst
        Whether all that could be known is tried and the worst taken, or some of it is drawn at random.
    released : bool
        Whether the question makes sense of a release alone.
    """

    name: str
    summary: str
    unit: str
    known: int | None
    worst: bool = False
    released: bool = False


def _worst(name: str, summary: str, unit: str = "samples", known: int = 2) -> Attack:
    return Attack(name, summary, unit, known, worst=True)


ATTACKS: dict[str, Attack] = {
    attack.name: attack
    for attack in (
        Attack("points", "some samples at random: times and places", "samples", 4),
        Attack("window", "all samples of some hours, from a sample at random on", "hours", 24),
        Attack("places", "the places visited most, without times", "places", 2),
        _worst("home-work", "the two places visited most, and that they are", "places"),
        _worst("location", "places of samples, without times or order"),
        _worst("location-sequence", "places of samples and their order, without times"),
        _worst("location-time", "places of samples and times up to a precision"),
        _worst("unique-location", "different places", "places"),
        _worst("location-frequency", "different places and the number of visits to each", "places"),
        _worst("location-probability", "different places and their shares of all visits", "places"),
        _worst("location-proportion", "different places and visits in proportion to each other", "places"),
        Attack("owner", "samples, and guesses whose of those that fit is", "samples", None, released=True),
    )
}
"""All attacks by name. Those that try everything are of Pellungrini et al. (2017), as in scikit-mobility."""
