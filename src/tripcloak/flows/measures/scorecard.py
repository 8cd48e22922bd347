"""The scorecard: every measure of one release at once."""

from __future__ import annotations

from tripcloak.flows.measures.comparison import ReleaseComparison
from tripcloak.flows.measures.distances import displacement_of, trip_length_distance_of
from tripcloak.flows.measures.fidelity import (
    cpc_of,
    cpc_of_shares_of,
    distribution_loss_of,
    reconstruction_loss_of,
    top_flow_agreement_of,
)
from tripcloak.flows.measures.rounding import rounding_error
from tripcloak.flows.measures.sizes import (
    average_group_size_of,
    discernability_of,
    generalisation_in_time_of,
    generalisation_of,
    suppressed_share_of,
)
from tripcloak.flows.model import ODMatrix
from tripcloak.flows.release import Release
from tripcloak.promises import Volume


def measure(matrix: ODMatrix, release: Release, volume: Volume | None = None) -> dict[str, float | None]:
    """Return every measure by its symbol, always the same ones in the same order.

    G_time is there only with time, and what rounding costs only where numbers are rounded.

    None stands for a measure that does not exist here: metres where zones have no points, multiples of k
    where no k is promised. Never NaN. The values are private: they are computed from data that is not
    released.

    Examples
    --------
    >>> import numpy as np
    >>> from tripcloak.flows.methods import ODkAnon
    >>> from tripcloak.promises import KAnonymity
    >>> from tripcloak.hierarchy import Hierarchy
    >>> tree = Hierarchy.from_parents(["a", "b", "c", "d", "ab", "cd", "all"], [4, 4, 5, 5, 6, 6, -1])
    >>> matrix = ODMatrix.from_trips(tree, tree, np.array([0, 1]), np.array([2, 3]))
    >>> release = ODkAnon(promise=KAnonymity(k=2), suppression_limit=0).anonymise(matrix)
    >>> found = measure(matrix, release)
    >>> {name: found[name] for name in ("G", "E", "C_DM", "CPC", "GDM_mean")}
    {'G': 4.0, 'E': 1.0, 'C_DM': 4, 'CPC': 0.5, 'GDM_mean': None}
    """
    both = ReleaseComparison.of(matrix, release, volume)
    metres = displacement_of(both)
    return {
        "G": generalisation_of(both, "full"),
        "G_observed": generalisation_of(both, "observed"),
        **({} if release.times is None else {"G_time": generalisation_in_time_of(both)}),
        "E": reconstruction_loss_of(both),
        "D": distribution_loss_of(both),
        "S": suppressed_share_of(both),
        "C_DM": discernability_of(both),
        "C_AVG": average_group_size_of(both),
        "GDM_mean": None if metres is None else metres.mean,
        "GDM_median": None if metres is None else metres.median,
        "GDM_std": None if metres is None else metres.std,
        "CPC": cpc_of(both),
        "CPC_shares": cpc_of_shares_of(both),
        "trip_length_emd_km": trip_length_distance_of(both),
        "top_flow_agreement": top_flow_agreement_of(both),
        **_of_rounding(release),
    }


def _of_rounding(release: Release) -> dict[str, float | None]:
    found = rounding_error(release)
    return {} if found is None else {f"rounding_{name}": value for name, value in found._asdict().items()}
