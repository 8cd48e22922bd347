"""The audit of released trajectories: its own counting, none of the methods' code."""

from tripcloak.ground.rulebook import Finding
from tripcloak.trajectories.audit.folder import audit_folder
from tripcloak.trajectories.audit.memory import audit_release
from tripcloak.trajectories.audit.report import TrajectoryAudit

__all__ = ["Finding", "TrajectoryAudit", "audit_folder", "audit_release"]
