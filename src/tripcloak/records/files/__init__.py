"""Files: from paths, archives and tables in memory to columns, and how those are written."""
