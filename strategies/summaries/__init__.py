"""Summaries: what writes them, what checks them, and the message that carries one."""
