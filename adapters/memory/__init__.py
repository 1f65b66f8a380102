"""Long-term memories: what was said for good, beyond its session. `SqliteLongTermMemory` keeps it in one file."""
