"""The rules of `ContextManager`."""
