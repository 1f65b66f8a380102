"""The plainest lexical index that keeps every rule: what broken indexes are made from."""

from __future__ import annotations

import threading
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import groupby, pairwise

from attrs import define, field

from contextport.contracts import implements
from contextport.contracts.errors import IndexUnavailable
from contextport.contracts.retrieval import IndexedText, LexicalIndex, Matches

__all__ = ["LexicalBackend", "ReferenceLexicalIndex"]

_STOP_WORDS = frozenset(
    ("a", "an", "and", "are", "did", "do", "for", "in", "is", "it", "of", "on", "or", "that", "the", "to", "was", "what", "with")
)
_ENDINGS = ("ings", "ing", "ed", "es", "s", "e")
_WITHOUT_SPACES = ("CJK", "HIRAGANA", "KATAKANA", "HANGUL")


@cache
def _kind(sign: str) -> str:
    if unicodedata.category(sign)[0] not in "LMN":
        return ""
    return "run" if not sign.isascii() and unicodedata.name(sign, "").startswith(_WITHOUT_SPACES) else "word"


@define
class LexicalBackend:
    """What indexes of one backend share: the terms of texts by space and id. `down` makes each access fail."""

    spaces: dict[str, dict[int, Counter[str]]] = field(factory=dict[str, dict[int, Counter[str]]])
    down: bool = False
    lock: threading.RLock = field(factory=threading.RLock)  # event loops of several threads may share the backend

    def find(self, space: str) -> dict[int, Counter[str]]:
        """The texts of a space; those of an unwritten one are nowhere."""
        if self.down:
            raise ConnectionError("the backend is down")
        return self.spaces.get(space, {})


@implements(LexicalIndex)
class ReferenceLexicalIndex:
    """Keeps the terms of texts in lists and looks through them. No call waits, so no two calls mix."""

    def __init__(self, backend: LexicalBackend | None = None) -> None:
        self.backend = backend if backend is not None else LexicalBackend()
        self.closed = False

    # --- terms --------------------------------------------------------------------------------------------------------

    def terms(self, text: str) -> list[str]:
        """The terms of a text."""
        found: list[str] = []
        for unit, is_paired in self.units(self.folded(text)):
            if is_paired:
                found.extend(self.of_run(unit))
            elif not self.says_nothing(unit):
                found.append(self.stem(unit))
        return found

    def folded(self, text: str) -> str:
        """The text without case and accents."""
        apart = unicodedata.normalize("NFKD", text)
        return unicodedata.normalize("NFC", "".join([sign for sign in apart if not "\u0300" <= sign <= "\u036f"])).casefold()

    def units(self, text: str) -> Iterator[tuple[str, bool]]:
        """Words, and runs of signs in a script without spaces."""
        for kind, signs in groupby(text, self.kind):
            if kind:
                yield "".join(signs), kind == "run"

    def kind(self, sign: str) -> str:
        """What a character belongs to: nothing, a word, or a run."""
        return _kind(sign)

    def of_run(self, run: str) -> list[str]:
        """The terms of a run."""
        return [*run, *map("".join, pairwise(run))]

    def says_nothing(self, word: str) -> bool:
        """Whether it is a word that every text has."""
        return word in _STOP_WORDS

    def stem(self, word: str) -> str:
        """The word without its ending."""
        for ending in _ENDINGS:
            if word.endswith(ending) and len(word) - len(ending) >= 3:
                return word[: -len(ending)]
        return word

    # --- the port -----------------------------------------------------------------------------------------------------

    def find(self, space: str) -> dict[int, Counter[str]]:
        """The texts of a space, with the backend's errors mapped."""
        self.check_open()
        try:
            return self.backend.find(self.place(space))
        except ConnectionError as error:
            raise IndexUnavailable("the backend does not answer") from error

    def check_open(self) -> None:
        """Raise once the index is closed."""
        if self.closed:
            raise IndexUnavailable("the index is closed")

    def place(self, space: str) -> str:
        """Where the texts of a space lie."""
        return space

    def put(self, texts: dict[int, Counter[str]], cut: Sequence[tuple[int, Counter[str]]]) -> dict[int, Counter[str]]:
        """The texts of a space with more of them."""
        return {**texts, **dict(cut)}

    async def add(self, space: str, texts: Sequence[IndexedText]) -> None:
        cut = [(one.id, Counter(self.terms(one.text))) for one in texts]
        with self.backend.lock:
            before = self.find(space)
            if texts:
                self.backend.spaces[self.place(space)] = self.put(before, cut)

    async def matches(self, space: str, question: str) -> Matches:
        with self.backend.lock:
            return self.matched(self.find(space), self.terms(question))

    def matched(self, texts: dict[int, Counter[str]], asked: Sequence[str]) -> Matches:
        """Where terms stand in texts."""
        postings = {term: {id: terms[term] for id, terms in texts.items() if term in terms} for term in asked}
        matched = {id for found in postings.values() for id in found}
        return Matches(
            postings=postings,
            lengths={id: texts[id].total() for id in matched},
            texts=len(texts),
            mean_length=sum([terms.total() for terms in texts.values()]) / len(texts) if texts else 0.0,
        )

    async def newest(self, space: str) -> int | None:
        with self.backend.lock:
            return max(self.find(space), default=None)

    async def drop(self, space: str) -> None:
        with self.backend.lock:
            self.find(space)
            self.backend.spaces.pop(self.place(space), None)

    async def close(self) -> None:
        self.closed = True
