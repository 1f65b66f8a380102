"""Tests of the command `contextport`."""
