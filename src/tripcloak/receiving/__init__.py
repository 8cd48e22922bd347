"""Receiving: what somebody who was given a release can find out about it, without the raw data."""
