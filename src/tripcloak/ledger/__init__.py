"""Many releases of the same people: what they tell together, and how it is kept from telling too much."""
