"""k^m-anonymity by apriori: first every item alone, then every pair of items, and so on."""

from tripcloak.algorithms.km_apriori.apriori import KMApriori

__all__ = ["KMApriori"]
