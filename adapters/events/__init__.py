"""Receivers of events: a logger, a file of JSON lines, a list."""
