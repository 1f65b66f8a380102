"""Compaction that others wrote, behind our port, under our conformance suite."""
