"""What the engine tells of a window: the context it hands out, the facts about the session, the figures of an event."""

from __future__ import annotations

from contextport.contracts import Context, ContextStats, Json, Kind, Mode, TokenCounter
from contextport.contracts.context import make_context, make_receipt
from contextport.contracts.counting import total_tokens
from contextport.strategies import newest_question
from contextport.strategies.folding import Prices

from .provider_window import ProviderNotes
from .session_window import SessionWindow, View
from .window_builder import Built

__all__ = ["context_of", "figures_of", "mode_of", "stats_of"]

_SUMMARY, _FULL = Mode.SUMMARY, Mode.FULL  # looking a member up in its class takes as long as a function call


def context_of(built: Built, view: View, notes: ProviderNotes, *, config: str) -> Context:
    """The context of a window in the given view: its own, or the one made for a provider, with notes on that."""
    head, window, outlook = built.head, built.window, built.outlook
    basis, region = window.basis, window.region
    omitted = region.messages - view.said
    summarised = region.fold is not None and _has_summary(window)
    mode = basis.plan.mode or (_SUMMARY if summarised else _FULL)
    receipt = make_receipt(
        session_id=head.session_id,
        epoch=basis.epoch,
        version=region.last_seq,
        config=config,
        mode=mode,
        slots=view.slots,
        profile=notes.profile,
        stale_thinking_from=notes.stale_thinking_from,
        folding=None if outlook is None else outlook.as_json(),
        messages=view.messages,
    )
    return make_context(
        session_id=head.session_id,
        messages=view.messages,
        tokens=view.tokens,
        limit=basis.limit,
        mode=mode,
        is_compressed=omitted > 0 or bool(view.shortened),
        omitted_count=omitted,
        folded_count=region.folded if summarised else 0,
        shortened=view.shortened,
        reason=view.reason,
        repairs=notes.repairs,
        needs=notes.needs,
        receipt=receipt,
    )


def stats_of(built: Built, counter: TokenCounter, *, tool_tokens: int, model_window: int, prices: Prices | None) -> ContextStats:
    """The facts about a session whose window this is; `prices` are those of its folds."""
    head, window = built.head, built.window
    view, limit, system = window.view, window.basis.limit, window.basis.system
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
        folded_count=window.region.folded if _has_summary(window) else 0,
        summarizer_input_tokens=0 if spent is None else spent.input_tokens,
        summarizer_output_tokens=0 if spent is None else spent.output_tokens,
        summarizer_cost=0.0 if spent is None or prices is None else prices.summary_cost(spent),
        tool_schema_tokens=tool_tokens,
        limit=limit,
        window=model_window,
        usage_ratio=(view.tokens - system) / (limit - system),
        token_ratio=window.basis.room.ratio,
        mode=mode_of(window),
        counter=counter.name,
    )


def mode_of(window: SessionWindow) -> Mode:
    """The mode of the window's session; where a manager has no modes, how it is made up: with a summary or without."""
    return window.basis.plan.mode or (_SUMMARY if _has_summary(window) else _FULL)


def _has_summary(window: SessionWindow) -> bool:
    """Whether a summary in the window stands for messages of its region."""
    return window.region.fold is not None and any(message.kind is Kind.SUMMARY for message in window.view.messages)


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
