"""Study area: what noisy methods take as known must not follow from where the data lie."""

from __future__ import annotations

from tripcloak.algorithms import Algorithm
from tripcloak.errors import InputError
from tripcloak.workflow.reading import Place


def refuse_area_of_data(algorithm: Algorithm, place: Place) -> None:
    """Raise if a noisy method would take its study area from the data: one far trip would show in it.

    Examples
    --------
    >>> from tripcloak.algorithms import METHODS
    >>> refuse_area_of_data(METHODS["laplace"](epsilon=1.0), Place(spec="quadtree:8"))
    Traceback (most recent call last):
    tripcloak.errors.InputError: laplace needs a study area that does not follow from the data: give ...
    """
    if algorithm.noisy and place.area is None and place.spec.strip().lower().startswith("quadtree"):
        raise InputError(
            f"{algorithm.name} needs a study area that does not follow from the data: give --area "
            "SOUTH,WEST,NORTH,EAST, chosen without looking at the trips"
        )
