"""Facts of a conversation: found in what was said, kept in a ledger, shown beside the window, found again for a question."""

from .exact_values import exact_values
from .extract import extract_facts
from .facts_message import facts_message
from .fragment import fragment_of
from .ledger import merged
from .questions import FactIndex, facts_asked

__all__ = ["FactIndex", "exact_values", "extract_facts", "facts_asked", "facts_message", "fragment_of", "merged"]
