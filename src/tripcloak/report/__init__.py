"""What people look at: offline pages drawn from the public part of a release."""

from __future__ import annotations

from tripcloak.report.map import render_map

__all__ = ["render_map"]
