"""Adapters of `Retriever`, a module per source of what is found."""
