"""Original words brought back: what a question asks about and a fold took out of the window (R132).

A fragment stands before the question that it was brought back for, and stays there until the next fold: windows only grow. It
counts when a fold is decided on, and where there is no room for all of them, the oldest go.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import attrs
from attrs import field, frozen

from contextport.contracts import ContextStore, Entry, Fact, Kind, Message, Text, TokenCounter, message_tokens
from contextport.strategies.facts import fragment_of

from .live_fold import LiveFold
from .session_window import SessionWindow, slots_of

__all__ = ["Fragments", "fragments_for", "places_asked", "with_fragments"]

_ROOM_SHARE = 0.1  # of the window, for one question
_MOST_TOKENS = 500
_MOST_FACTS = 4
_LONGEST_QUESTION = 2_000  # characters: what is longer is material to work on, not a question
_HEADER = "[Said earlier]"


@frozen(kw_only=True)
class Fragments:
    """What was brought back under one fold, for the questions of a window that begins at `first`.

    `by_question` has the message for each question that was looked at, or None. `seqs` are the log entries that were quoted.
    """

    record_seq: int
    first: str
    by_question: dict[str, Message | None] = field(factory=dict[str, Message | None])
    seqs: frozenset[int] = frozenset()
    tokens: int = 0


async def fragments_for(
    window: SessionWindow, session_id: str, store: ContextStore, counter: TokenCounter, known: Fragments | None
) -> Fragments | None:
    """The fragments for the questions of the window, or None without a fold.

    They are a function of the fold and of the window alone. `known` is what was found for it before.
    """
    fold, messages = window.region.fold, window.view.messages
    if fold is None:
        return None
    standing = {entry.message.id for entry in fold.standing}
    first = next((m.id for m in messages if m.in_conversation and not m.marked and m.id not in standing), "")
    if known is None or (known.record_seq, known.first) != (fold.record.seq, first):
        known = Fragments(record_seq=fold.record.seq, first=first)
    room = min(_MOST_TOKENS, int((window.basis.room.limit - window.basis.system) * _ROOM_SHARE))
    for question in _new_questions(messages, known):
        found: list[tuple[Fact, Entry]] = []
        if question.id not in standing and len(question.text) <= _LONGEST_QUESTION:
            facts = (await fold.index()).asked(question)
            found = await _originals(fold, facts, known.seqs, session_id, window.basis.epoch, store)
        visible = "\n".join([m.text for m in messages[: messages.index(question)] if m.in_conversation]) if found else ""
        message, seqs = _message(question, found, counter, room, visible)
        known = attrs.evolve(
            known,
            by_question={**known.by_question, question.id: message},
            seqs=known.seqs | seqs,
            tokens=known.tokens + (0 if message is None else message_tokens(message, counter)),
        )
    return known


def _new_questions(messages: Sequence[Message], known: Fragments) -> list[Message]:
    """The questions that were not looked at yet, in their order: the newest ones."""
    new: list[Message] = []
    for message in reversed(messages):
        if message.opens_turn:
            if message.id in known.by_question:
                break
            new.insert(0, message)
    return new


async def places_asked(fold: LiveFold, question: Message) -> tuple[int, ...]:
    """The newest log entry of each fact that the question names and the fold covers, in the order of the facts."""
    if len(question.text) > _LONGEST_QUESTION:
        return ()
    record = fold.record
    facts = (await fold.index()).asked(question)
    newest = [max([record.places.get(source, 0) for source in fact.sources], default=0) for fact in facts]
    return tuple(dict.fromkeys([place for place in newest if 0 < place <= record.through]))


async def _originals(
    fold: LiveFold, facts: Sequence[Fact], quoted: frozenset[int], session_id: str, epoch: int, store: ContextStore
) -> list[tuple[Fact, Entry]]:
    """The newest folded message of each fact that is in no window any more, at most a few."""
    record, standing = fold.record, set(fold.record.kept)
    found: dict[int, tuple[Fact, Entry]] = {}
    for fact in facts:
        seqs = [record.places[source] for source in fact.sources if source in record.places]
        newest = max(seqs, default=0)
        if not 0 < newest <= record.through or newest in quoted or newest in found or standing.intersection(seqs):
            continue
        for entry in await store.read(session_id, after=newest - 1, before=newest + 1, limit=1, epoch=epoch):
            found[newest] = (fact, entry)
        if len(found) == _MOST_FACTS:
            break
    return list(found.values())


def _message(
    question: Message, found: list[tuple[Fact, Entry]], counter: TokenCounter, room: int, visible: str
) -> tuple[Message | None, frozenset[int]]:
    """The fragments as one message within `room` tokens, in the order of the log, and the entries that are quoted in it.

    What can be read in `visible` already is not brought back.
    """
    lines: dict[int, str] = {}
    message: Message | None = None
    for fact, entry in found:
        left = room - (0 if message is None else message_tokens(message, counter))
        text = fragment_of(entry.message, fact, counter, left)
        more = dict(sorted({**lines, entry.seq: f"{entry.message.role}: {text}"}.items()))
        longer = _of_lines(question, list(more.values()))
        if text and text.strip("… ") not in visible and message_tokens(longer, counter) <= room:
            lines, message = more, longer
    return message, frozenset(lines)


def _of_lines(question: Message, lines: list[str]) -> Message:
    text = "\n".join([_HEADER, *lines])
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return Message(role="user", id=f"{question.id}/recalled/{digest}", kind=Kind.RETRIEVED, parts=(Text(text),))


def with_fragments(window: SessionWindow, fragments: Fragments | None, counter: TokenCounter) -> SessionWindow:
    """The window with each fragment before its question, as many of the newest as there is room for."""
    if fragments is None or not fragments.tokens:
        return window
    view, left = window.view, window.basis.room.limit - window.view.tokens
    messages: list[Message] = []
    for message in reversed(view.messages):
        messages.append(message)
        fragment = fragments.by_question.get(message.id)
        if fragment is not None:
            left -= message_tokens(fragment, counter)
            if left >= 0:
                messages.append(fragment)
    messages.reverse()
    tokens = view.tokens + sum([message_tokens(m, counter) for m in messages if m.kind is Kind.RETRIEVED])
    shown = attrs.evolve(view, messages=tuple(messages), tokens=tokens, slots=slots_of(messages, window.region.sources))
    return attrs.evolve(window, view=shown)
