"""The fake summarisers of case files: chat models that write what a case says, or fail as it says."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Callable, Sequence
from itertools import cycle, islice
from typing import Any, Final, cast

from contextport.contracts import (
    ChatModel,
    Completion,
    Json,
    Message,
    ModelCallFailed,
    ProviderFailure,
    StopReason,
    StreamsCompletions,
    TextDelta,
    TokenCounter,
    implements,
    to_chat,
)

from .case_input import case_messages
from .check_registry import texts_of
from .evidence import Dict

__all__ = ["Asked", "CaseSummariser"]

#: What a fake says where a case tells it only how much.
_FILLER: Final = ["the", "talk", "went", "on", "and", "more", "of", "the", "same", "was", "said", "about", "it"]
_RECAP: Final = "They talked about several things"
_EARLIER: Final = re.compile(r"<summary_so_far(?:_\d+)?>\n(.*?)\n</summary_so_far|^\[Conversation summary\]\n(.*)", re.DOTALL)
_PIECE = 8
_RUN = 3  # words that are no chance


@implements(ChatModel, StreamsCompletions)
class CaseSummariser:
    """A fake model that summarises. `requests` are the wire messages that it was sent.

    Input above `window` is refused as an overflow; `declared_window` is what the library is told of it. One that blocks says so
    by `blocked`, and goes on after `release`.
    """

    host = ""
    api = "openai.chat"
    model = "case-summariser"

    def __init__(self, given: Dict, counter: TokenCounter) -> None:
        self._fake: Dict = given["fake_summariser"]
        self._counter = counter
        self._said = [text for wire in case_messages(given) for text in texts_of(wire.get("content"))]
        self._released = asyncio.Event()
        self.blocked = asyncio.Event()
        self.requests: list[list[Dict]] = []
        _answer_of(self._fake)

    @property
    def window(self) -> int | None:
        """The window that it really has."""
        return self._number("window")

    @property
    def declared_window(self) -> int | None:
        """The window that the library is told."""
        declared = self._number("declared_window")
        return self.window if declared is None else declared

    def release(self) -> None:
        """Let calls that wait, and all later ones, go on."""
        self._released.set()

    def _number(self, name: str) -> int | None:
        return int(self._fake[name]) if name in self._fake else None

    async def complete(
        self, messages: Sequence[Message], *, max_output: int | None = None, tools: Sequence[Json] = ()
    ) -> Completion:
        text, failure = await self._answer(messages)
        if failure is not None:
            raise failure
        return _completion(text)

    async def stream(
        self, messages: Sequence[Message], *, max_output: int | None = None, tools: Sequence[Json] = ()
    ) -> AsyncGenerator[TextDelta | Completion]:
        text, failure = await self._answer(messages)
        for n in range(0, len(text), _PIECE):
            yield TextDelta(text[n : n + _PIECE])
        if failure is not None:
            raise failure
        yield _completion(text)

    async def _answer(self, messages: Sequence[Message]) -> tuple[str, ModelCallFailed | None]:
        """What is written, and the failure that comes after it."""
        request = to_chat(messages)
        self.requests.append(request)
        size = sum(self._counter.count_message(message) for message in messages)
        if self.window is not None and size > self.window:
            return "", _overflow(size, self.window)
        fake = self._step(len(self.requests) - 1)
        if fake["kind"] == "blocks_until_released":
            self.blocked.set()
            await self._released.wait()
        return _answer_of(fake)(fake, Asked(request, size, self._said))

    def _step(self, number: int) -> Dict:
        """The kind for this call. The last one of a sequence goes on for ever."""
        if self._fake["kind"] != "sequence":
            return self._fake
        steps = cast(list[Dict], self._fake["steps"])
        return {**self._fake, **steps[min(number, len(steps) - 1)]}


class Asked:
    """One request as a fake sees it: `text` is all that it says, `size` its tokens."""

    def __init__(self, request: list[Dict], size: int = 0, said: Sequence[str] = ()) -> None:
        self.request = request
        self.size = size
        self.text = "\n".join(text for wire in request for text in texts_of(wire.get("content")))
        self._said = said

    @property
    def earlier(self) -> str:
        """The summary so far that the request tells, if it tells one."""
        found = [_EARLIER.search(text) for wire in self.request for text in texts_of(wire.get("content"))]
        return next((match[1] or match[2] for match in found if match), "")

    @property
    def has_conversation(self) -> bool:
        """Whether anything of the case's messages is in it, or an earlier summary. A run of a few words is told from others."""
        told = f" {' '.join(self.text.split())} "
        runs = (run for text in self._said for run in _runs(text.split()))
        return bool(self.earlier) or any(f" {run} " in told for run in runs)

    @property
    def roles(self) -> set[str]:
        return {str(wire.get("role")) for wire in self.request}

    @property
    def part_types(self) -> set[str]:
        contents = [wire.get("content") for wire in self.request]
        return {str(part.get("type")) for content in contents if isinstance(content, list) for part in cast(list[Dict], content)}


