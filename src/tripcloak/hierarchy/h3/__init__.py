"""The hexagons of H3: cells as arrays, points to cells, tilings in steps of seven and of two."""
