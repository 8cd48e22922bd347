"""The studio: a local web page for people who never open a terminal, and the HTTP API that it uses."""
