"""Where a map of trajectories looks first."""

from __future__ import annotations

import numpy as np

from tripcloak.trajectories.release.presenting import middles
from tripcloak.trajectories.release.release import Boxes


def test_a_map_looks_at_the_middles_of_boxes() -> None:
    x0, y0 = np.array([10, 20, 30]), np.array([-4, -4, -4])
    east, north = middles(Boxes(x0 * 0, x0 * 0 + 1, x0, x0 + 2, y0, y0 + 8))
    assert (east.round(6).tolist(), north.tolist()) == ([11.2, 30.8], [0.0, 0.0])
