"""The methods that the contract is held against, two of them in a form that can meet what is drawn."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import currently_in_test_context, reject

from tripcloak.flows.methods import METHODS, ATGSoft, FlowMethod, Suppression
from tripcloak.flows.model import ODMatrix, group_flows
from tripcloak.flows.release import Release, main_volume
from tripcloak.ground.errors import ImpossibleRequestError
from tripcloak.ground.progress import Progress, silent


@dataclass(frozen=True, kw_only=True)
class DearSoft(ATGSoft):
    """ATG-Soft at a price that nothing here exceeds: a tenth of a tiny map would suppress everything."""

    multiplier: float | None = 1e15


@dataclass(frozen=True, kw_only=True)
class HonestSuppression(Suppression):
    """Suppression alone cannot meet every request: where it refuses it has to be right, and that is that."""

    def anonymise(self, matrix: ODMatrix, progress: Progress = silent) -> Release:
        """Return its release; leave out requests that it rightly says are too much for it."""
        try:
            return super().anonymise(matrix, progress)
        except ImpossibleRequestError as refusal:
            if "tiles as they are" not in str(refusal):
                raise
            assert self._too_much(matrix), "it refused what it could have done"
        if currently_in_test_context():
            reject()
        pytest.skip("suppression alone withholds more than this limit, and says so")

    def _too_much(self, matrix: ODMatrix) -> bool:
        promise, rows = self.promise.resolve(matrix), np.arange(matrix.n_flows)
        unsafe = []
        for row in rows:
            groups = group_flows(matrix, matrix.flows.origin, matrix.flows.destination, keep=rows == row)
            assert groups is not None
            unsafe.append(not promise.safe(groups).all())
        volume = matrix.volume(main_volume(promise))
        return float(volume[unsafe].sum()) > self.suppression_limit * float(volume.sum())


# Methods whose protection is noise promise other things: they have a contract of their own.
EXACT = {name: method for name, method in METHODS.items() if not method.noisy}
HELD_TO_IT: dict[str, type[FlowMethod]] = {**EXACT, "atg-soft": DearSoft, "suppression": HonestSuppression}
