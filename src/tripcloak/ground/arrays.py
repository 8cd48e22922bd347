"""Names for arrays by what they hold, and the few forms in which kernels are given them.

Widths are the business of the code that makes arrays. But a kernel is compiled anew for every width, for what
may be written to and what not, and for arrays with gaps: whoever asks one gives it one form of all.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[Any]
Floats = NDArray[Any]
Bools = NDArray[Any]


def to_read(array: NDArray[Any]) -> NDArray[Any]:
    """Return the same numbers without gaps and not to be written to; copied only where there are gaps.

    >>> told = to_read(np.arange(6)[::2])
    >>> told.tolist(), told.flags.c_contiguous, told.flags.writeable
    ([0, 2, 4], True, False)
    """
    view = np.ascontiguousarray(array).view()
    view.flags.writeable = False
    return view


def narrowed(*columns: NDArray[Any]) -> list[NDArray[Any]]:
    """Return columns to read, of one width: 32 bits for whole numbers that fit, else 64; or doubles.

    >>> [column.dtype.name for column in narrowed(np.array([3, 1 << 31]), np.array([0]))]
    ['int64', 'int64']
    >>> narrowed(np.array([3, 5]))[0].dtype.name, narrowed(np.array([3]), np.array([0.5]))[0].dtype.name
    ('int32', 'float64')
    """
    kind = np.result_type(*columns)
    if kind.kind == "f":
        width: type[np.generic] = np.float64
    else:
        least, most = np.iinfo(np.int32).min, np.iinfo(np.int32).max
        fits = all(not len(one) or (least <= one.min() and one.max() <= most) for one in columns)
        width = np.int32 if fits else np.int64
    return [to_read(np.asarray(one, width)) for one in columns]
