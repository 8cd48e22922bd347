"""attack: what somebody with some knowledge finds, before and after the release."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from tripcloak.ground.arrays import Floats, Ints
from tripcloak.ground.errors import InputError
from tripcloak.trajectories.attacks.originals import PRECISIONS, Settings, match_originals
from tripcloak.trajectories.model import Trajectories
from tripcloak.trajectories.release.release import TrajectoryRelease

QUANTILES = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)
FEWER = (2, 5, 10)
CHANCES = {"owner": "named", "whereabouts": "held"}
"""What the chances of an attack are of."""


@dataclass(frozen=True, eq=False)
class AttackResult:
    """What an attack finds.

    Attributes
    ----------
    kind, knowledge
        The attack, and how much the attacker knows; None is everything.
    against : str
        ``originals`` or ``release``.
    rows : array of int64
        The people who were attacked, as rows of the original trajectories.
    matches : array of int64
        How many trajectories fit what is known of each of them; where an attack tries all that could be
        known, the fewest that anything fits. One: the person is found, unless the trajectory is somebody
        else's, which can only be where samples were moved. None: the attacker looks in vain.
    chances : dict of str to array of float64
        Of ``owner``: the chance of each person that a guess names the own released trajectory, for a blind
        guess and some simple ones. Of ``whereabouts``: the share of other samples of the person that the
        box of their moment holds, in a trajectory that fits and in any.

    Examples
    --------
    >>> result = AttackResult("points", 4, "originals", np.arange(4), np.array([1, 1, 2, 0]))
    >>> result.risk.tolist()
    [1.0, 1.0, 0.5, 0.0]
    >>> result.summary()["unique"]
    0.5
    """

    kind: str
    knowledge: int | None
    against: Literal["originals", "release"]
    rows: Ints = field(repr=False)
    matches: Ints = field(repr=False)
    chances: dict[str, Floats] = field(repr=False, default_factory=dict)

    @property
    def risk(self) -> Floats:
        """Return the chance of each person that a guess among the matching trajectories is right."""
        risk: Floats = np.where(self.matches > 0, 1.0 / np.maximum(self.matches, 1), 0.0)
        return risk

    def summary(self) -> dict[str, Any]:
        """Return shares of people and quantiles; nothing that tells of one person."""
        found = self.matches[self.matches > 0]
        return {
            "kind": self.kind,
            "knowledge": self.knowledge,
            "against": self.against,
            "unique": _share(self.matches == 1),
            "fewer_than": {str(k): _share((self.matches > 0) & (self.matches < k)) for k in FEWER},
            "none": _share(self.matches == 0),
            "mean_risk": float(self.risk.mean()) if len(self.matches) else 0.0,
            "matches": _quantiles(found),
            "risk": _quantiles(self.risk),
            **(
                {CHANCES[self.kind]: {name: _share(right) for name, right in self.chances.items()}}
                if self.chances
                else {}
            ),
        }


def _share(which: Any) -> float:
    return float(np.mean(which)) if len(which) else 0.0


def _quantiles(values: Any) -> dict[str, float]:
    if not len(values):
        return {}
    return {f"{q:g}": float(v) for q, v in zip(QUANTILES, np.quantile(values, QUANTILES), strict=True)}


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
        Attack("whereabouts", "samples, and reads where it was at other times", "samples", 3, released=True),
    )
}
"""All attacks by name. Those that try everything are of Pellungrini et al. (2017), as in scikit-mobility."""


def attack(
    trajectories: Trajectories,
    kind: str,
    *,
    knowledge: int | None = None,
    release: TrajectoryRelease | None = None,
    tolerance: float = 0.0,
    precision: str = "hour",
    people: int | None = None,
    seed: int = 0,
    jobs: int | None = None,
) -> AttackResult:
    """Return how many trajectories fit what an attacker knows of each person.

    Without a release the original trajectories are attacked, which says how unique people are; with one,
    the released ones. The attacker knows the same in both.

    Parameters
    ----------
    kind
        One of :data:`ATTACKS`. The attacks of Pellungrini et al. (2017), which scikit-mobility offers
        too, try everything that could be known of a person and report the worst. ``owner`` guesses which
        of the released trajectories that fit is the person's own. ``whereabouts`` takes any that fits and
        reads off its boxes where the person was at other moments; who has none plays no part in that.
    knowledge
        How many samples, places or hours are known; all of them where somebody has fewer.
        The attack's own number if not given; of ``owner`` that is everything.
    release
        The release of these trajectories.
    tolerance
        By which share numbers of visits may differ, for the attacks that know them.
    precision
        How exactly times are known in ``location-time``: year, month, day, hour, minute or second.
    people
        Attack only so many people, chosen at random; everybody if not given.
    seed
        Of all that is chosen at random.
    jobs
        Threads; as many as there are processors if not given. The result is the same for any number.

    Examples
    --------
    >>> from tripcloak.trajectories import Grid
    >>> user, x = [0, 0, 1, 1, 2, 2], [5, 6, 5, 6, 5, 9]
    >>> made = Trajectories.of(user=user, t=[0, 1] * 3, x=x, y=[0] * 6, grid=Grid())
    >>> attack(made, "unique-location", knowledge=2).risk.tolist()
    [0.5, 0.5, 1.0]
    """
    _check(trajectories, kind, knowledge, release, tolerance, precision)
    known = ATTACKS[kind].known if knowledge is None else knowledge
    settings = Settings(known or 0, tolerance, precision, seed, jobs)
    rows = np.arange(trajectories.n_users)
    if people is not None and people < len(rows):
        rows = np.sort(np.random.default_rng(seed).choice(rows, size=people, replace=False))
    if release is None:
        return AttackResult(
            kind, known, "originals", rows, match_originals(trajectories, rows, kind, settings)
        )
    from tripcloak.trajectories.attacks.releases import match_release, name_owners
    from tripcloak.trajectories.attacks.whereabouts import read_whereabouts

    if kind == "owner":
        return AttackResult(
            kind, known, "release", rows, *name_owners(trajectories, release, rows, known, settings)
        )
    if kind == "whereabouts":
        return AttackResult(
            kind, known, "release", rows, *read_whereabouts(trajectories, release, rows, settings)
        )
    matches = match_release(trajectories, release, rows, kind, settings)
    return AttackResult(kind, known, "release", rows, matches)


def _check(
    trajectories: Trajectories,
    kind: str,
    knowledge: int | None,
    release: TrajectoryRelease | None,
    tolerance: float,
    precision: str,
) -> None:
    if kind not in ATTACKS:
        raise InputError(f"no such attack; expected one of {', '.join(ATTACKS)}")
    if release is None and ATTACKS[kind].released:
        raise InputError(f"the attack {kind} is on released trajectories; give a release (--release)")
    if knowledge is not None and knowledge < 1:
        raise InputError("an attacker knows one thing or more; knowledge must be 1 or more")
    if not 0 <= tolerance <= 1:
        raise InputError("the tolerance is a share, from 0 to 1")
    if precision not in PRECISIONS:
        raise InputError(f"the precision of times must be one of {', '.join(PRECISIONS)}")
    if release is not None and (release.grid != trajectories.grid or release.n_released == 0):
        raise InputError("the release is of other trajectories than these, or empty")
