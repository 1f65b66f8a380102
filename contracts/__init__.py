"""Ports, values and errors of contextport."""
