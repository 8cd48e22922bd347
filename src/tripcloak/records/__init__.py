"""Records: from files to clean trips and fixes, with a count of what was dropped and why."""
