"""The descent: from the roots downwards, every product of zones whose flows are safe together."""

from tripcloak.algorithms.descent.rows import Axis, Descent, Found, pack

__all__ = ["Axis", "Descent", "Found", "pack"]
