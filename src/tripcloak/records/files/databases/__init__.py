"""Tables of databases as inputs: PostgreSQL, with PostGIS or without, and DuckDB files."""
