"""What the engine tells of a window: the context it hands out, the facts about the session, the figures of an event."""

from __future__ import annotations

from contextport.contracts import Context, ContextStats, Head, Json, Kind, Mode, Receipt, TokenCounter, message_tokens
from contextport.contracts.counting import total_tokens
from contextport.strategies import newest_question

from .provider_window import ProviderNotes
from .session_window import SessionWindow, View

__all__ = ["context_of", "figures_of", "stats_of"]


def context_of(head: Head, window: SessionWindow, view: View, notes: ProviderNotes, *, limit: int, config: str) -> Context:
    """The context of a window in the given view: its own, or the one made for a provider, with notes on that."""
    omitted = window.region.messages - view.said
    receipt = Receipt(
        session_id=head.session_id,
        epoch=window.basis.epoch,
        version=window.region.last_seq,
        config=config,
        mode=Mode.FULL,
        slots=view.slots,
        profile=notes.profile,
        stale_thinking_from=notes.stale_thinking_from,
        messages=view.messages,
    )
    return Context(
        session_id=head.session_id,
        messages=view.messages,
        tokens=view.tokens,
        limit=limit,
        is_compressed=omitted > 0 or bool(view.shortened),
        omitted_count=omitted,
        shortened=view.shortened,
        reason=view.reason,
        repairs=notes.repairs,
        needs=notes.needs,
        receipt=receipt,
    )


def stats_of(head: Head, window: SessionWindow, counter: TokenCounter, *, tool_tokens: int, model_window: int) -> ContextStats:
    """The facts about a session whose window this is."""
    view, prompt, room = window.view, window.basis.prompt, window.basis.room
    system = 0 if prompt is None else message_tokens(prompt, counter)
    question = newest_question(view.messages)
    last_turn = () if question is None else view.messages[question:]
    return ContextStats(
        message_count=len(view.messages),
        token_count=view.tokens,
        is_compressed=window.region.messages > view.said or bool(view.shortened),
        original_message_count=head.messages + (prompt is not None),
        history_tokens=head.tokens,
        system_tokens=system,
        last_turn_tokens=total_tokens(last_turn, counter),
        summary_tokens=total_tokens((m for m in view.messages if m.kind is Kind.SUMMARY), counter),
        tool_schema_tokens=tool_tokens,
        limit=room.limit,
        window=model_window,
        usage_ratio=(view.tokens - system) / (room.limit - system),
        token_ratio=room.ratio,
        counter=counter.name,
    )


def figures_of(context: Context) -> dict[str, Json]:
    """What an event says of a context."""
    return {
        "messages": len(context.messages),
        "tokens": context.tokens,
        "limit": context.limit,
        "compressed": context.is_compressed,
        "omitted": context.omitted_count,
        "shortened": len(context.shortened),
        "version": context.receipt.version,
    }