Answered = tuple[str, ModelCallFailed | None]


def _fixed(fake: Dict, asked: Asked) -> Answered:
    return str(fake.get("text", "")), None


def _fixed_words(fake: Dict, asked: Asked) -> Answered:
    return _words(int(fake["n"])), None


def _echo_facts(fake: Dict, asked: Asked) -> Answered:
    found = dict.fromkeys(match[0] for match in re.finditer(str(fake["pattern"]), asked.text))
    return " ".join(found), None


def _longer_than_input(fake: Dict, asked: Asked) -> Answered:
    return _words(int(asked.size * float(fake.get("factor", 2)))), None


def _append_to_previous(fake: Dict, asked: Asked) -> Answered:
    adds: Any = fake.get("adds", fake.get("n", 1))
    return f"{asked.earlier} {_words(int(adds))}".strip(), None


def _raises(fake: Dict, asked: Asked) -> Answered:
    return "", _failed(int(fake.get("status", 500)), str(fake.get("message", "the summariser failed")))


def _stream_then_raise(fake: Dict, asked: Asked) -> Answered:
    return str(fake.get("text", _words(5))), _raises(fake, asked)[1]


def _reply_to_empty(fake: Dict, asked: Asked) -> Answered:
    return str(fake.get("recap", _RECAP)) if asked.has_conversation else str(fake["text"]), None


def _strict_roles(fake: Dict, asked: Asked) -> Answered:
    needed = str(fake.get("needs", "user"))
    if needed not in asked.roles:
        return "", _failed(400, f"messages: at least one message with the role {needed} is required")
    return _fixed(fake, asked)


def _rejects_part_types(fake: Dict, asked: Asked) -> Answered:
    refused = sorted(asked.part_types & set(fake["types"]))
    if refused:
        return "", _failed(400, f"Invalid value: {refused[0]!r}. This model takes no such content")
    return _fixed(fake, asked)


_ANSWERS: Final[dict[str, Callable[[Dict, Asked], Answered]]] = {
    "fixed": _fixed,
    "fixed_words": _fixed_words,
    "echo_facts": _echo_facts,
    "longer_than_input": _longer_than_input,
    "append_to_previous": _append_to_previous,
    "raises": _raises,
    "stream_then_raise": _stream_then_raise,
    "reply_to_empty": _reply_to_empty,
    "strict_roles": _strict_roles,
    "rejects_part_types": _rejects_part_types,
    "blocks_until_released": _fixed,
}


def _answer_of(fake: Dict) -> Callable[[Dict, Asked], Answered]:
    """Raises `ValueError` for a kind that is not known, also one within a sequence."""
    kind: Any = fake.get("kind")
    if kind == "sequence":
        first, *_ = [_answer_of(step) for step in fake["steps"]]
        return first
    if kind not in _ANSWERS:
        raise ValueError(f"the summariser {kind!r} is not known; known: {', '.join(_ANSWERS)}, sequence")
    return _ANSWERS[kind]


def _runs(words: list[str]) -> list[str]:
    return [" ".join(words[n : n + _RUN]) for n in range(max(1, len(words) - _RUN + 1))] if words else []


def _words(count: int) -> str:
    return " ".join(islice(cycle(_FILLER), count))


def _completion(text: str) -> Completion:
    return Completion(message=Message.assistant(text), stop=StopReason.END, raw_stop="stop")


def _overflow(size: int, window: int) -> ModelCallFailed:
    said = f"This model's maximum context length is {window} tokens. However, your messages resulted in {size} tokens."
    return _failed(400, said, code="context_length_exceeded")


def _failed(status: int, said: str, code: str | None = None) -> ModelCallFailed:
    kind = "server_error" if status >= 500 else "invalid_request_error"
    failure = ProviderFailure(status=status, code=code, type=kind, message=said)
    return ModelCallFailed(f"the provider answered {status}: {said}", failure=failure)
