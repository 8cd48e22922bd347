"""Files: tables in, tables out, releases written whole or not at all."""
