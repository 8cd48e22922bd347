"""Attacks with partial knowledge: how unique people are, before and after a release."""

from tripcloak.trajectories.attacks.attack import ATTACKS, Attack, AttackResult, attack

__all__ = ["ATTACKS", "Attack", "AttackResult", "attack"]
