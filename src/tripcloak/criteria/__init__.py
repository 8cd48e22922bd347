"""Criteria: when is a group of flows safe to release."""

from tripcloak.criteria.allof import AllOf
from tripcloak.criteria.kanonymity import Criterion, KAnonymity
from tripcloak.criteria.ldiversity import LDiversity

__all__ = ["AllOf", "Criterion", "KAnonymity", "LDiversity"]
