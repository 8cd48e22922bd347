"""Audit: the independent re-check of a release, with SQL of its own.

Shares no code with the algorithms or the measures; an auditor that did would prove nothing.
"""

from tripcloak.audit.findings import AuditReport
from tripcloak.audit.folder import audit_files, audit_folder
from tripcloak.audit.matrix import audit_matrix
from tripcloak.findings import Finding

__all__ = ["AuditReport", "Finding", "audit_files", "audit_folder", "audit_matrix"]
