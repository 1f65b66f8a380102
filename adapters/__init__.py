"""Adapters: the ports of contextport bound to one technology each."""
