"""Bringing back what a question needs: how passages are ranked, what fits, how it is quoted for a model."""

from .retrieve_older import RetrieveOlder
from .snippets_message import snippets_message

__all__ = ["RetrieveOlder", "snippets_message"]
