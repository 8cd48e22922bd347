"""k-merge: any number of trajectories into one generalised trajectory, at the least cost there is."""

from tripcloak.trajectories.merging.kmerge import Merged, k_merge, merge_sets, pair_costs

__all__ = ["Merged", "k_merge", "merge_sets", "pair_costs"]
