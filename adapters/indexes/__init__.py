"""Adapters of `VectorIndex` and `LexicalIndex`, a module per technology."""
