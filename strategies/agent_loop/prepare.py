"""The guard at the top of each iteration of an agent loop: messages that fit, and a report (R88, R101, R191, R194)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import attrs
from attrs import frozen

from contextport.contracts import (
    Budget,
    BudgetTooSmall,
    Compression,
    CompressionStrategy,
    Json,
    Message,
    Part,
    Shortening,
    Text,
    TokenCounter,
    ToolResult,
)
from contextport.contracts.counting import total_tokens
from contextport.contracts.profile import ProviderProfile
from contextport.strategies.arguments import check_count
from contextport.strategies.atoms import is_system, newest_question
from contextport.strategies.keep_recent_tokens import KeepRecentTokens
from contextport.strategies.pipeline import Pipeline
from contextport.strategies.provider_rules import repair
from contextport.strategies.shorten_long_messages import ShortenLongMessages

from .fit_text import FitPolicy, fit_text
from .hints import Hint

__all__ = ["MAX_MESSAGE_CHARS", "Prepared", "prepare"]

MAX_MESSAGE_CHARS = 50_000  # R101
_ROUNDS = 8  # compressions with a profile, each for less, since a repair may add words
_LESS = 0.9


@frozen(kw_only=True)
class Prepared:
    """What to send, and what was done to get there. Tokens are by the counter given, without tools."""

    messages: tuple[Message, ...]
    hint: Hint
    tokens_before: int
    tokens: int
    limit: int
    truncated: tuple[Shortening, ...] = ()
    shortened: tuple[Shortening, ...] = ()
    omitted: tuple[str, ...] = ()
    reason: str = ""

    @property
    def changed(self) -> bool:
        """Whether the messages are others than those given. They are then the base of the next iteration (R194)."""
        return bool(self.truncated or self.shortened or self.omitted or self.reason)


async def prepare(
    messages: Sequence[Message],
    budget: Budget | int,
    hint: Hint | str = Hint.GENERAL,
    *,
    counter: TokenCounter,
    strategy: CompressionStrategy | Mapping[Hint, CompressionStrategy] | None = None,
    tools: Sequence[Json] = (),
    profile: ProviderProfile | None = None,
    max_message_chars: int = MAX_MESSAGE_CHARS,
) -> Prepared:
    """Messages that fit `budget`: a budget, or the tokens for all messages. Nothing is kept between calls.

    1. What fits comes back at once, as it is (R88), or made valid for the provider of `profile`.
    2. Texts of over `max_message_chars` characters are cut, with `[Truncated]` at their end; system messages are not.
    3. What is still too large is compressed by `strategy`: one, or one per hint; else long messages are shortened and the oldest
       steps left out.

    What was compressed is made valid for that provider, too. Raises `BudgetTooSmall` with the numbers when system messages and
    the newest question alone are too large.
    """
    check_count("max_message_chars", max_message_chars)
    purpose = Hint.of(hint)
    before = total_tokens(messages, counter)
    limit = _limit(messages, budget, counter, tools)
    valid = messages if profile is None else repair(messages, profile, tools=tools).messages
    tokens = total_tokens(valid, counter)
    if tokens <= limit:
        mended = "" if profile is None or tuple(valid) == tuple(messages) else f"made valid for {profile.name}"
        return Prepared(messages=tuple(valid), hint=purpose, tokens_before=before, tokens=tokens, limit=limit, reason=mended)
    cut = tuple([_truncated(message, n, messages, max_message_chars) for n, message in enumerate(messages)])
    truncated = tuple([Shortening(a.id, len(a.text), len(b.text)) for a, b in zip(messages, cut, strict=True) if a is not b])
    chosen, aim = _strategy(strategy, purpose, counter), limit
    result, window = await _compressed(chosen, cut, aim, profile, tools)
    tokens = total_tokens(window, counter)
    for _ in range(0 if profile is None else _ROUNDS):
        aim = min(aim - (tokens - limit), int(aim * _LESS))
        if tokens <= limit or aim <= 0:
            break
        result, window = await _compressed(chosen, cut, aim, profile, tools)
        tokens = total_tokens(window, counter)
    if tokens > limit:
        raise BudgetTooSmall(
            f"the smallest legal list of messages takes {tokens} tokens and {limit} fit: shorten the system prompt or the newest "
            "message, or use a larger window",
            needed=tokens,
            available=limit,
        )
    return Prepared(
        messages=window,
        hint=purpose,
        tokens_before=before,
        tokens=tokens,
        limit=limit,
        truncated=truncated,
        shortened=result.shortened,
        omitted=result.omitted,
        reason=result.reason,
    )


async def _compressed(
    strategy: CompressionStrategy, messages: Sequence[Message], limit: int, profile: ProviderProfile | None, tools: Sequence[Json]
) -> tuple[Compression, tuple[Message, ...]]:
    """What the strategy makes of the messages, and the same as the provider takes it."""
    result = await strategy.compress(messages, limit)
    return result, result.messages if profile is None else repair(result.messages, profile, tools=tools).messages


def _limit(messages: Sequence[Message], budget: Budget | int, counter: TokenCounter, tools: Sequence[Json]) -> int:
    """Tokens for all messages, system messages included."""
    if not isinstance(budget, Budget):
        check_count("budget", budget)
        return max(0, budget - counter.count_tools(tools))
    system = total_tokens([message for message in messages if is_system(message)], counter)
    return max(0, budget.room(system=system, tools=counter.count_tools(tools)) + system)


def _strategy(
    given: CompressionStrategy | Mapping[Hint, CompressionStrategy] | None, hint: Hint, counter: TokenCounter
) -> CompressionStrategy:
    chosen = given.get(hint) if isinstance(given, Mapping) else given
    return Pipeline(ShortenLongMessages(counter), KeepRecentTokens(counter)) if chosen is None else chosen


def _truncated(message: Message, n: int, messages: Sequence[Message], most: int) -> Message:
    """The message with its overlong texts cut; the newest question keeps head and tail, since either may be what is asked.

    All its texts together are what is measured. The longest of them are cut.
    """
    texts = [text for part in message.parts for text in _texts_in(part)]
    if is_system(message) or sum(map(len, texts)) <= most:
        return message
    policy: FitPolicy = "head_and_tail" if n == newest_question(messages) else "head"
    cut = iter(_cut_to(texts, most, policy))
    return attrs.evolve(message, parts=tuple([_with_texts(part, cut) for part in message.parts]))


def _texts_in(part: Part) -> list[str]:
    if type(part) is Text:
        return [part.text]
    return [inner.text for inner in part.parts if type(inner) is Text] if type(part) is ToolResult else []


def _cut_to(texts: list[str], most: int, policy: FitPolicy) -> list[str]:
    """The texts within `most` characters in all: the longest are cut to one length, each with a mark."""
    left, longest = most, 0
    for done, size in enumerate(sorted(map(len, texts))):
        longest = left // (len(texts) - done)
        if size > longest:
            break
        left -= size
    return [fit_text(text, longest, policy) if len(text) > longest > 0 else text[:longest] for text in texts]


def _with_texts(part: Part, texts: Iterator[str]) -> Part:
    """The part with the next of `texts` in place of its own."""
    if type(part) is Text:
        return _with_text(part, texts)
    if type(part) is ToolResult:
        return attrs.evolve(part, parts=tuple([_with_text(p, texts) if type(p) is Text else p for p in part.parts]))
    return part


def _with_text(part: Text, texts: Iterator[str]) -> Text:
    text = next(texts)
    return part if text == part.text else attrs.evolve(part, text=text)
