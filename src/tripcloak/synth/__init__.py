"""Made-up mobility data: a seeded city of trips, a seeded survey of GPS points, seeded call detail records.

Nobody in it exists, so it can be shown, shared and measured on. See ``docs/synth.md``.
"""

from tripcloak.synth.cdr import Cdr
from tripcloak.synth.city import City
from tripcloak.synth.survey import Survey
from tripcloak.synth.writing import write_cdr, write_city, write_survey

__all__ = ["Cdr", "City", "Survey", "write_cdr", "write_city", "write_survey"]
