"""Our own strategies through the same runner, as the last rows of the scoreboard."""

from __future__ import annotations

from contextport.contracts import TokenCounter
from contextport.strategies import KeepRecentTokens, KeepRecentTurns, Pipeline, ShortenLongMessages

__all__ = ["STRATEGIES"]


def _pipeline(counter: TokenCounter) -> Pipeline:
    return Pipeline(ShortenLongMessages(counter), KeepRecentTokens(counter))


#: Configuration as it is called in the scoreboard -> how to make it.
STRATEGIES = {
    "KeepRecentTokens(counter)": KeepRecentTokens,
    "KeepRecentTurns(counter)": KeepRecentTurns,
    "ShortenLongMessages(counter)": ShortenLongMessages,
    "Pipeline(ShortenLongMessages(counter), KeepRecentTokens(counter))": _pipeline,
}
