"""Stores: where the log of each session is kept. `MemoryContextStore` for one process, `SqliteContextStore` for one file."""
