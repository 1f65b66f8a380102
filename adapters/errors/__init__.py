"""Readers of what providers, gateways and local servers answer instead of a completion."""
