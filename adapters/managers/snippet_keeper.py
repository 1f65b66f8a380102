"""What is brought back for the newest question of a session: searched once, and the same for as long as the question stands."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Sequence

from attrs import define, field, frozen

from contextport.contracts import EventKind, Head, Json, Message, Query, Retriever, Snippet, TokenCounter, message_tokens
from contextport.strategies import is_system, newest_question
from contextport.strategies.retrieval import snippets_message

from .session_window import SessionWindow, View

__all__ = ["Asked", "SnippetKeeper"]

Report = Callable[[str, EventKind, dict[str, Json]], None]

_MOST_SESSIONS = 1024  # sessions whose newest question has its snippets held
_MOST_SNIPPETS = 1024  # of one answer; what follows ranks too low to matter
_MOST_LEFT = 8  # calls that never came back, after which nothing is searched before one does
_SECONDS = 2.0  # how long a window waits for a search


@frozen(kw_only=True)
class Asked:
    """A question: entry `seq` of the log, asked at `at`. `known` are the entries with facts that it names."""

    message: Message
    seq: int
    at: float | None
    known: tuple[int, ...] = ()


@define
class _Found:
    """What was found for a question, within `tokens`, and the message that was made of it."""

    question: tuple[object, ...]
    tokens: int
    snippets: tuple[Snippet, ...]
    message: Message | None = None
    room: int = -1


@define(kw_only=True)
class SnippetKeeper:
    """Searches `history` and `knowledge` for questions. `others` names the sessions that a session may reach into."""

    history: Retriever | None
    knowledge: Retriever | None
    counter: TokenCounter
    report: Report
    others: Callable[[str], Sequence[str]] | None = None
    seconds: float = _SECONDS
    _left: set[asyncio.Future[tuple[Snippet, ...]]] = field(init=False, factory=set[asyncio.Future[tuple[Snippet, ...]]])
    _found: OrderedDict[str, _Found] = field(init=False, factory=OrderedDict[str, _Found])

    def others_of(self, session_id: str) -> tuple[str, ...]:
        """The other sessions that a session's questions may reach into; none where the host's answer is no list of ids."""
        if self.others is None:
            return ()
        try:
            named: object = self.others(session_id)
        except Exception as error:
            self.report(session_id, EventKind.RETRIEVAL_FAILED, {"retriever": "search_in", "error": type(error).__name__})
            return ()
        if isinstance(named, list | tuple) and all(isinstance(one, str) and one for one in named):
            return tuple([one for one in named if one != session_id])
        self.report(session_id, EventKind.RETRIEVAL_FAILED, {"retriever": "search_in", "error": f"a {type(named).__name__}"})
        return ()

    async def found(self, head: Head, window: SessionWindow, asked: Asked, tokens: int) -> tuple[Snippet, ...]:
        """The snippets for the question that are not in the window, the best first, of `tokens` at least if there are so many."""
        plan, fold, view = window.basis.plan, window.basis.fold, window.view
        shown = plan.turns, plan.floor, 0 if fold is None else fold.record.seq, newest_question(view.messages), _first_said(view)
        question = (asked.message.id, head.epoch, head.incarnation, plan.min_score, *shown)
        held = self._found.get(head.session_id)
        if held is None or held.question != question or held.tokens < tokens:
            held = _Found(question, tokens, await self._searched(head, window, asked, tokens))
            self._found[head.session_id] = held
            if len(self._found) > _MOST_SESSIONS:
                self._found.popitem(last=False)
        self._found.move_to_end(head.session_id)
        return held.snippets

    async def message_once(self, head: Head, window: SessionWindow, asked: Asked, most: int) -> Message | None:
        """The snippets as one message within `most` tokens, for one window that leaves nothing behind."""
        snippets = await self._searched(head, window, asked, most)
        return snippets_message(snippets, self.counter, most, id=f"{asked.message.id}/retrieved", question_at=asked.at)[0]

    async def message(self, head: Head, window: SessionWindow, asked: Asked, room: int, most: int) -> Message | None:
        """The snippets as one message within `most` tokens, and within `room`, which may shrink as the turn goes on."""
        snippets = await self.found(head, window, asked, most)
        held = self._found[head.session_id]
        size = 0 if held.message is None else message_tokens(held.message, self.counter)
        if held.room < 0 or size > room:
            held.room = min(room, most)
            id = f"{asked.message.id}/retrieved"
            held.message, taken = snippets_message(snippets, self.counter, held.room, id=id, question_at=asked.at)
            told: dict[str, Json] = {"snippets": len(taken), "tokens": 0}
            if held.message is not None:
                told["tokens"] = message_tokens(held.message, self.counter)
            self.report(head.session_id, EventKind.SNIPPETS_RETRIEVED, told)
        return held.message

    async def _searched(self, head: Head, window: SessionWindow, asked: Asked, tokens: int) -> tuple[Snippet, ...]:
        """What history and knowledge have, in turns: the best of one, the best of the other, and so on."""
        query = Query(
            text=asked.message.text,
            session_id=head.session_id,
            visible=frozenset([message.id for message in window.view.messages if message.in_conversation]),
            before=asked.seq or None,
            sessions=self.others_of(head.session_id),
            known=asked.known,
            min_score=window.basis.plan.min_score,
            at=asked.at,
        )
        wanted = [(name, one) for name, one in (("history", self.history), ("knowledge", self.knowledge)) if one is not None]
        answers = await asyncio.gather(*[self._ask(name, one, query, tokens) for name, one in wanted])
        longest = max([len(answer) for answer in answers], default=0)
        return tuple([answer[rank] for rank in range(longest) for answer in answers if rank < len(answer)])

    async def _ask(self, name: str, retriever: Retriever, query: Query, tokens: int) -> tuple[Snippet, ...]:
        """The answer of a retriever; none where it fails or takes too long, since a window does not depend on it."""
        if len(self._left) >= _MOST_LEFT:
            return self._without(name, query, "busy")
        call = asyncio.ensure_future(retriever.retrieve(query, max_tokens=tokens))
        try:
            await asyncio.wait({call}, timeout=self.seconds)
        finally:
            if not call.done():  # it is left to itself: foreign code may take its time to end, or never do
                call.cancel()
                self._left.add(call)
                call.add_done_callback(self._came_back)
        if not call.done():
            return self._without(name, query, "TimeoutError")
        if call.cancelled():
            return self._without(name, query, "CancelledError")
        error = call.exception()
        if error is not None:
            return self._without(name, query, type(error).__name__)
        answer: object = call.result()
        if not isinstance(answer, tuple) or not all(isinstance(one, Snippet) and _is_sound(one) for one in answer):
            return self._without(name, query, "no snippets")
        return answer[:_MOST_SNIPPETS]

    def _without(self, name: str, query: Query, error: str) -> tuple[Snippet, ...]:
        self.report(query.session_id, EventKind.RETRIEVAL_FAILED, {"retriever": name, "error": error})
        return ()

    def _came_back(self, call: asyncio.Future[tuple[Snippet, ...]]) -> None:
        self._left.discard(call)
        if not call.cancelled():
            call.exception()  # nobody else asks for it


def _is_sound(snippet: Snippet) -> bool:
    """Whether it holds what its fields say, so that it can be written down."""
    texts = (snippet.text, snippet.session_id, snippet.message_id, snippet.role, snippet.speaker, snippet.source)
    return all(isinstance(text, str) for text in texts) and isinstance(snippet.at, float | int | None)


def _first_said(view: View) -> str:
    return next((message.id for message in view.messages if message.in_conversation and not is_system(message)), "")
