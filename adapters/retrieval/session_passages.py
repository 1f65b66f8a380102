"""The passages of one epoch of a session, in memory: what a search ranks and quotes."""

from __future__ import annotations

import threading
from array import array
from collections.abc import Callable, Sequence

from attrs import define, field, frozen

from contextport.contracts import Entry, Head, Message, TokenCounter, new_id
from contextport.contracts.retrieval import IndexedText, Snippet
from contextport.strategies.retrieval.passage_worth import worth_of
from contextport.strategies.retrieval.passages import passages_of
from contextport.strategies.retrieval.ranking import SPEAKER_BONUS
from contextport.strategies.retrieval.terms import terms_of

__all__ = ["Origin", "SessionPassages", "id_of", "indexed", "place_of", "searched"]

_PARTS = 1 << 10  # passages of a message have numbers below this
_UNSPOKEN = ("system", "developer")  # instructions of the host stay in the window, and nobody said them

_Call = tuple[str, str]


def id_of(seq: int, part: int) -> int:
    """The id of a passage in the indexes."""
    return seq * _PARTS + part


def place_of(id: int) -> tuple[int, int]:
    """The seq of the message that a passage is of, and its number in it."""
    return divmod(id, _PARTS)


@frozen(kw_only=True)
class Origin:
    """The message that passages are of. `call` is what was asked for, if it is the result of a tool, and that is known."""

    seq: int
    message_id: str
    role: str
    speaker: str
    at: float | None
    is_result: bool
    call: _Call | None


@define(kw_only=True, eq=False)
class SessionPassages:
    """Passages in the order of the log, by place: columns of equal length. `last_seq` is the newest entry that was read.

    `space` is where they lie in the indexes; no other object has the same, so that indexes may be shared. `users` counts who
    searches or fills them. `is_over` tells that the epoch ended or the session was let go of.

    Whoever reads or writes columns holds `lock`, and awaits nothing meanwhile.
    """

    session_id: str
    epoch: int
    incarnation: str
    space: str = field(factory=new_id)
    last_seq: int = 0
    characters: int = 0
    users: int = 0
    is_over: bool = False
    ids: list[int] = field(factory=list[int])
    texts: list[str] = field(factory=list[str])
    origins: list[Origin] = field(factory=list[Origin])
    worth: array[float] = field(factory=lambda: array("d"))
    places: dict[int, int] = field(factory=dict[int, int])
    embedded: set[int] = field(factory=set[int])
    are_vectors_read: bool = False
    lock: threading.Lock = field(factory=threading.Lock, repr=False)
    _sizes: dict[int, int] = field(init=False, factory=dict[int, int])
    _names: dict[str, frozenset[str]] = field(init=False, factory=dict[str, frozenset[str]])
    _others: frozenset[str] = field(init=False, default=frozenset())
    _calls: dict[str, _Call] = field(init=False, factory=dict[str, _Call])
    _newest: dict[_Call, int] = field(init=False, factory=dict[_Call, int])

    def is_of(self, head: Head) -> bool:
        """Whether these are the passages of the epoch that is current by the head."""
        return (self.epoch, self.incarnation) == (head.epoch, head.incarnation)

    def add(self, entries: Sequence[Entry]) -> None:
        """Take the entries that are newer than those that were taken."""
        with self.lock:
            for entry in entries:
                if entry.seq > self.last_seq:
                    self._take(entry)
                    self.last_seq = entry.seq

    def unembedded(self, most: int) -> list[int]:
        """Ids of the oldest passages that have no vector yet."""
        with self.lock:
            if len(self.embedded) >= len(self.ids):
                return []
            missing = (id for id in self.ids if id not in self.embedded)
            return [id for id, _ in zip(missing, range(most), strict=False)]

    def spoken(self, id: int) -> str:
        """A passage as it is embedded: with its speaker, since questions name people."""
        with self.lock:
            place = self.places[id]
            return _spoken(self.origins[place].speaker, self.texts[place])

    def bonus(self, question: frozenset[str]) -> Callable[[int], float]:
        """What a passage gets whatever else it says, by its place, for a question of these terms."""
        named = [name for name, terms in self._names.items() if terms and terms <= question]
        if len(named) != 1:  # who is asked about is not clear
            return self.worth.__getitem__
        asked, worth, origins = named[0], self.worth, self.origins
        return lambda place: worth[place] + (SPEAKER_BONUS if origins[place].speaker == asked else 0.0)

    def places_of(self, seq: int) -> Sequence[int]:
        """The places of the passages of an entry."""
        places: list[int] = []
        while (place := self.places.get(id_of(seq, len(places)))) is not None:
            places.append(place)
        return places

    def snippet(self, place: int, score: float, counter: TokenCounter) -> Snippet:
        """A passage as it is returned."""
        origin = self.origins[place]
        size = self._sizes.get(place)
        if size is None:
            size = self._sizes[place] = counter.count_text(self.texts[place])
        return Snippet(
            text=self.texts[place],
            score=score,
            tokens=size,
            session_id=self.session_id,
            message_id=origin.message_id,
            seq=origin.seq,
            role=origin.role,
            speaker=origin.speaker,
            at=origin.at,
            is_stale=origin.call is not None and self._newest[origin.call] > origin.seq,
        )

    def _take(self, entry: Entry) -> None:
        message = entry.message
        self._calls.update((call.call_id, (call.name, call.arguments)) for call in message.tool_calls)
        texts = searched(message)
        if not texts:
            return
        origin = Origin(
            seq=entry.seq,
            message_id=message.id,
            role=message.role,
            speaker=message.name or "",
            at=entry.at if message.created_at is None else message.created_at,
            is_result=bool(message.tool_results),
            call=self._call(message),
        )
        if origin.call is not None:
            self._newest[origin.call] = entry.seq
        if origin.speaker and origin.speaker not in self._names:
            self._names[origin.speaker] = frozenset(terms_of(origin.speaker))
            self._others = frozenset().union(*self._names.values())
        for part, text in enumerate(texts):
            self._put(id_of(entry.seq, part), text, origin, is_whole=len(texts) == 1)

    def _put(self, id: int, text: str, origin: Origin, *, is_whole: bool) -> None:
        role = "tool" if origin.is_result else origin.role
        self.places[id] = len(self.ids)
        self.ids.append(id)
        self.texts.append(text)
        self.origins.append(origin)
        self.worth.append(worth_of(text, speakers=self._others, role=role, is_whole=is_whole))
        self.characters += len(text)

    def _call(self, message: Message) -> _Call | None:
        """What was asked for, of a message with one result: of several together none is told to be stale."""
        results = message.tool_results
        return self._calls.get(results[0].call_id) if len(results) == 1 else None


def searched(message: Message) -> list[str]:
    """The passages of a message: none of what nobody said."""
    return passages_of(message.text) if message.in_conversation and message.role not in _UNSPOKEN else []


def indexed(entries: Sequence[Entry]) -> list[IndexedText]:
    """The passages of entries for the index of words, with their speakers."""
    return [
        IndexedText(id=id_of(entry.seq, part), text=_spoken(entry.message.name or "", text))
        for entry in entries
        for part, text in enumerate(searched(entry.message))
    ]


def _spoken(speaker: str, text: str) -> str:
    return f"{speaker}: {text}" if speaker else text
