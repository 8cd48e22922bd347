"""What is protected: --k, --unit, --k-population, --l, --t, --dominance and the like as one promise."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tripcloak.ground.errors import InputError
from tripcloak.ground.spelling import called, spelt

if TYPE_CHECKING:
    from tripcloak.flows.methods import FlowMethod
    from tripcloak.flows.release.rounding import RoundTo
    from tripcloak.promises import Promise, Volume

AUTO = "auto"
LEAST_SECRET = 16
"""Characters of a secret: fewer could be guessed."""


def asked_promise(
    k: float,
    unit: str | None,
    tiles: int | None = None,
    places: int | None = None,
    *,
    k_population: str | None = None,
    t: float | None = None,
    dominance: float | None = None,
    p_percent: float | None = None,
    secret: str | None = None,
    hide_up_to: int = 2,
) -> Promise:
    """Return the promise that the options ask for.

    A group must reach k of every unit; on population, it must reach --k-population. Without that
    option k counts population only where nothing else is counted: one number cannot mean both ten
    travellers and ten of the people that travellers stand for. With a secret choices are hidden by it.

    >>> asked_promise(10, "travellers,population", k_population="26742").sentence()
    'at least 10 travellers and at least 26,742 population'
    >>> asked_promise(500, "population").sentence()
    'at least 500 population'
    >>> asked_promise(10, "population", k_population="auto").sentence()
    'at least the population that 10 average people stand for'
    """
    from tripcloak.promises import Dominance, KAnonymity, LDiversity, PPercent, TCloseness, all_of

    k = _whole(k)
    units = _units(unit, k_population)
    parts: list[Promise] = [
        _on_population(k, k_population)
        if name == "population" and k_population is not None
        else KAnonymity(k=k, unit=name)  # type: ignore[arg-type]
        for name in units
    ]
    if tiles is not None:
        parts.append(LDiversity(l=tiles))
    if places is not None:
        parts.append(LDiversity(l=places, of="places"))
    if t is not None:
        parts.append(TCloseness(t=t))
    shared = _shared(units)
    if dominance is not None:
        parts.append(Dominance(share=dominance, of=shared))
    if p_percent is not None:
        parts.append(PPercent(p=p_percent, of=shared))
    if secret is not None:
        parts.append(_hidden(k, units, k_population, secret, hide_up_to))
    return all_of(parts)


def _hidden(k: float, units: list[str | None], k_population: str | None, secret: str, times: int) -> Promise:
    """Return thresholds above k that are drawn by a secret."""
    from tripcloak.promises import HiddenChoices

    if units[0] == "population" and k_population is not None:
        raise InputError(
            f"{spelt('hide_choices')} draws thresholds above k on travellers or trips; ask for one of them "
            f"too ({spelt('unit', 'travellers,population')})"
        )
    return HiddenChoices(k=k, unit=units[0], times=times, secret=secret)  # type: ignore[arg-type]


def _shared(units: list[str | None]) -> tuple[Volume, ...]:
    """Return what one traveller may have too much of: the volumes that will be published."""
    shared: list[Volume] = ["trips"] if set(units) - {"population"} else []
    return (*shared, "population") if "population" in units else tuple(shared)


def _units(unit: str | None, k_population: str | None) -> list[str | None]:
    """Return the units to count; None is the one that the input suggests."""
    if unit is None:
        return [None] if k_population is None else [None, "population"]
    units: list[str | None] = [name.strip() for name in unit.split(",")]
    if k_population is not None and "population" not in units:
        raise InputError(
            f"{spelt('k_population')} goes with {spelt('unit', 'population')} or "
            f"{spelt('unit', 'travellers,population')}; got {spelt('unit', unit)}"
        )
    if k_population is None and "population" in units and len(units) > 1:
        raise InputError(
            "k counts travellers or trips; say how much population a flow needs as well: "
            f"{spelt('k_population', 'N')}, or {spelt('k_population', 'auto')} for k times the mean weight"
        )
    return units


def _on_population(k: float, text: str | None) -> Promise:
    from tripcloak.promises import AveragePeople, KAnonymity

    if text is not None and text.strip().lower() == AUTO:
        return AveragePeople(k=k)
    try:
        number = float(text or "")
    except ValueError:
        raise InputError(
            f"{called('k_population')} takes a number of people or auto (k times the mean weight); got "
            f"{text!r}"
        ) from None
    return KAnonymity(k=_whole(number), unit="population")


def _whole(k: float) -> float:
    return int(k) if float(k).is_integer() else k


def hiding_secret(given: Mapping[str, Any]) -> str | None:
    """Return the secret that choices are hidden by: that of a file, or a new one; None where none are hidden.

    >>> len(hiding_secret({"hide_choices": True, "secret": None}))
    64
    """
    if not given["hide_choices"]:
        if given["secret"] is not None and given.get("round") is None:
            raise InputError(
                f"{called('secret')} goes with {spelt('hide_choices', True)} or {spelt('round', 'BASE')}"
            )
        return None
    return _secret(given["secret"])


def round_to(given: Mapping[str, Any], method: FlowMethod) -> RoundTo | None:
    """Return what numbers are rounded to, from the values of keywords; None where they are not.

    Parameters
    ----------
    method
        The method that is asked for; where it hides its choices by a secret, that one rounds too.
    """
    from tripcloak.flows.release.rounding import RoundTo

    if given.get("round") is None:
        return None
    if method.noisy:
        raise InputError(f"{method.name} publishes noisy trips; leave out {spelt('round', given['round'])}")
    known = method.promise.private_facts.get("secret")
    return RoundTo(given["round"], _secret(given["secret"]) if known is None else known)


def _secret(file: Any) -> str:
    """Return the secret in a file, or a new one."""
    if file is None:
        return secrets.token_hex(32)
    try:
        text = Path(file).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        raise InputError(f"{called('secret')} names a file that cannot be read as text") from None
    if len(text) < LEAST_SECRET:
        raise InputError(
            f"a secret has {LEAST_SECRET} characters or more; that of {called('secret')} is shorter"
        )
    return text
