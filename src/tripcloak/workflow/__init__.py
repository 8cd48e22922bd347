"""The whole road in one call: read, anonymise, audit, measure, write."""
