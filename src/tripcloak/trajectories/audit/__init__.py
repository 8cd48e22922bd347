"""The audit of released trajectories: its own counting, none of the methods' code."""

from tripcloak.findings import Finding
from tripcloak.trajectories.audit.findings import TrajectoryAudit
from tripcloak.trajectories.audit.folder import audit_folder
from tripcloak.trajectories.audit.memory import audit_release

__all__ = ["Finding", "TrajectoryAudit", "audit_folder", "audit_release"]
