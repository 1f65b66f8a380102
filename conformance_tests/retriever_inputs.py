"""What the retriever rules search: short texts about different things, and questions with their rare words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from contextport.contracts import ContextStore, Draft, Entry, Message
from contextport.contracts.retrieval import Query, Retriever, Snippet

__all__ = ["DOCUMENTS", "FEW", "QUESTIONS", "SESSION", "add", "drafts_of", "find", "texts_of", "with_fillers"]

SESSION = "s"
FEW = 100  # tokens: several of the texts by any counter of words, one by a counter of characters, never all
_MANY = 20_000  # tokens: all of them

_THINGS = (
    "breakfast was toast with jam",
    "the train to work was late",
    "our garden needs more water",
    "the neighbours have a new dog",
    "it rained for most of the day",
    "the meeting went on until noon",
    "we painted the kitchen wall",
    "dinner was soup and bread",
    "the cinema shows an old film",
    "my brother called in the evening",
    "the shop closes early on Sunday",
    "a parcel came for the lady below",
)
_DAYS = ("On Monday", "On Tuesday", "On Thursday")
_FILLERS = tuple([f"{day} {thing}." for day in _DAYS for thing in _THINGS])

#: Texts with rare words, in many scripts, and a question that has these words among others.
_TARGETS = (
    ("safari", "Ann saw a giraffe on her trip to Zanzibar.", "When did she travel to Zanzibar?"),
    ("school", "Die Prüfung in Straßenbau war für Jürgen schwer.", "Wie war die Prüfung von Jürgen?"),
    ("letter", "Бабушка прислала письмо из Новосибирска.", "Что прислала бабушка из Новосибирска?"),
    ("island", "Το πλοίο φεύγει για τη Σαντορίνη το πρωί.", "Πότε φεύγει το πλοίο για τη Σαντορίνη;"),  # noqa: RUF001
    ("tea", "我妹妹最喜欢喝龙井茶。", "妹妹喜欢喝什么龙井茶?"),
    ("mountain", "先週、富士山に登りました。", "いつ富士山に登りましたか"),
    ("market", "어제 남대문시장에서 모자를 샀어요.", "남대문시장에서 무엇을 샀어요?"),
    ("library", "قرأت كتابا عن الأندلس في المكتبة.", "أين قرأت عن الأندلس؟"),
    ("song", "היא שרה שיר ישן בירושלים.", "מי שרה שיר בירושלים?"),
    ("festival", "हम दीवाली पर वाराणसी गए थे।", "दीवाली पर वाराणसी कौन गए"),
    ("contract", "The contract AB-2024-001 was signed by Otto.", "Who signed AB-2024-001?"),
    ("error", "The pump stopped with E4021 after a week.", "What does E4021 mean?"),
)


def with_fillers(documents: Mapping[str, str]) -> dict[str, str]:
    """The documents with three texts about other things after each, and some before the first."""
    mixed = {f"note {n}": f"First of all: {text}" for n, text in enumerate(_FILLERS[:3])}
    for place, (name, text) in enumerate(documents.items()):
        mixed[name] = text
        for n in range(3):
            at = (3 * place + n) % len(_FILLERS)
            mixed[f"after {name} {n}"] = _FILLERS[at] if place < len(_FILLERS) // 3 else f"{place}: {_FILLERS[at]}"
    return mixed


#: 50 texts by name.
DOCUMENTS: dict[str, str] = with_fillers({name: text for name, text, _ in _TARGETS})
#: A question by the name of the text that it is about.
QUESTIONS: dict[str, str] = {name: question for name, _, question in _TARGETS}


def drafts_of(documents: Mapping[str, str], **more: Any) -> list[Draft]:
    """The documents as user messages, with their names as ids."""
    messages = [Message.user(text, id=name, **more) for name, text in documents.items()]
    return [Draft(message=message, tokens=len(message.text.split()), counter="words", at=5.0) for message in messages]


async def add(store: ContextStore, session_id: str, *messages: Message) -> tuple[Entry, ...]:
    """Append messages to a session."""
    return await store.append(session_id, [Draft(message=message, tokens=3, counter="words", at=5.0) for message in messages])


async def find(
    retriever: Retriever, text: str, *, max_tokens: int = _MANY, session_id: str = SESSION, **more: Any
) -> Sequence[Snippet]:
    """What the retriever finds for a question."""
    found = await retriever.retrieve(Query(text=text, session_id=session_id, **more), max_tokens=max_tokens)
    assert isinstance(found, tuple), f"retrieve returned a {type(found).__name__}, not a tuple"
    return found


def texts_of(found: Sequence[Snippet]) -> list[str]:
    """The texts of snippets."""
    return [snippet.text for snippet in found]
