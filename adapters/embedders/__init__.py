"""Adapters of `Embedder`, a module per library."""
