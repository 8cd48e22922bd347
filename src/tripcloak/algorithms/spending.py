"""What is left of the limit, spent on the released groups that are worse than the mean."""

from __future__ import annotations

import numpy as np

from tripcloak.algorithms.products import SafeProducts
from tripcloak.arrays import Ints

EVEN = 1 + 1e-9
"""A group is worse than the mean when it is so by more than sums are rounded."""


def worst_that_fit(products: SafeProducts, released: Ints, budget: float) -> Ints:
    """Return the released products to suppress as well: the worst first, while they fit and the mean falls.

    Parameters
    ----------
    released
        All products that are released; what they do not hold is suppressed already.
    budget
        The volume that may be suppressed in all.
    """
    loss, volume = products.loss[released], products.volume[released]
    kept = float(volume.sum())
    lost, left = float(loss @ volume), budget - (products.total - kept)
    gone = []
    # Invariant: `kept` and `lost` are the volume and the loss of what is still released.
    for p in np.argsort(-loss, kind="stable").tolist():
        if left <= 0 or loss[p] * kept <= lost * EVEN:
            break
        if volume[p] <= left:
            gone.append(released[p])
            left, kept, lost = left - volume[p], kept - volume[p], lost - loss[p] * volume[p]
    return np.array(gone, dtype=np.int64)
