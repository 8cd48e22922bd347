"""Names for arrays by what they hold; widths are the business of the code that makes them."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

Ints = NDArray[Any]
Floats = NDArray[Any]
Bools = NDArray[Any]
