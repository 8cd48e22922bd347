"""`python -m tripcloak.cli`."""

from tripcloak.cli import main

main()
