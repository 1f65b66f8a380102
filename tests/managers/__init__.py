"""Tests of the context managers."""
