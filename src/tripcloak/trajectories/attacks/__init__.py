"""Attacks with partial knowledge: how unique people are, before and after a release."""

from tripcloak.trajectories.attacks.attack import ATTACKS, Attack, attack
from tripcloak.trajectories.attacks.result import AttackResult

__all__ = ["ATTACKS", "Attack", "AttackResult", "attack"]
