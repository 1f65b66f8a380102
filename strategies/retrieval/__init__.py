"""Bringing back what a question needs: how what was found is quoted for a model."""

from .snippets_message import snippets_message

__all__ = ["snippets_message"]
