"""Reading flows: from clean records to the OD matrix, within a memory limit."""
