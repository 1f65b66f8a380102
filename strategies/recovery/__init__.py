"""After a limit was hit: a smaller window for a request that was too large, and the rest of an answer that was cut."""

from .answer_state import ContinuedOutput, Discarded, Need, Unfinished
from .continuation import complete_output, continue_output
from .directives import Directives
from .next_step import ContinuationPolicy
from .request_sizes import RequestSizes
from .responder import Answer, Responder
from .smaller_window import recover, recover_bytes
from .stored_answer import dump_unfinished, load_unfinished

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
    "dump_unfinished",
    "load_unfinished",
    "recover",
    "recover_bytes",
]
