"""Made-up mobility data: a seeded city of trips, and a seeded survey of GPS points with weights.

Nobody in it exists, so it can be shown, shared and measured on. See ``docs/synth.md``.
"""

from tripcloak.synth.city import City
from tripcloak.synth.survey import Survey
from tripcloak.synth.writing import write_city, write_survey

__all__ = ["City", "Survey", "write_city", "write_survey"]
