"""The wing of flows: from trips to a released origin-destination matrix."""
