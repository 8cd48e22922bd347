"""scikit-mobility's attacks, run by the Python of their own environment; tripcloak is not there.

python attacker_tasks.py VISITS.csv KNOWN TOLERANCE
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from typing import Any

import pandas as pd
import skmob
from skmob.privacy import attacks


class HomeWork(attacks.HomeWorkAttack):  # type: ignore[misc]
    """The two places visited most, as the paper has it; the package's own order begins with the least."""

    def assess_risk(self, traj: Any, *told: Any, **more: Any) -> Any:
        """Return the risk of everybody."""
        visits = attacks.frequency_vector(traj)
        order = ["uid", "freq", "lat", "lng"]
        return self._all_risks(visits.sort_values(order, ascending=[True, False, True, True]), None)


def main(path: str, known: int, tolerance: float) -> dict[str, Any]:
    """Return what each attack costs, and the risks it finds."""
    warnings.filterwarnings("ignore")
    table = pd.read_csv(path)
    table["datetime"] = pd.to_datetime(table["seconds"], unit="s")
    visits = skmob.TrajDataFrame(table, latitude="x", longitude="y", user_id="user", datetime="datetime")
    chosen = {
        "location": attacks.LocationAttack(known),
        "location-sequence": attacks.LocationSequenceAttack(known),
        "location-time": attacks.LocationTimeAttack(known, "Day"),
        "unique-location": attacks.UniqueLocationAttack(known),
        "location-frequency": attacks.LocationFrequencyAttack(known, tolerance),
        "location-probability": attacks.LocationProbabilityAttack(known, tolerance),
        "location-proportion": attacks.LocationProportionAttack(known, tolerance),
        "home-work": HomeWork(),
    }
    found = {}
    for kind, attack in chosen.items():
        started = time.process_time()
        risks = attack.assess_risk(visits[["lat", "lng", "datetime", "uid"]])
        found[kind] = {
            "cpu_s": time.process_time() - started,
            "risk": risks.sort_values("uid")["risk"].tolist(),
        }
    return found


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]))))
