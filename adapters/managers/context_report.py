"""What the engine tells of a window: the context it hands out, the facts about the session, the figures of an event."""

from __future__ import annotations

from contextport.contracts import Context, ContextStats, Head, Json, Kind, Mode, Receipt, TokenCounter
from contextport.contracts.counting import total_tokens
from contextport.strategies import newest_question
from contextport.strategies.folding import FoldDecision, Prices

from .provider_window import ProviderNotes
from .session_window import SessionWindow, View

__all__ = ["context_of", "figures_of", "mode_of", "stats_of"]


def context_of(
    head: Head, window: SessionWindow, view: View, notes: ProviderNotes, *, config: str, outlook: FoldDecision | None
) -> Context:
    """The context of a window in the given view: its own, or the one made for a provider, with notes on that."""
    omitted = window.region.messages - view.said
    mode = mode_of(window)
    receipt = Receipt(
        session_id=head.session_id,
        epoch=window.basis.epoch,
        version=window.region.last_seq,
        config=config,
        mode=mode,
        slots=view.slots,
        profile=notes.profile,
        stale_thinking_from=notes.stale_thinking_from,
        folding=None if outlook is None else outlook.as_json(),
        messages=view.messages,
    )
    return Context(
        session_id=head.session_id,
        messages=view.messages,
        tokens=view.tokens,
        limit=window.basis.room.limit,
        mode=mode,
        is_compressed=omitted > 0 or bool(view.shortened),
        omitted_count=omitted,
        folded_count=window.region.folded if mode is Mode.SUMMARY else 0,
        shortened=view.shortened,
        reason=view.reason,
        repairs=notes.repairs,
        needs=notes.needs,
        receipt=receipt,
    )


def stats_of(
    head: Head, window: SessionWindow, counter: TokenCounter, *, tool_tokens: int, model_window: int, prices: Prices | None
) -> ContextStats:
    """The facts about a session whose window this is; `prices` are those of its folds."""
    view, room, system = window.view, window.basis.room, window.basis.system
    fold = window.region.fold
    spent = None if fold is None else fold.record.usage_so_far
    question = newest_question(view.messages)
    last_turn = () if question is None else view.messages[question:]
    return ContextStats(
        message_count=len(view.messages),
        token_count=view.tokens,
        is_compressed=window.region.messages > view.said or bool(view.shortened),
        original_message_count=head.messages + (window.basis.prompt is not None),
        history_tokens=head.tokens,
        system_tokens=system,
        last_turn_tokens=total_tokens(last_turn, counter),
        summary_tokens=total_tokens((m for m in view.messages if m.kind is Kind.SUMMARY), counter),
        facts_tokens=total_tokens((m for m in view.messages if m.kind is Kind.FACTS), counter),
        folded_count=window.region.folded if mode_of(window) is Mode.SUMMARY else 0,
        summarizer_input_tokens=0 if spent is None else spent.input_tokens,
        summarizer_output_tokens=0 if spent is None else spent.output_tokens,
        summarizer_cost=0.0 if spent is None or prices is None else prices.summary_cost(spent),
        tool_schema_tokens=tool_tokens,
        limit=room.limit,
        window=model_window,
        usage_ratio=(view.tokens - system) / (room.limit - system),
        token_ratio=room.ratio,
        mode=mode_of(window),
        counter=counter.name,
    )


def mode_of(window: SessionWindow) -> Mode:
    """How a window is made up: with a summary, or of what was said alone."""
    if window.region.fold is None:
        return Mode.FULL
    return Mode.SUMMARY if any(message.kind is Kind.SUMMARY for message in window.view.messages) else Mode.FULL


def figures_of(context: Context) -> dict[str, Json]:
    """What an event says of a context."""
    return {
        "messages": len(context.messages),
        "tokens": context.tokens,
        "limit": context.limit,
        "compressed": context.is_compressed,
        "omitted": context.omitted_count,
        "folded": context.folded_count,
        "folding": None if context.receipt.folding is None else context.receipt.folding["reason"],
        "shortened": len(context.shortened),
        "version": context.receipt.version,
    }
