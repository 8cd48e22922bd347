"""`python -m tripcloak`: the command line, where its script is not on the path."""

from tripcloak.cli import main

main()
