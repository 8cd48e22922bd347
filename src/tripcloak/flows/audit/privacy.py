"""Differential privacy as a manifest states it, read with distrust, and whether its noise is enough."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tripcloak.ground.entries import is_number, unreadable

NOISE = "differential privacy"
"""The kind of promise that is read here."""
ENTRY = "promise"
UNITS = ("traveller", "trip")
OF_SCALING = {"multipliers", "norms"}
OF_LAPLACE, OF_GAUSSIAN = {"threshold", *OF_SCALING}, {"rho", "heights", "norm_heights", *OF_SCALING}
STATED = {
    *("kind", "epsilon", "delta", "unit", "id_is", "contributions", "mechanism", "noise_scale", "study_area")
}
PARTS = 1024
"""Parts that a trip is counted in where travellers are scaled."""
ROUNDING_TOLERANCE = 1e-9
"""Relative, for what rounding may take away."""


@dataclass(frozen=True, kw_only=True)
class Privacy:
    """What is stated: how much one person can change, and the noise that is said to hide them.

    Attributes
    ----------
    epsilon, delta : float
        The promise.
    unit : str
        Whose presence is hidden: that of a traveller, or of a single trip.
    contributions : int, optional
        Trips of one traveller that are counted at most; None where norms say it.
    noise : str
        Laplace or Gaussian.
    noise_scale : float
        Its scale, for Gaussian noise the standard deviation.
    threshold : float
        What a noisy number must reach to be published.
    rho, heights : float, int
        Of Gaussian noise: the zero-concentrated privacy of all of it, and how often noise was drawn.
    multipliers : tuple of float
        Where travellers are scaled: the standard deviation of every draw of noise, in multiples of what one
        traveller can change there.
    norms : tuple of float
        The norm, in trips, that a traveller is scaled to at every height: Euclidean under Gaussian noise, a
        sum under Laplace noise.
    norm_heights : tuple of int
        The height that each norm is of, under Gaussian noise: from the study area down.
    study_area : str, optional
        The zone that holds all others.
    id_is : str, optional
        What a traveller is said to be.
    """

    epsilon: float
    delta: float
    unit: str
    contributions: int | None
    noise: str
    noise_scale: float
    threshold: float = 1.0
    rho: float = 0.0
    heights: int = 1
    multipliers: tuple[float, ...] = ()
    norms: tuple[float, ...] = ()
    norm_heights: tuple[int, ...] = ()
    study_area: str | None = None
    id_is: str | None = None

    @property
    def figures(self) -> str:
        """Return the numbers of the promise as words on it must give them."""
        delta = f", delta {self.delta:g}" if self.delta else ""
        most = self.contributions
        bound = "each scaled to one norm" if most is None else f"at most {most:,} trips each"
        each = f", {bound}" if self.unit == "traveller" else ""
        return f"(epsilon {self.epsilon:g}{delta}{each})"


def read_privacy(stated: Mapping[str, Any]) -> Privacy:
    """Return the differential privacy that a promise states, or raise :class:`BrokenPart`.

    Examples
    --------
    >>> stated = {"epsilon": 1, "delta": 0, "unit": "trip", "contributions": 1,
    ...           "mechanism": "discrete Laplace noise", "noise_scale": 1.0}
    >>> read_privacy(stated).figures
    '(epsilon 1)'
    """
    mechanism = stated.get("mechanism")
    kind = re.match(r"discrete (Laplace|Gaussian) noise\b", mechanism) if isinstance(mechanism, str) else None
    if kind is None or re.search(r"\d", str(mechanism)):
        raise unreadable(f"{ENTRY}.mechanism", "discrete Laplace or Gaussian noise, in words")
    if set(stated) - STATED - (OF_LAPLACE if kind[1] == "Laplace" else OF_GAUSSIAN):
        raise unreadable(ENTRY, "no more than epsilon, delta and what belongs to the noise")
    area = stated.get("study_area")
    if area is not None and not isinstance(area, str):
        raise unreadable(f"{ENTRY}.study_area", "the name of a zone")
    id_is = stated.get("id_is")
    if "id_is" in stated and (not isinstance(id_is, str) or stated.get("unit") != "traveller"):
        raise unreadable(f"{ENTRY}.id_is", "what a traveller is, where travellers are hidden")
    numbers = {**_promise(stated), **_noise(stated, kind[1])}
    return Privacy(noise=kind[1], study_area=area, id_is=id_is, **numbers)


def _promise(stated: Mapping[str, Any]) -> dict[str, Any]:
    epsilon, delta, unit, each = (stated.get(n) for n in ("epsilon", "delta", "unit", "contributions"))
    if not is_number(epsilon) or not epsilon > 0:
        raise unreadable(f"{ENTRY}.epsilon", "a number above 0")
    if not is_number(delta) or not 0 <= delta < 1:
        raise unreadable(f"{ENTRY}.delta", "a chance from 0 to below 1")
    if unit not in UNITS:
        raise unreadable(f"{ENTRY}.unit", " or ".join(UNITS))
    scaled = each is None and unit == "traveller" and bool(stated.get("norms"))
    if not scaled and (type(each) is not int or not 1 <= each < 2**53 or (unit == "trip" and each != 1)):
        raise unreadable(f"{ENTRY}.contributions", "a whole number of 1 or more; 1 where trips are hidden")
    return {"epsilon": float(epsilon), "delta": float(delta), "unit": unit, "contributions": each}


def _noise(stated: Mapping[str, Any], kind: str) -> dict[str, Any]:
    scale, threshold = stated.get("noise_scale"), stated.get("threshold", 1)
    if not is_number(scale) or not scale > 0:
        raise unreadable(f"{ENTRY}.noise_scale", "a number above 0")
    if not is_number(threshold) or not threshold >= 1:
        raise unreadable(f"{ENTRY}.threshold", "a number of 1 or more")
    numbers = {"noise_scale": float(scale), "threshold": float(threshold)}
    if kind == "Laplace":
        return {**numbers, **_scaling(stated, 1)}
    rho, heights = stated.get("rho"), stated.get("heights")
    if not is_number(rho) or not rho > 0:
        raise unreadable(f"{ENTRY}.rho", "a number above 0")
    if type(heights) is not int or not 1 <= heights < 1000:
        raise unreadable(f"{ENTRY}.heights", "a whole number of 1 or more")
    scaling = _scaling(stated, heights)
    of = stated.get("norm_heights", [])
    if not isinstance(of, list) or not all(type(one) is int and one >= 0 for one in of):
        raise unreadable(f"{ENTRY}.norm_heights", "whole numbers of 0 or more")
    if len(of) != len(scaling["norms"]) or of != sorted(set(of), reverse=True):
        raise unreadable(f"{ENTRY}.norm_heights", "one for each norm, from the study area down")
    return {**numbers, "rho": float(rho), "heights": heights, **scaling, "norm_heights": tuple(of)}


def _scaling(stated: Mapping[str, Any], heights: int) -> dict[str, tuple[float, ...]]:
    """Return what is told of travellers that are scaled; nothing where they are not."""
    lists = {name: _figures(stated, name) for name in ("multipliers", "norms")}
    if bool(lists["multipliers"]) != bool(lists["norms"]) or (
        lists["norms"] and not (len(lists["norms"]) == heights and len(lists["multipliers"]) > heights)
    ):
        raise unreadable(
            f"{ENTRY}.multipliers", "with norms, of which there is one a height, and more of them"
        )
    return lists


def _figures(stated: Mapping[str, Any], name: str) -> tuple[float, ...]:
    """Return a list of numbers above 0; none where it is not told."""
    found = stated.get(name, [])
    if not isinstance(found, list) or not all(is_number(one) and one > 0 for one in found):
        raise unreadable(f"{ENTRY}.{name}", "numbers above 0")
    return tuple(float(one) for one in found)


def too_little(privacy: Privacy) -> str | None:
    """Return why the stated noise does not give the stated epsilon and delta; None where it does.

    Examples
    --------
    >>> told = {"unit": "traveller", "contributions": 10, "noise": "Laplace", "threshold": 168}
    >>> too_little(Privacy(epsilon=1, delta=1e-6, noise_scale=10, **told)) is None
    True
    >>> too_little(Privacy(epsilon=1, delta=1e-6, noise_scale=5, **told))
    'the stated noise is too small for the stated epsilon'
    """
    if privacy.multipliers:
        return _too_little_scaled(privacy) or _too_likely(privacy)
    sensitivity, scale = privacy.contributions, privacy.noise_scale
    assert sensitivity is not None
    if privacy.noise == "Laplace":
        if scale * privacy.epsilon < sensitivity * (1 - ROUNDING_TOLERANCE):
            return "the stated noise is too small for the stated epsilon"
        return _too_likely(privacy)
    if privacy.heights * sensitivity**2 > 2 * privacy.rho * scale**2 * (1 + ROUNDING_TOLERANCE):
        return "the stated noise is too small for the stated rho"
    return _too_likely(privacy)


def _too_likely(privacy: Privacy) -> str | None:
    """Return what is wrong with the chance that the promise fails."""
    if privacy.noise == "Laplace":
        if privacy.delta and shown_by_one(privacy) > privacy.delta * (1 + ROUNDING_TOLERANCE):
            return "the stated threshold is too low for the stated delta"
        return None
    if concentrated_delta(privacy.rho, privacy.epsilon) > privacy.delta * (1 + 1e-6):
        return "the stated rho is too large for the stated epsilon and delta"
    return None


def _too_little_scaled(privacy: Privacy) -> str | None:
    """Return what is wrong with noise on travellers that are scaled.

    A draw of z times what one traveller can change is 1 / (2 z²)-zCDP with Gaussian noise and 1 / z-private
    with Laplace noise, and what draws cost adds up. The last draws are those of the heights, from the study
    area down.
    """
    if privacy.noise == "Laplace":
        spent, budget, of = math.fsum(1 / times for times in privacy.multipliers), privacy.epsilon, "epsilon"
    else:
        spent = math.fsum(1 / (2 * times**2) for times in privacy.multipliers)
        budget, of = privacy.rho, "rho"
    if spent > budget * (1 + ROUNDING_TOLERANCE):
        return f"the stated noise is too small for the stated {of}"
    finest = privacy.multipliers[-1] * privacy.norms[-1]
    if privacy.noise_scale < finest * (1 - ROUNDING_TOLERANCE):
        return "the stated noise is too small for the stated norms"
    most = privacy.contributions
    if most is not None and max(privacy.norms) > most * (1 + ROUNDING_TOLERANCE):
        return "the stated norms are longer than the stated contributions"
    return None


def shown_by_one(privacy: Privacy) -> float:
    """Return the chance that a pair is published which is there because of one person alone, at worst.

    Noise is z or more with a chance of q**z / (1 + q), for z of 1 or more and q = exp(-1 / scale). The
    person has all their trips in one such pair, or each in a pair of its own; between the two lies
    nothing worse, since the chance that a pair stays hidden is log-concave in its trips. Where travellers are
    scaled, what is counted and drawn are parts of a trip.
    """
    parts = PARTS if privacy.norms else 1
    most = round(privacy.norms[0] * PARTS) if privacy.norms else privacy.contributions
    assert most is not None
    rate, least = 1 / (privacy.noise_scale * parts), math.ceil(privacy.threshold * parts)

    def reach(trips: int) -> float:
        need = least - trips
        if need >= 1:
            return math.exp(-rate * need) / (1 + math.exp(-rate))
        return 1 - math.exp(-rate * (1 - need)) / (1 + math.exp(-rate))

    apart = 1.0 if reach(1) >= 1 else -math.expm1(most * math.log1p(-reach(1)))
    return max(reach(most), apart)


def concentrated_delta(rho: float, epsilon: float) -> float:
    """Return a delta at which rho-zCDP is (epsilon, delta)-differential privacy, as small as can be proven.

    Every order a above 1 proves one: exp((a - 1)(a rho - epsilon)) (1 - 1/a)^a / (a - 1) (Canonne, Kamath
    and Steinke 2020, corollary 13). The best is looked for by thirds, on a logarithmic scale.

    >>> 0.99e-6 < concentrated_delta(0.02435, 1.0) < 1e-6
    True
    """

    def exponent(log_step: float) -> float:
        step = math.exp(log_step)
        order = 1 + step
        return step * (order * rho - epsilon) + order * (log_step - math.log(order)) - log_step

    low, high = -30.0, 60.0
    for _ in range(300):
        third = (high - low) / 3
        left, right = low + third, high - third
        low, high = (low, right) if exponent(left) < exponent(right) else (left, high)
    return math.exp(min(exponent((low + high) / 2), 0.0))
