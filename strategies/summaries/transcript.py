"""A conversation as plain text, in pieces, so that no provider's rules on tools, media or order apply (R124, W10)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from attrs import evolve, frozen

from contextport.contracts import (
    JsonPart,
    Kind,
    Media,
    Message,
    Opaque,
    Part,
    Refusal,
    Text,
    TokenCounter,
    ToolCall,
    ToolResult,
    dump_json,
)
from contextport.strategies.atoms import is_system
from contextport.strategies.head_and_tail import grapheme_cut

from .summary_message import HEADING

__all__ = ["Piece", "pieces_of", "taken", "text_of_summary"]

_WORD_REACH = 200  # characters that a cut goes back to spare a word, a path or a sentence
_CHARS_PER_TOKEN = 16  # no more of a text is tried per token: one that is longer by far is no writing
_CONTINUED = ", continued"
_BREAKS = frozenset("\u3002\uff01\uff1f\uff1b\uff0c\u3001")  # ends of sentences and clauses in Chinese and Japanese
_BRACKETS = re.compile(r"[\[\]]")
_LIKE_AN_ENTRY = re.compile(r"(?<=[\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029])[^\S\n]*+(?=\[)")


@frozen
class Piece:
    """Something that was said, and who or what says it."""

    label: str
    text: str

    @property
    def entry(self) -> str:
        """The piece as it stands in a transcript. Only its own first line begins with a bracket, so no text can forge another."""
        label = " ".join(_BRACKETS.sub("", self.label).split())
        return f"[{label}] {_LIKE_AN_ENTRY.sub('  ', self.text)}"


def pieces_of(messages: Sequence[Message]) -> list[Piece]:
    """What the messages say, in order: texts, calls with their arguments, results. Media become a short note.

    What system messages say, and what a model thought, is left out (R48, R124, R128). A summary is read whatever its role (W51).
    """
    names: dict[str, str] = {}
    found: list[Piece] = []
    for message in messages:
        if message.kind is Kind.SUMMARY:
            found.append(Piece("summary of what came before", text_of_summary(message)))
        elif not is_system(message) and message.kind not in (Kind.RECORD, Kind.SYSTEM_PROMPT):
            found += _said(message, names)
    return [piece for piece in found if piece.text.strip()]


def text_of_summary(message: Message) -> str:
    """What a message of kind summary says, without its heading."""
    return message.text.removeprefix(HEADING).strip()


def _said(message: Message, names: dict[str, str]) -> Iterator[Piece]:
    who = _speaker(message)
    texts: list[str] = []
    for part in message.parts:
        if isinstance(part, ToolCall | ToolResult):
            yield from _joined(who, texts)
            texts = []
            yield _step(part, names)
        else:
            texts += _text(part)
    yield from _joined(who, texts)


def _speaker(message: Message) -> str:
    if message.kind is not Kind.CHAT:
        return {Kind.INTERRUPT: "note to the assistant"}.get(message.kind, message.kind.value)
    return f"{message.role} {message.name}" if message.name else message.role


def _joined(who: str, texts: list[str]) -> Iterator[Piece]:
    if texts:
        yield Piece(who, "\n".join(texts))


def _step(part: ToolCall | ToolResult, names: dict[str, str]) -> Piece:
    if isinstance(part, ToolCall):
        names[part.call_id] = part.name
        return Piece(f"assistant calls {part.name}", part.arguments or "{}")
    name = part.name or names.get(part.call_id, "a tool")
    said = [text for inner in part.parts for text in _text(inner)]
    return Piece(f"{'error' if part.status == 'error' else 'result'} of {name}", "\n".join(said) or "(nothing)")


def _text(part: Part) -> Iterator[str]:
    if isinstance(part, Text | Refusal):
        yield part.text
    elif isinstance(part, JsonPart):
        yield dump_json(part.value)
    elif isinstance(part, Media):
        yield f"({part.media}{f' {part.name}' if part.name else ''})"
    elif isinstance(part, Opaque):
        yield f"(other content: {part.type})"


def taken(pieces: Sequence[Piece], room: int, counter: TokenCounter) -> tuple[list[str], list[Piece]]:
    """The entries that fit `room` tokens, and the pieces that are left. Whole pieces, unless the first is larger than the room.

    No entry is taken where not even the beginning of the first piece fits.
    """
    entries: list[str] = []
    for n, piece in enumerate(pieces):
        size = counter.count_text(piece.entry + "\n")
        if size > room:
            if entries:
                return entries, list(pieces[n:])
            beginning, rest = _split(piece, room, counter)
            return ([beginning.entry], [rest, *pieces[n + 1 :]]) if beginning.text else ([], list(pieces))
        entries.append(piece.entry)
        room -= size
    return entries, []


def _split(piece: Piece, room: int, counter: TokenCounter) -> tuple[Piece, Piece]:
    """The longest beginning that fits, cut between words if it can be and never inside a grapheme, and the rest."""
    text = piece.text
    low, high = 0, min(len(text) - 1, max(1, room) * _CHARS_PER_TOKEN)
    while low < high:
        middle = (low + high + 1) // 2
        if counter.count_text(evolve(piece, text=text[:middle]).entry + "\n") <= room:
            low = middle
        else:
            high = middle - 1
    at = grapheme_cut(text, _between_words(text, low))
    return evolve(piece, text=text[:at]), Piece(piece.label.removesuffix(_CONTINUED) + _CONTINUED, text[at:])


def _between_words(text: str, at: int) -> int:
    for position in range(at, max(at // 2, at - _WORD_REACH), -1):
        if text[position].isspace() or text[position - 1].isspace() or text[position - 1] in _BREAKS:
            return position
    return at
