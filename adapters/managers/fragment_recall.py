"""Original words brought back: what the question asks about and a fold took out of the window (R132)."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import attrs
from attrs import frozen

from contextport.contracts import ContextStore, Entry, Fact, Kind, Message, Text, TokenCounter, message_tokens
from contextport.strategies import newest_question
from contextport.strategies.facts import fragment_of

from .live_fold import LiveFold
from .session_window import SessionWindow, slots_of

__all__ = ["Fragments", "fragments_for", "with_fragments"]

_ROOM_SHARE = 0.1  # of the window, for all fragments together
_MOST_TOKENS = 1_000
_MOST_FACTS = 4
_HEADER = "[Said earlier]"


@frozen
class Fragments:
    """What is brought back for one question under one fold; `message` is None if the question asks for nothing of the kind."""

    question_id: str
    record_seq: int
    message: Message | None


async def fragments_for(
    window: SessionWindow, session_id: str, store: ContextStore, counter: TokenCounter, known: Fragments | None
) -> Fragments | None:
    """The fragments for the newest question of the window, or None without a fold or a question.

    They depend on the question, the fold and the size of the window alone, so that they stay put during a turn. `known` is what
    was found before; it serves as long as question and fold are the same.
    """
    fold, place = window.region.fold, newest_question(window.view.messages)
    if fold is None or place is None:
        return None
    question = window.view.messages[place]
    if known is not None and (known.question_id, known.record_seq) == (question.id, fold.record.seq):
        return known
    room = min(_MOST_TOKENS, int((window.basis.room.limit - window.basis.system) * _ROOM_SHARE))
    found = await _originals(fold, fold.index.asked(question), session_id, window.basis.epoch, store)
    return Fragments(question.id, fold.record.seq, _message(question, found, counter, room))


async def _originals(
    fold: LiveFold, facts: Sequence[Fact], session_id: str, epoch: int, store: ContextStore
) -> list[tuple[Fact, Entry]]:
    """The newest folded message of each fact that is in no window any more, at most a few."""
    record, found = fold.record, list[tuple[Fact, Entry]]()
    standing = set(record.kept)
    for fact in facts:
        seqs = [record.places[source] for source in fact.sources if source in record.places]
        if not seqs or max(seqs) > record.through or standing & set(seqs) or any(e.seq == max(seqs) for _, e in found):
            continue
        seq = max(seqs)
        found += [(fact, entry) for entry in await store.read(session_id, after=seq - 1, before=seq + 1, limit=1, epoch=epoch)]
        if len(found) == _MOST_FACTS:
            break
    return found


def _message(question: Message, found: list[tuple[Fact, Entry]], counter: TokenCounter, room: int) -> Message | None:
    """The fragments as one message within `room` tokens: as many as fit, in the order of the log."""
    lines: list[tuple[int, str]] = []
    message: Message | None = None
    for fact, entry in found:
        left = room - (0 if message is None else message_tokens(message, counter))
        text = fragment_of(entry.message, fact, counter, left)
        more = sorted([*lines, (entry.seq, f"{entry.message.role}: {text}")])
        longer = _of_lines(question, [line for _, line in more])
        if text and message_tokens(longer, counter) <= room:
            lines, message = more, longer
    return message


def _of_lines(question: Message, lines: list[str]) -> Message:
    text = "\n".join([_HEADER, *lines])
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return Message(role="user", id=f"{question.id}/recalled/{digest}", kind=Kind.RETRIEVED, parts=(Text(text),))


def with_fragments(window: SessionWindow, fragments: Fragments | None, counter: TokenCounter) -> SessionWindow:
    """The window with the fragments before its newest question; the same window where there are none, or no room."""
    if fragments is None or fragments.message is None:
        return window
    message, view = fragments.message, window.view
    tokens = view.tokens + message_tokens(message, counter)
    place = newest_question(view.messages)
    if place is None or tokens > window.basis.room.limit:
        return window
    messages = (*view.messages[:place], message, *view.messages[place:])
    shown = attrs.evolve(view, messages=messages, tokens=tokens, slots=slots_of(messages, window.region.sources))
    return attrs.evolve(window, view=shown)
