"""Fold the oldest steps of a conversation into one summary and a ledger of facts (R111, R115, R118, R130)."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Sequence

import attrs
from attrs import field, frozen

from contextport.contracts import (
    Compression,
    CompressionStrategy,
    FactLedger,
    Fold,
    FoldsHistory,
    Hint,
    InvalidArgument,
    Json,
    KeepsLatest,
    KeepsPins,
    Kind,
    Message,
    Summarizer,
    Summary,
    SummaryFailed,
    SummaryRequest,
    TokenCounter,
    implements,
    ledger_of,
    message_tokens,
    verify,
)
from contextport.contracts.counting import total_tokens
from contextport.strategies.arguments import check_count
from contextport.strategies.atoms import MEMORY, arrange, is_system, split
from contextport.strategies.facts import extract_facts, facts_message, merged
from contextport.strategies.keep_recent_tokens import KeepRecentTokens, unchanged
from contextport.strategies.summaries import CheckedSummarizer, CheckedSummary, ExtractiveSummarizer, summary_message

from .boundary import cut_of
from .policy import FoldPolicy

__all__ = ["FoldOldest"]

_RAW_REACH = 16_000  # tokens: a fold of a large window, and little enough for a model to read each time
_MANY_FACTS = 200  # sorting so many takes some milliseconds
_SUMMARY_SHARE = 0.35  # of what summary and facts have together, at the least for the summary
_LARGE = 8_000  # tokens to read; so much is read in a thread, that others on the event loop need not wait
_LEAST_SUMMARY = 24  # tokens for summary message and its header where the share of a small window would be less


@implements(CompressionStrategy, FoldsHistory, KeepsLatest, KeepsPins)
@frozen
class FoldOldest:
    """Replaces the oldest steps by a summary, once the conversation is over its budget; the newest stay as they are.

    1. `layers`, such as `ShrinkToolResults`, make old tool results smaller. If that reaches the target, nothing else is done.
    2. The oldest steps go: down to `policy.target_share` of the budget, but not into the newest `policy.keep_latest` messages,
       rounded outward to whole turns, as long as those leave room (D2). What is pinned or important, what waits for a result, and
       the question of a turn that goes on stay in their places.
    3. Their facts go into the ledger, and `summarizer` writes a summary of them and of the one before. It is checked, whoever
       wrote it; the extractive summarizer, the default, quotes. Where no summary comes about, the oldest steps are left out with
       a mark (D17).

    What is rewritten or folded is in `Compression.fold`, so that a manager does it once and for good. `raw_reach` is how many
    tokens of raw history are read again for a new summary, instead of the old one, so that errors do not pile up (R122): 16 000,
    but 0 for the extractive summarizer, which keeps the words as they are. 0 is for a summarizer that continues the live request
    (`same_model`), too: the raw history is not what was sent.
    """

    counter: TokenCounter
    summarizer: Summarizer | None = None
    policy: FoldPolicy = field(factory=FoldPolicy)
    layers: tuple[CompressionStrategy, ...] = ()
    hint: Hint = Hint.GENERAL
    tools: tuple[Json, ...] = ()
    raw_reach: int | None = None
    _writer: Summarizer = field(init=False, repr=False, eq=False)

    def __attrs_post_init__(self) -> None:
        verify(self.counter, TokenCounter)
        for layer in self.layers:
            verify(layer, CompressionStrategy)
        if self.raw_reach:
            check_count("raw_reach", self.raw_reach)
        writer: Summarizer = ExtractiveSummarizer(self.counter) if self.summarizer is None else self.summarizer
        verify(writer, Summarizer)
        if not isinstance(writer, ExtractiveSummarizer | CheckedSummarizer):
            writer = CheckedSummarizer(writer, self.counter)
        object.__setattr__(self, "_writer", writer)

    @property
    def reach(self) -> int:
        window = self._writer.max_input
        reach = self.raw_reach
        if reach is None:
            reach = 0 if isinstance(self._writer, ExtractiveSummarizer) else _RAW_REACH
        return reach if window is None else min(reach, window)

    def estimate_tokens(self, messages: Sequence[Message]) -> int:
        return total_tokens(messages, self.counter)

    def keeping(self, messages: int) -> FoldOldest:
        return attrs.evolve(self, policy=attrs.evolve(self.policy, keep_latest=max(1, messages)))

    async def compress(self, messages: Sequence[Message], max_tokens: int) -> Compression:
        if max_tokens < 0:
            raise InvalidArgument(f"max_tokens is {max_tokens}; it must be 0 or more", value=max_tokens)
        tokens = self.estimate_tokens(messages)
        if tokens <= max_tokens:
            return unchanged(messages, tokens)
        target = self._target(messages, max_tokens)
        layered = await self._layered(messages, target.aim)
        before = {message.id: message for message in messages}
        rewritten = tuple([message for message in layered if message is not before[message.id]])
        reason = "the oldest steps were folded"
        smaller = self.estimate_tokens(layered)
        if not rewritten or smaller > target.aim:
            try:
                fold, stays = await self._folding(messages, layered, rewritten, target)
                return await self._result(messages, stays, max_tokens, reason, fold)
            except _NothingFolded as nothing:
                reason = str(nothing)
        if not rewritten or tokens - smaller < self.policy.min_gain_of(target.room):
            return await self._result(messages, layered, max_tokens, reason, None)
        fold, stays = await self._rewriting(messages, layered, rewritten, target)
        return await self._result(messages, stays, max_tokens, "old tool results were shortened", fold)

    def _target(self, messages: Sequence[Message], max_tokens: int) -> _Target:
        system = total_tokens([message for message in messages if is_system(message)], self.counter)
        room = max(0, max_tokens - system)
        latest = total_tokens(_latest(messages, self.policy.keep_latest), self.counter)
        aim, tail = system + self.policy.history_after(room, latest), self.policy.tail_after(room, latest)
        return _Target(max_tokens=max_tokens, room=room, aim=aim, tail=tail)

    async def _layered(self, messages: Sequence[Message], aim: int) -> Sequence[Message]:
        """The messages with old results made smaller, none of them missing."""
        current = messages
        for layer in self.layers:
            result = await layer.compress(current, aim)
            if [message.id for message in result.messages] == [message.id for message in current]:
                current = result.messages
        return current

    async def _rewriting(
        self, given: Sequence[Message], layered: Sequence[Message], rewritten: tuple[Message, ...], target: _Target
    ) -> tuple[Fold, list[Message]]:
        """The fold that only makes tool results shorter: their facts are kept, and the summary stays."""
        earlier, old = _of_kind(given, Kind.SUMMARY), _of_kind(given, Kind.FACTS)
        ids = {message.id for message in rewritten}
        ledger = await self._ledger(old, [message for message in given if message.id in ids])
        stays = [message for message in layered if message is not old and message is not earlier]
        facts = await self._facts(ledger, stays if earlier is None else [earlier, *stays], target, _name(rewritten))
        fold = Fold(summary=earlier, facts=facts, ledger=ledger, rewritten=rewritten, origin="layers")
        return fold, _assembled(given, stays, earlier, facts)

    async def _folding(
        self, given: Sequence[Message], layered: Sequence[Message], rewritten: tuple[Message, ...], target: _Target
    ) -> tuple[Fold, list[Message]]:
        """The fold of the oldest steps, and what stays. Raises `_NothingFolded` if there is none."""
        earlier, old = _of_kind(given, Kind.SUMMARY), _of_kind(given, Kind.FACTS)
        said = [message for message in layered if message is not earlier and message is not old]
        steps = split(said, self.counter)
        cut = cut_of(steps, self.policy, target.max_tokens, target.tail)
        if not cut.covers or cut.tokens < self.policy.min_gain_of(target.room):
            raise _NothingFolded(f"there is too little to fold: {cut.tokens} tokens")
        covered = [message for message in given if message.id in cut.covers]
        stays = [message for message in steps.messages if message.id not in cut.covers]
        name = _name(covered)
        read = cut.covers | {message.id for message in rewritten}
        ledger = await self._ledger(old, [message for message in given if message.id in read])
        needed = await self._facts(ledger, stays, target, name)
        taken = 0 if needed is None else message_tokens(needed, self.counter)
        written = await self._written(given, covered, stays, earlier, ledger, target, taken)
        summary = summary_message(written.summary, id=f"summary/{name}")
        if written.summary.facts:
            ledger = merged(ledger, written.summary.facts, max_facts=self.policy.max_facts)
        facts = await self._facts(ledger, [summary, *stays], target, name)
        kept = {message.id for message in stays}
        fold = Fold(
            covers=tuple([message.id for message in covered]),
            summary=summary,
            facts=facts,
            ledger=ledger,
            rewritten=tuple([message for message in rewritten if message.id in kept]),
            origin=written.summary.origin,
            faults=written.faults,
            usage=written.usage,
        )
        return fold, _assembled(given, stays, summary, facts)

    async def _written(
        self,
        given: Sequence[Message],
        covered: list[Message],
        stays: list[Message],
        earlier: Message | None,
        ledger: FactLedger,
        target: _Target,
        facts: int,
    ) -> CheckedSummary:
        """The summary of what is covered, within what is left beside what stays and the facts."""
        header = message_tokens(summary_message(Summary(), id="header"), self.counter)
        used = self.estimate_tokens(stays)
        left = max(target.max_tokens - used, target.room // 8)
        memory, most = target.memory_beside(used), self.policy.summary_cap(target.room)
        least = min(_LEAST_SUMMARY, self.policy.summary_tokens, left)
        cap = max(min(most, max(memory - facts, int(memory * _SUMMARY_SHARE))), least) - header
        if cap < 1:
            raise _NothingFolded(f"no room for a summary: {left} tokens are left")
        is_first = all(message.kind not in MEMORY for message in given)
        request = SummaryRequest(
            messages=tuple(covered if earlier is None else [earlier, *covered]),
            max_tokens=cap,
            hint=self.hint,
            handoff=is_first,
            ledger=ledger,
            live=tuple(given) if earlier is not None or is_first else (),  # raw history read again is not what was sent
            tools=self.tools,
        )
        try:
            if isinstance(self._writer, CheckedSummarizer):
                return await self._writer.summarize_checked(request)
            summary = await self._writer.summarize(request)
        except SummaryFailed as error:
            codes = dict.fromkeys(str(fault).partition(":")[0] for fault in error.details.get("faults", ()))
            raise _NothingFolded(f"no summary could be kept: {', '.join(codes) or 'the summarizer failed'}") from error
        return CheckedSummary(summary=summary, usage=summary.usage)

    async def _ledger(self, old: Message | None, messages: list[Message]) -> FactLedger:
        """The ledger so far with the facts of the messages."""

        def read() -> FactLedger:
            return merged(ledger_of(old), extract_facts(messages), max_facts=self.policy.max_facts)

        many = old is not None and len(old.metadata.get("ledger", ())) > _MANY_FACTS
        return await asyncio.to_thread(read) if many or self.estimate_tokens(messages) > _LARGE else read()

    async def _facts(self, ledger: FactLedger, beside: list[Message], target: _Target, name: str) -> Message | None:
        """The ledger as a message, with as many facts in its text as there is room for; None if there is room for none."""
        room = min(self.policy.facts_cap(target.room), target.memory_beside(self.estimate_tokens(beside)))

        def write() -> Message | None:
            return facts_message(ledger, self.counter, room, beside=beside, id=f"facts/{name}")

        message = await asyncio.to_thread(write) if len(ledger.facts) > _MANY_FACTS else write()
        return message if message is not None and "\n" in message.text else None  # a heading alone says nothing

    async def _result(
        self, given: Sequence[Message], window: Sequence[Message], max_tokens: int, reason: str, fold: Fold | None
    ) -> Compression:
        """The window as a result; where it does not fit yet, the oldest steps of it are left out."""
        window = arrange(window)
        tokens = self.estimate_tokens(window)
        if tokens > max_tokens:
            window = (await KeepRecentTokens(self.counter).compress(window, max_tokens)).messages
            tokens = self.estimate_tokens(window)
        return Compression.of(given, window, tokens=tokens, max_tokens=max_tokens, reason=reason, fold=fold)


class _NothingFolded(Exception):
    """Why there is no fold."""


@frozen(kw_only=True)
class _Target:
    """`max_tokens` that are allowed, and the `room` they leave beside system messages.

    A fold goes down to `aim` tokens, system messages included; `tail` of them are for the newest messages.
    """

    max_tokens: int
    room: int
    aim: int
    tail: int

    def memory_beside(self, used: int) -> int:
        """What summary and facts may take beside `used` tokens: up to the aim, or half of what is left where that is more.

        Where a question takes more than all, windows have it shortened, and an eighth of the room is theirs.
        """
        left = self.max_tokens - used
        return self.room // 8 if left < 0 else max(self.aim - used, left // 2)


def _latest(messages: Sequence[Message], count: int) -> list[Message]:
    """The newest `count` messages, and up to as many before them to the beginning of their turn (D2).

    Of a turn that began further back, the whole of the step, and the question, which stays with it.
    """
    said = [message for message in messages if message.in_conversation and not is_system(message)]
    start = max(0, len(said) - count)
    whole = next((n for n in range(start, max(0, start - count) - 1, -1) if said and said[n].opens_turn), None)
    if whole is not None or not said:
        return said[whole:]
    step = next((n for n in range(start, -1, -1) if not said[n].tool_results), start)
    asked = next((message for message in reversed(said[:step]) if message.opens_turn), None)
    return said[step:] if asked is None else [asked, *said[step:]]


def _of_kind(messages: Sequence[Message], kind: Kind) -> Message | None:
    return next((message for message in messages if message.kind is kind), None)


def _assembled(
    given: Sequence[Message], stays: Sequence[Message], summary: Message | None, facts: Message | None
) -> list[Message]:
    """Summary and facts in the place of the earlier ones, or else after the system messages that come first; then the rest."""
    memory = next((n for n, message in enumerate(given) if message.kind in MEMORY), len(given))
    before = {message.id for message in given[:memory]}
    first = next((n for n, m in enumerate(stays) if not is_system(m) or m.id not in before), len(stays))
    return [*stays[:first], *(message for message in (summary, facts) if message is not None), *stays[first:]]


def _name(messages: Sequence[Message]) -> str:
    """A name for what is made of these messages: the same for the same messages."""
    return hashlib.sha256("\n".join([message.id for message in messages]).encode("utf-8", "surrogatepass")).hexdigest()[:32]
