"""Facts of messages, found by rules: the same for the same messages, in their own words (R130)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice, zip_longest

from contextport.contracts.facts import Fact, FactKind
from contextport.contracts.messages import JsonPart, Message, Refusal, Text, ToolCall, ToolResult

from .json_facts import json_facts, parsed
from .statements import is_question, sentences, statement_in
from .text_facts import output_facts, text_facts
from .tool_lines import without_markers

__all__ = ["extract_facts"]

_MOST = 1000  # facts of one part; what has more is data, to be asked for again
_READ = 50_000  # characters of a text at either end; what is longer is data as well
_ANSWER = 4_000  # characters of an answer


def extract_facts(messages: Iterable[Message]) -> tuple[Fact, ...]:
    """The facts of messages, each with the one message it was found in, in the order of the text.

    The text of users and assistants is read, arguments of tool calls (label: the tool's name and the path of the value, such as
    `update_reservation.reservation_id`) and tool results (label: the path, such as `reservation.user_id`; text that is not JSON:
    the words next to a value, with a gap for it, of at most 20 values). Not read are system messages, reasoning, and what the
    library itself put into a window or in place of what it left out. Each text of a fact is a piece of the message, as it is; of
    JSON, a piece of what it says. A question is a task only if the message after it does not answer it.
    """
    said = [message for message in messages if message.in_conversation]
    return tuple([fact for message, after in zip_longest(said, said[1:]) for fact in _open_of(message, after)])


def _open_of(message: Message, after: Message | None) -> list[Fact]:
    """The facts of a message without the questions that the next one answers."""
    facts = list(_of(message))
    asked = [fact for fact in facts if fact.kind is FactKind.TASK and fact.role == "user" and is_question(fact.text)]
    if not asked or after is None or not _answers(after):
        return facts
    texts = {fact.text for fact in asked}
    return [fact for fact in facts if fact.kind is not FactKind.TASK or fact.text not in texts]


def _answers(message: Message) -> bool:
    """Whether an assistant's message answers what was asked: it calls no tool, asks nothing and promises nothing."""
    text = message.text
    if message.role != "assistant" or message.tool_calls or not text:
        return False
    told = [statement_in(text[start:end].strip(), "assistant") for start, end in sentences(text[:_ANSWER])]
    return not is_question(text[-_ANSWER:]) and not any(what and what.kind is FactKind.TASK for what in told)


def _of(message: Message) -> Iterator[Fact]:
    if message.role in ("system", "developer"):
        return
    for part in message.parts:
        if isinstance(part, Text | Refusal):
            yield from islice(_text(part.text, message), _MOST)
        elif isinstance(part, ToolCall):
            yield from islice(_call(part, message), _MOST)
        elif isinstance(part, ToolResult):
            yield from islice(_result(part, message), _MOST)


def _text(text: str, message: Message) -> Iterator[Fact]:
    text = without_markers(_ends(text))
    return output_facts(text, message.id) if message.role == "tool" else text_facts(text, message.role, message.id)


def _call(call: ToolCall, message: Message) -> Iterator[Fact]:
    arguments = parsed(call.arguments)
    if arguments is None:
        return text_facts(_ends(call.arguments), "assistant", message.id)
    return json_facts(arguments, call.name, "assistant", message.id)


def _result(result: ToolResult, message: Message) -> Iterator[Fact]:
    for part in result.parts:
        if isinstance(part, JsonPart):
            yield from json_facts(part.value, "", "tool", message.id)
        elif isinstance(part, Text):
            value = parsed(part.text)
            known = value is not None
            yield from json_facts(value, "", "tool", message.id) if known else output_facts(_ends(part.text), message.id)


def _ends(text: str) -> str:
    """The text, or the beginning and the end of one that is too long, on lines of their own."""
    return text if len(text) <= 2 * _READ else f"{text[:_READ]}\n{text[-_READ:]}"
