"""Made-up mobility data: a seeded city with homes, work places, repeat trips and hotspots.

Nobody in it exists, so it can be shown, shared and measured on. See ``docs/synth.md``.
"""

from tripcloak.synth.city import City
from tripcloak.synth.writing import write_city

__all__ = ["City", "write_city"]
