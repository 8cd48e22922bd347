"""One page that tells a decision maker everything about a release, in public and for its owner."""
