"""What to keep when not everything fits: the port of compression strategies."""

from __future__ import annotations

from collections.abc import Sequence

from .context import Compression
from .messages import Message
from .port import Port

__all__ = ["CompressionStrategy", "KeepsLatest", "KeepsPins", "NeedsOnlyNewest", "OnlyShortens", "StablePrefix"]


class CompressionStrategy(Port):
    """Chooses what of a conversation goes into a window.

    Obligations
        STRATEGY-1   Input that fits comes back as it is: the same messages, outcome `unchanged`. No other input has that outcome.
        STRATEGY-2   The outcome is `cannot_fit` if, and only if, the output does not fit `max_tokens` by `estimate_tokens`.
        STRATEGY-3   Every output message is an input message, a shortened one with its id, or one the strategy made and
                     gave a kind other than chat and interrupt. No id occurs twice.
        STRATEGY-4   Input messages keep their order.
        STRATEGY-5   Each tool call in the output has its result in the unbroken run of results after it, and each result its
                     call, if that is so in the input. Parallel calls stay together.
        STRATEGY-6   System messages are all there, unchanged.
        STRATEGY-7   The newest user message that is not an interrupt is there: whole, or shortened with a marker.
        STRATEGY-8   If messages were left out and the input began with a user message, so does the output (system aside).
        STRATEGY-9   The input is not changed, neither the sequence nor the messages.
        STRATEGY-10  The same input and budget give the same output.
        STRATEGY-11  Compressing an output again with the same budget changes nothing.
        STRATEGY-12  `tokens` equals `estimate_tokens(messages)`; an empty list costs 0.
        STRATEGY-14  `omitted` and `shortened` are true: exactly the ids of what was said and is missing, and of what has
                     other text.
        STRATEGY-15  Reasoning is whole or absent: a message with tool calls keeps its reasoning, unchanged and first.
        STRATEGY-16  A shortened text is made of pieces of the original and a visible marker, cut between grapheme clusters.
        STRATEGY-17  Never empty for non-empty input; empty for empty input.
        STRATEGY-18  `estimate_tokens` is additive: the cost of a list is the sum of its messages' costs by the
                     injected counter.
        STRATEGY-19  The output never costs more than the input.
        STRATEGY-20  An input whose calls and results are not in order is still compressed: no orphan result comes out that
                     has no call, and nothing raises.
        STRATEGY-21  A negative `max_tokens` raises `InvalidArgument`.
        STRATEGY-29  Where the system messages, the newest user message that is not an interrupt and the newest step fit
                     together, whole, the outcome is not `cannot_fit`, unless the strategy provides `OnlyShortens`.

    Caller guarantees
        Ids are unique. `messages` is all that was said in the epoch; for a strategy that provides `NeedsOnlyNewest` it may be
        less. It may hold one gap message, which stands for messages that were left out there and says how many and how large
        they were; those before it were kept from further back.
    Errors
        `InvalidArgument`. A strategy that needs a model may raise `StrategyFailed`; nothing is lost, as input is not changed.
    Concurrency
        `compress` may run in several tasks at once.
    Lifetime
        Usable from construction on; keeps nothing of a call that changes a later result.
    Latitude
        Which messages are worth keeping, within the rules; whether pins are looked at (`KeepsPins`). A result may be smaller
        than it had to be. Calls and results that are not in order are mended only in a cut (STRATEGY-1, STRATEGY-20): a manager
        arranges what it gives.
    """

    async def compress(self, messages: Sequence[Message], max_tokens: int) -> Compression:
        """Fit `messages` into `max_tokens`."""
        ...

    def estimate_tokens(self, messages: Sequence[Message]) -> int:
        """The size of `messages`, by the injected token counter."""
        ...


class NeedsOnlyNewest(Port):
    """A strategy that needs to see no more of a conversation than its newest part, so that a call costs the same however long
    the conversation is.

    Obligations
        STRATEGY-28  Let the newest part be whole steps that together are larger than `max_tokens`. For it, what is marked before
                     it, and a gap message for the rest, the result is that for the whole conversation: the same messages, but
                     for gap messages, the same outcome, `shortened` and `extendable`.

    Caller guarantees: what is marked comes with its step and the question of its turn, in its place, and the newest part with the
    question of its first turn (`Message.marked`: system messages, pinned and important ones, interrupts). The gap message stands
    before the newest part, or before what was kept right before it.
    Errors, concurrency, lifetime: as `CompressionStrategy`. Latitude: none.
    """


class StablePrefix(Port):
    """A strategy whose window start is a pure function of the log, so that the prompt prefix stays put between cuts.

    Obligations
        STRATEGY-22  If compress(a) is `extendable` and its output plus new messages b fits, then compress(a + b) is that
                     output plus b: a manager need not ask again.

    Caller guarantees: b is well-formed: every result follows its call, every message has content.
    Errors, concurrency, lifetime: as `CompressionStrategy`.
    Latitude: where the next cut falls.
    """

    @property
    def target_share(self) -> float:
        """How far below the budget a cut goes, as a share of it in (0, 1]; 1 cuts no more than needed, at every turn."""
        ...


class KeepsPins(Port):
    """A strategy that knows pins. For any other, a manager sees to it that they stay.

    Obligations
        STRATEGY-13  A pinned message is in the output as long as pinned messages, with the turns they stand in, take at most
                     half of `max_tokens` and fit beside the system messages and the newest turn.

    Caller guarantees, errors, concurrency, lifetime: as `CompressionStrategy`. Latitude: which pins stay where not all may.
    """


class OnlyShortens(Port):
    """A strategy that makes messages shorter and leaves none out, to stand before one that does.

    Obligations
        STRATEGY-30  All that was said is in the output but results without a call and messages without content, in whatever
                     length.

    Caller guarantees, errors, concurrency, lifetime: as `CompressionStrategy`. Latitude: what is shortened, and by how much;
    where that is not enough, the outcome is `cannot_fit`.
    """


class KeepsLatest(Port):
    """A folding strategy that can be told how many of the newest messages it leaves alone.

    Obligations
        STRATEGY-27  `keeping(n)` is the same strategy, but that no fold of it covers one of the newest `n` messages while they
                     take a third of the room beside system messages at most, with the whole step that the first of them is of,
                     and its question. The strategy it was asked of stays as it is.

    Caller guarantees: the number is 0 or more. Errors, concurrency, lifetime, latitude: as `FoldsHistory`.
    """

    def keeping(self, messages: int) -> CompressionStrategy:
        """The strategy that leaves the newest `messages` alone."""
        ...
