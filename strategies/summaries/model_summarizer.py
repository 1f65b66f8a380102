"""Summaries by a language model (R112 to R117, R121, R126 to R129, R178, R179)."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

from contextport.contracts import ErrorClassifier, InvalidArgument, Kind, Message, SummaryFailed, TokenCounter, implements
from contextport.contracts.model import ChatModel
from contextport.contracts.profile import ProviderProfile
from contextport.contracts.summary import Summarizer, Summary, SummaryRequest
from contextport.strategies.arguments import check_count
from contextport.strategies.provider_rules import profile_for, repair

from .instruction_texts import brief_instruction, closing, fork_instruction, full_instruction
from .model_calls import ModelCalls
from .transcript import Piece, pieces_of, taken, text_of_summary

__all__ = ["ModelSummarizer"]

_MARGIN = 1.5  # tokens of an answer per token of the summary in it: field names, quotes, facts, and a model that counts badly
_LEAST_MARGIN = 16
_MARGIN_SHARE = 16  # at most this part of the window is kept free for the margin
_BRIEF_BELOW = 4  # how many times the instruction has to fit the window
_REFITS = 8


@implements(Summarizer)
class ModelSummarizer:
    """Has a chat model write the summary.

    The conversation goes along as plain text in one user message, between tags: so neither tools, media nor the order of roles
    can break a rule of the provider, and what the text says stays data. `window` is how many tokens a request and its answer may
    take together; what does not fit is read in parts, each with the summary of those before it. Without it all is sent at once.
    Where `classifier` reads an overflow in the provider's error, parts become smaller, within `max_calls` calls in all; without a
    classifier, an overflow is a failure like any other.

    `same_model` says that the request's `live` goes to this very model: it is then continued by one user message, so that what
    the provider has cached is read and not paid for again. `profile`, or the name of a model to find it by, makes that valid.
    `reasoning_room` are tokens of an answer for a model that thinks before it writes.

    An answer that is cut, refused, filtered, unreadable or empty raises `SummaryFailed`. One that is too long is shortened by
    whole items and sentences, the least valuable first.
    """

    def __init__(
        self,
        model: ChatModel,
        counter: TokenCounter,
        *,
        window: int | None = None,
        profile: ProviderProfile | str | None = None,
        classifier: ErrorClassifier | None = None,
        same_model: bool = False,
        reasoning_room: int = 0,
        max_calls: int = 64,
    ) -> None:
        if window is not None:
            check_count("window", window)
        check_count("max_calls", max_calls)
        if reasoning_room < 0:
            raise InvalidArgument(
                f"reasoning_room is {reasoning_room}; it must be 0 or more", name="reasoning_room", value=reasoning_room
            )
        self._model, self._counter, self._classifier = model, counter, classifier
        self._window, self._reasoning_room, self._max_calls = window, reasoning_room, max_calls
        self._profile = profile_for(profile) if isinstance(profile, str) else profile
        self._same_model = same_model

    @property
    def same_model(self) -> bool:
        """Whether it continues the live request, so that the cached prefix is read."""
        return self._same_model

    @property
    def max_input(self) -> int | None:
        """Three quarters of the window, reasoning and instruction taken off: the rest is for summaries and the answer."""
        if self._window is None:
            return None
        frame = self._counter.count_text(full_instruction(SummaryRequest(messages=(), max_tokens=self._window)))
        most = (self._window - self._reasoning_room) * 3 // 4
        return max(1, most - frame if frame * _BRIEF_BELOW <= self._window else most)

    async def summarize(self, request: SummaryRequest) -> Summary:
        check_count("max_tokens", request.max_tokens)
        if not request.messages:
            raise InvalidArgument("there are no messages to summarise", name="messages", value=())
        max_output = self._max_output(request.max_tokens)
        most_input = None if self._window is None else self._window - max_output
        calls = ModelCalls(
            model=self._model,
            counter=self._counter,
            classifier=self._classifier,
            request=request,
            max_output=max_output,
            most_input=most_input,
            most_calls=self._max_calls,
        )
        summary = await self._forked(calls) if self._same_model and request.live else None
        return await self._in_parts(calls) if summary is None else summary

    def _max_output(self, max_tokens: int) -> int:
        """The limit of an answer: more than the summary may take, and no more of the margin than a small window affords."""
        margin = max(_LEAST_MARGIN, ceil(max_tokens * (_MARGIN - 1)))
        if self._window is not None:
            margin = min(margin, self._window // _MARGIN_SHARE)
        return max_tokens + margin + self._reasoning_room

    async def _forked(self, calls: ModelCalls) -> Summary | None:
        """The summary by continuing the live request; None if that is too large, or if the model called a tool."""
        request = calls.request
        messages: Sequence[Message] = (*request.live, Message.user(fork_instruction(request), id=f"{request.live[-1].id}/fork"))
        if self._profile is not None:
            messages = repair(messages, self._profile, tools=request.tools).messages
        size = sum([self._counter.count_message(message) for message in messages]) + self._counter.count_tools(request.tools)
        if calls.most_input is not None and size > calls.most_input:
            return None
        return await calls.ask(messages, size, size // 2, tools=request.tools)

    async def _in_parts(self, calls: ModelCalls) -> Summary:
        """The summary of the text, read from its beginning to its end in as few parts as fit."""
        so_far, pieces = self._opened(calls)
        if not pieces and not so_far:
            raise calls.failed("the messages say nothing that could be summarised")
        summary: Summary | None = None
        checked_for: int | None = None
        while pieces or summary is None:
            message, left = self._part(calls, so_far, pieces)
            if calls.most_input is not None and calls.most_input != checked_for:
                checked_for = calls.most_input
                self._check_calls(calls, left)
            tokens = self._counter.count_message(message)
            found = await calls.ask([message], tokens, self._half(calls, so_far, tokens))
            if found is not None:
                summary, so_far, pieces = found, found.render(), left
        return summary

    def _opened(self, calls: ModelCalls) -> tuple[str, list[Piece]]:
        """The summary that comes first, and the rest in pieces. One that would fill the window is read in parts like the rest."""
        first, *rest = calls.request.messages
        if first.kind is Kind.SUMMARY:
            text = text_of_summary(first)
            if calls.most_input is None or self._counter.count_text(text) * 2 <= calls.most_input:
                return text, pieces_of(rest)
        return "", pieces_of(calls.request.messages)

    def _part(self, calls: ModelCalls, so_far: str, pieces: list[Piece]) -> tuple[Message, list[Piece]]:
        """The next request: the summary so far and as much of the text as fits; and what is left of the text."""
        instruction, end = self._instruction(calls)
        bare = _message(instruction, so_far, [], end)
        if calls.most_input is None:
            return _message(instruction, so_far, [piece.entry for piece in pieces], end), []
        room = calls.most_input - self._counter.count_message(bare)
        for _ in range(_REFITS):
            entries, left = taken(pieces, room, self._counter) if room > 0 else ([], pieces)
            message = _message(instruction, so_far, entries, end)
            over = self._counter.count_message(message) - calls.most_input
            if pieces and not entries:
                break
            if over <= 0:
                return message, left
            room -= over
        raise self._no_room(calls, bare)

    def _half(self, calls: ModelCalls, so_far: str, tokens: int) -> int:
        """The size of a request with half as much text as one of `tokens`, and the brief instruction."""
        instruction, end = self._instruction(calls)
        frame = self._counter.count_message(_message(instruction, so_far, [], end))
        brief = self._counter.count_message(_message(brief_instruction(calls.request), so_far, [], ""))
        return (tokens - frame) // 2 + brief

    def _instruction(self, calls: ModelCalls) -> tuple[str, str]:
        """The instruction and the words after the text, in a form that leaves room for the text."""
        full = full_instruction(calls.request)
        if calls.most_input is not None and self._counter.count_text(full) * _BRIEF_BELOW > calls.most_input + calls.max_output:
            return brief_instruction(calls.request), ""
        return full, closing()

    def _check_calls(self, calls: ModelCalls, left: list[Piece]) -> None:
        """Raise before anything more is paid for if the text that is `left` after the next call cannot be read to its end."""
        size = sum([self._counter.count_text(piece.entry) for piece in left])
        instruction, end = self._instruction(calls)
        room = (calls.most_input or 0) - self._counter.count_message(_message(instruction, "", [], end))
        more = calls.most_calls - calls.calls - 1
        if size > room * more:
            raise calls.failed(
                f"after the next call {size} tokens are left to be read, {room} at a time, and {more} calls; fold less at once, "
                "or raise max_calls or window"
            )

    def _no_room(self, calls: ModelCalls, bare: Message) -> SummaryFailed:
        return calls.failed(
            f"a request may have {calls.most_input} tokens beside an answer of {calls.max_output}, and without any text of the "
            f"conversation it has {self._counter.count_message(bare)} already; lower max_tokens, or use a larger window"
        )


def _message(instruction: str, so_far: str, entries: Sequence[str], end: str) -> Message:
    """One user message: a request of system messages alone is refused by some."""
    text = "\n".join(entries)
    sections = [_tagged("summary_so_far", so_far), _tagged("transcript", text)]
    return Message.user("\n\n".join([part for part in (instruction, *sections, end) if part]), id="summary-request")


def _tagged(tag: str, text: str) -> str:
    """The text between tags that do not occur in it, so that it cannot end its section."""
    if not text:
        return ""
    name, n = tag, 1
    while f"{name}>" in text:
        n += 1
        name = f"{tag}_{n}"
    return f"<{name}>\n{text}\n</{name}>"
