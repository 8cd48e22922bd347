"""The audit of released trajectories: its own counting, none of the methods' code."""

from tripcloak.ground.rulebook import Finding, Verdict
from tripcloak.trajectories.audit.folder import audit_folder, audit_public
from tripcloak.trajectories.audit.memory import audit_release

__all__ = ["Finding", "Verdict", "audit_folder", "audit_public", "audit_release"]
