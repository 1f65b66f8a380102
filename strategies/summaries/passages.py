"""What of a conversation a summary may quote: the words of users, models and tools, piece by piece."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from attrs import frozen

from contextport.contracts import Importance, JsonPart, Kind, Message, Refusal, Text, ToolCall, ToolResult
from contextport.contracts.json_values import dump_json
from contextport.strategies.facts.tool_lines import telling_lines

from .sentences import pieces_of

__all__ = ["Passage", "passages_of", "quoted", "readable_texts"]

_SILENT = frozenset(["system", "developer"])
_ASIDE = re.compile(r"<(think|thinking|scratchpad|analysis|reasoning)>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_FEW = 6  # line ends of an output that is read as it is
_SPEAKER = re.compile(r"(user|assistant|tool): ")


@frozen(kw_only=True)
class Passage:
    """A piece of a message that can stand alone. `place` is its number among all pieces, `turn` that of its message.

    `is_call` is of a message that calls a tool: what it is called with, and what is said beside it.
    """

    text: str
    speaker: str
    place: int
    turn: int
    importance: Importance = Importance.NORMAL
    is_call: bool = False


def quoted(message: Message) -> bool:
    """Whether a summary reads the message: what was said, and an earlier summary; no system message, no record of ours."""
    return message.kind is Kind.SUMMARY or (message.in_conversation and message.role not in _SILENT)


def readable_texts(message: Message) -> Iterator[tuple[str, str]]:
    """The texts of a message after the name of a tool that they were sent to, or an empty name. Reasoning is left out."""
    for part in message.parts:
        if isinstance(part, Text | Refusal):
            yield "", _ASIDE.sub("", part.text) if message.role == "assistant" else part.text
        elif isinstance(part, ToolCall):
            yield part.name, part.arguments
        elif isinstance(part, ToolResult):
            yield from (("", text) for text in _result_texts(part))


def _result_texts(result: ToolResult) -> Iterator[str]:
    for part in result.parts:
        if isinstance(part, Text):
            yield part.text
        elif isinstance(part, JsonPart):
            yield dump_json(part.value)


def passages_of(messages: Iterable[Message], before: str = "") -> Iterator[Passage]:
    """The pieces of `before`, the prose of an earlier summary, then those of all messages that are read. Summaries are not."""
    place = 0
    for line in before.splitlines():
        spoken = _SPEAKER.match(line)
        for piece in pieces_of(line[spoken.end() :] if spoken else line):
            yield Passage(text=piece, speaker=spoken[1] if spoken else "", place=place, turn=-1)
            place += 1
    for turn, message in enumerate(messages):
        if not quoted(message) or message.kind is Kind.SUMMARY:
            continue
        importance = Importance.DECISION if message.pinned else message.importance
        for name, text in readable_texts(message):
            speaker = "tool" if message.tool_results else message.role
            for piece in _told(text) if speaker == "tool" and not name else pieces_of(text, name):
                is_call = bool(name or message.tool_calls)
                yield Passage(text=piece, speaker=speaker, place=place, turn=turn, importance=importance, is_call=is_call)
                place += 1


def _told(text: str) -> Iterator[str]:
    """The pieces of what a tool wrote: of more than a few lines that are no JSON, only what came out."""
    if text.lstrip()[:1] in ("{", "["):
        yield from pieces_of(text)
        return
    lines = telling_lines(text)
    told = [line for line in lines if line.told] if text.count("\n") >= _FEW else lines
    yield from pieces_of("\n".join([line.text for line in told]))
