"""What NIST's scorer says, run by the Python of its own environment; tripcloak is not there.

python contest_tasks.py METRIC.py TRUTH.csv SYNTHETIC.csv
"""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from typing import Any


def scored(file: str, truth: str, made: str) -> dict[str, Any]:
    """Return the three parts and the score, and from how many records on the scorer penalises."""
    spec = importlib.util.spec_from_file_location("metric", file)
    assert spec is not None
    assert spec.loader is not None
    metric = importlib.util.module_from_spec(spec)
    # Its parallel part looks for its own functions by this name.
    sys.modules["metric"] = metric
    spec.loader.exec_module(metric)
    parts: list[float] = []
    original = metric.TidyFormatKMarginalMetric.overall_score

    def noted(self: Any) -> Any:
        score = original(self)
        parts.extend([*self.report.values(), score])
        return score

    metric.TidyFormatKMarginalMetric.overall_score = noted
    metric.score_submission(Path(truth), Path(made), None, None, 1)
    cutoff = getattr(metric, "K_MARGINAL_BIAS_PENALTY_CUTOFF", None)
    return {"parts": [float(part) for part in parts], "cutoff": cutoff}


if __name__ == "__main__":
    print(json.dumps(scored(*sys.argv[1:])))
