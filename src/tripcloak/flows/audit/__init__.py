"""Audit: the independent re-check of a release, with SQL of its own.

Shares no code with the methods or the measures; an auditor that did would prove nothing.
"""

from tripcloak.flows.audit.folder import audit_files, audit_folder, audit_public
from tripcloak.flows.audit.matrix import audit_matrix
from tripcloak.ground.rulebook import Finding, Verdict

__all__ = ["Finding", "Verdict", "audit_files", "audit_folder", "audit_matrix", "audit_public"]
