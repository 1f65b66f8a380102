"""What an agent loop is built on: a guard before each call, texts within limits, and messages that the host makes itself."""

from .agent_messages import cancelled_results, child_session_id, interrupt, open_child_session
from .compact_text import CompactedText, compact_text
from .fit_text import FitPolicy, fit_text
from .hints import Hint
from .prepare import Prepared, prepare

__all__ = [
    "CompactedText",
    "FitPolicy",
    "Hint",
    "Prepared",
    "cancelled_results",
    "child_session_id",
    "compact_text",
    "fit_text",
    "interrupt",
    "open_child_session",
    "prepare",
]
