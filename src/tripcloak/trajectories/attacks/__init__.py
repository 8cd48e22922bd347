"""Attacks with partial knowledge: how unique people are, before and after a release."""

from tripcloak.trajectories.attacks.attack import attack
from tripcloak.trajectories.attacks.registry import ATTACKS, Attack
from tripcloak.trajectories.attacks.result import AttackResult

__all__ = ["ATTACKS", "Attack", "AttackResult", "attack"]
