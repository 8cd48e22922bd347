"""Criteria: when is a group of flows safe to release."""

from tripcloak.criteria.kanonymity import AllOf, Criterion, KAnonymity

__all__ = ["AllOf", "Criterion", "KAnonymity"]
