"""Suites that prove that an adapter keeps the rules of its port."""
