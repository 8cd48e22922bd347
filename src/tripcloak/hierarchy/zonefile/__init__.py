"""Zones that a file describes: reading them, finding the zone of a point, trees over them."""
