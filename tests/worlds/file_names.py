"""Names that files and folders may have, and that some library takes for something else."""

from __future__ import annotations

ODD_NAMES = (
    "a*b",
    "q?",
    "[x]",
    "[!x]",
    "[a-z]",
    "[",
    "]",
    "{a,b}",
    "!",
    "\\",
    "b\\s",
    "b\\*",
    "it's",
    "100%",
    "%41",
    "~",
    "~root",
    "sp ace",
    "new\nline",
    "-dash",
    "**",
    "s3:",
    "file:",
    "sex=F",
    "\u00e9",
)

ALL_AT_ONCE = "~*?[!x]{a,b}\\it's 100%\n="
"""All of them in one name."""
