"""What a text is made smaller for, and what must survive it (R178, R179)."""

from __future__ import annotations

from contextport.contracts.summary import Hint
from contextport.strategies.summaries.instruction_texts import hint_text

__all__ = ["Hint", "instruction_for"]


def instruction_for(hint: Hint, limit: str) -> str:
    """The instruction for a model that makes a text smaller; `limit` is how long the result may be, such as `800 characters`."""
    return (
        f"Rewrite the text in at most {limit}. Add nothing that the text does not say, and answer with the rewritten text alone. "
        f"{hint_text(hint)}"
    )
