"""Conversations with items planted in them: identifiers, numbers, dates, paths, decisions and constraints.

Half of the sentences join a message that is there, the others are a message of their own; runs with tools have identifiers,
numbers, dates and paths in tool results too. The same seed gives the same conversation.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from random import Random

import retention_chinese
import retention_english
from attrs import frozen
from retention_values import FORMS
from workload import Chat

__all__ = ["EXACT", "KINDS", "Conversation", "Plant", "planted"]

EXACT = ("identifier", "number", "date", "path")
KINDS = (*EXACT, "decision", "constraint")

_SENTENCES = {
    "english": (retention_english.USED, retention_english.HELD),
    "chinese": (retention_chinese.USED, retention_chinese.HELD),
}
_NOTED = {"english": ("Noted.", "Got it.", "Thanks, understood."), "chinese": ("好的。", "记下了。", "明白。")}
# A line of a tool result by kind, or a field of it if it is JSON: its name and the form of its value.
_FIELDS: dict[str, tuple[tuple[str, str], ...]] = {
    "identifier": (("confirmation_code", "booking"), ("trace_id", "uuid"), ("contact", "email"), ("revision", "commit")),
    "number": (("balance_due", "cents"), ("elapsed", "milliseconds"), ("weight", "kilograms"), ("share", "percent")),
    "date": (("expires_on", "iso"), ("updated_at", "timestamp"), ("valid_until", "day_month"), ("next_run", "weekday_time")),
    "path": (("log_file", "var"), ("document_url", "url"), ("source", "line"), ("artifact", "bucket")),
}
_SLOT = re.compile(r"\{(\w+)\}")
_KEY = re.compile(r"\[([^\]]+)\]")
_FORMS = {form: (kind, make) for kind, forms in FORMS.items() for form, make in forms.items()}
_OWN_MESSAGE = 0.5  # share of the sentences that are a message of their own
_IN_RESULTS = 0.3  # share of the exact items of a run with tools that stand in a result
_TRIES = 50


@frozen(kw_only=True)
class Plant:
    """An item and where it is: `text` stands at `start` of the content of message `message`. It is the value itself, or the
    sentence of a decision or constraint, whose `keys` carry the sense. `wording` is what it was made from, `held` whether that
    is a held-out wording.
    """

    kind: str
    text: str
    keys: tuple[str, ...] = ()
    wording: str
    held: bool
    message: int
    start: int


@frozen(kw_only=True)
class Conversation:
    """A conversation in OpenAI chat form and all that was planted in it, in order of place."""

    name: str
    language: str
    chats: tuple[Chat, ...]
    plants: tuple[Plant, ...]


@frozen(kw_only=True)
class _Sentence:
    """What is planted, before it has a place. `at` is where the item begins in the sentence; a field has a name."""

    kind: str
    sentence: str
    text: str
    at: int
    keys: tuple[str, ...]
    wording: str
    held: bool
    field: str = ""


def planted(chats: Sequence[Chat], draw: Random, *, name: str, language: str, people: bool, per_kind: int) -> Conversation:
    """The conversation with `per_kind` items of each kind, a third of them in held-out wordings.

    Every content is a text, if an empty one. `people` says that the assistant is a person too, who may name an identifier,
    a number, a date or a path; what is decided and what has to hold is for the user to say.
    Raises `ValueError` if there are not so many wordings of decisions or constraints.
    """
    said = "\n".join(chat["content"] for chat in chats)
    worded: set[str] = set()
    places: dict[int, list[_Sentence]] = {}
    by_user = [n for n, chat in enumerate(chats) if chat["role"] == "user"]
    by_both = [n for n, chat in enumerate(chats) if chat["role"] in ("user", "assistant")] if people else by_user
    results = [n for n, chat in enumerate(chats) if chat["role"] == "tool"]
    for kind in KINDS:
        for number in range(per_kind):
            inside = bool(results) and kind in EXACT and draw.random() < _IN_RESULTS
            made = _new(draw, said, worded, kind, language, held=number % 3 == 2, field=inside)
            said += "\n" + made.sentence
            worded |= {made.wording} if made.keys else set()
            spoken = by_both if kind in EXACT else by_user
            places.setdefault(draw.choice(results if inside else spoken), []).append(made)
    builder = _Builder(draw, language)
    for n, chat in enumerate(chats):
        builder.add(chat, places.get(n, []))
    return Conversation(name=name, language=language, chats=tuple(builder.chats), plants=tuple(builder.plants))


def _new(draw: Random, said: str, worded: set[str], kind: str, language: str, *, held: bool, field: bool) -> _Sentence:
    """A sentence whose item does not stand in the conversation yet, and which is not the same decision about another thing."""
    wordings = [wording for wording in _SENTENCES[language][held][kind] if wording not in worded]
    for _ in range(_TRIES if wordings else 0):
        made = _field(draw, kind) if field else _worded(draw, kind, draw.choice(wordings), held=held)
        if made.text not in said:
            return made
    raise ValueError(f"there is nothing new of kind {kind} to say in {language}; plant fewer than {len(worded)}")


def _field(draw: Random, kind: str) -> _Sentence:
    name, form = draw.choice(_FIELDS[kind])
    text = _FORMS[form][1](draw)
    return _Sentence(kind=kind, sentence=text, text=text, at=0, keys=(), wording=f"{name}: {{{form}}}", held=False, field=name)


def _worded(draw: Random, kind: str, wording: str, *, held: bool) -> _Sentence:
    sentence, text, at = "", "", 0
    for n, piece in enumerate(_SLOT.split(wording)):
        if n % 2:
            of, make = _FORMS[piece]
            piece = make(draw)
            if of == kind:
                text, at = piece, len(sentence)
        sentence += piece
    keys = tuple(_KEY.findall(sentence))
    plain = _KEY.sub(r"\1", sentence)
    if kind in EXACT:
        return _Sentence(kind=kind, sentence=sentence, text=text, at=at, keys=(), wording=wording, held=held)
    return _Sentence(kind=kind, sentence=plain, text=plain, at=0, keys=keys, wording=wording, held=held)


class _Builder:
    """The conversation as it grows, with the places of what is planted."""

    def __init__(self, draw: Random, language: str) -> None:
        self.chats: list[Chat] = []
        self.plants: list[Plant] = []
        self._draw = draw
        self._space = " " if language == "english" else ""
        self._noted = _NOTED[language]

    def add(self, chat: Chat, sentences: Sequence[_Sentence]) -> None:
        """A message with its sentences: in it, or in messages of their own before it."""
        inside: list[_Sentence] = []
        for made in sentences:
            if chat["role"] == "user" and self._draw.random() < _OWN_MESSAGE:
                self._own(made)
            else:
                inside.append(made)
        content: str = chat["content"]
        for made in inside:
            content = self._into(content, made)
        self.chats.append(chat | {"content": content})

    def _own(self, made: _Sentence) -> None:
        self._note(made, made.at)
        self.chats.append({"role": "user", "content": made.sentence})
        self.chats.append({"role": "assistant", "content": self._draw.choice(self._noted)})

    def _into(self, content: str, made: _Sentence) -> str:
        """The content with one more sentence at its end, or one more field if it is a JSON object."""
        before, after = content + self._space if content else "", ""
        if made.field:
            is_object = content.startswith("{") and content.endswith("}") and len(content) > 2
            before = f'{content[:-1]}, "{made.field}": "' if is_object else f"{content}\n{made.field}: "
            after = '"}' if is_object else ""
        self._note(made, len(before) + made.at)
        return before + made.sentence + after

    def _note(self, made: _Sentence, start: int) -> None:
        self.plants.append(
            Plant(
                kind=made.kind,
                text=made.text,
                keys=made.keys,
                wording=made.wording,
                held=made.held,
                message=len(self.chats),
                start=start,
            )
        )
