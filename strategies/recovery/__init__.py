"""After a limit was hit: a smaller window for a request that was too large, and the rest of an answer that was cut."""

from .answer_state import ContinuedOutput, Discarded, Need, Unfinished
from .continuation import complete_output, continue_output
from .directives import Directives
from .next_step import ContinuationPolicy
from .request_sizes import RequestSizes
from .responder import Answer, Responder
from .smaller_window import recover, recover_bytes

__all__ = [
    "Answer",
    "ContinuationPolicy",
    "ContinuedOutput",
    "Directives",
    "Discarded",
    "Need",
    "RequestSizes",
    "Responder",
    "Unfinished",
    "complete_output",
    "continue_output",
    "recover",
    "recover_bytes",
]
