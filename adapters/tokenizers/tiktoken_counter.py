"""Counts with a tiktoken encoding, without downloads."""

from __future__ import annotations

import base64
import hashlib
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from contextport.contracts import (
    CountKind,
    CountsMessages,
    ErrorBound,
    InvalidArgument,
    MediaPricing,
    Message,
    OpenAITiles,
    TokenCounter,
    implements,
)
from contextport.contracts.extras import needs_extra
from contextport.contracts.json_values import encodable
from contextport.contracts.media_pricing import pricing_name

with needs_extra("tiktoken"):
    from tiktoken import Encoding

__all__ = ["TiktokenCounter"]

_CONTRACTIONS: Final = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
_UPPER: Final = r"\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}"
_LOWER: Final = r"\p{Ll}\p{Lm}\p{Lo}\p{M}"
#: How each published vocabulary splits text before its merges. The rank file does not hold it, and counts depend on it.
_SPLITS: Final = {
    "cl100k_base": r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
    r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s",
    "o200k_base": rf"[^\r\n\p{{L}}\p{{N}}]?[{_UPPER}]*[{_LOWER}]+{_CONTRACTIONS}"
    rf"|[^\r\n\p{{L}}\p{{N}}]?[{_UPPER}]+[{_LOWER}]*{_CONTRACTIONS}"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
}
#: SHA-256 of the published files, as the library itself checks them (`tiktoken_ext.openai_public`).
_PUBLISHED: Final = {
    "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7": "cl100k_base",
    "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d": "o200k_base",
}
#: A million white space characters in a row overflow the stack of the library's matcher, with a panic, not an error.
_LONGEST_BLANK: Final = 100_000
_LONG_BLANKS: Final = re.compile(rf"(?<!\s)\s{{{_LONGEST_BLANK},}}")
_MESSAGE_FRAMING: Final = 4  # 3 per message, and the role, which is one token in both vocabularies
_NAME_FRAMING: Final = 1


@implements(TokenCounter)
class TiktokenCounter(CountsMessages):
    """Exact counts of text with an encoding of the library `tiktoken` (extra `tiktoken`).

    A text that looks like a special token is counted as text. White space is counted in runs of at most 100 000 characters. A
    message costs what OpenAI documents for chat requests: 3 tokens, its role, its texts, and its name with 1 more. The 3 tokens
    that prime the answer come once per request and belong to no message. How tool calls and tools are framed is not documented:
    their texts alone are counted, tools as JSON.

    `encoding` is any `tiktoken.Encoding` (`tiktoken.get_encoding` may download it); `from_rank_file` makes one offline.
    `images` prices images (`OpenAITiles()`).
    """

    message_framing = _MESSAGE_FRAMING

    def __init__(self, encoding: Encoding, *, images: MediaPricing | None = None) -> None:
        self._encode = encoding.encode_ordinary
        self.images = OpenAITiles() if images is None else images
        self.name = f"tiktoken:{encoding.name}" + ("" if images is None else f":{pricing_name(images)}")

    @classmethod
    def from_rank_file(
        cls, path: str | os.PathLike[str], vocabulary: str | None = None, *, images: MediaPricing | None = None
    ) -> TiktokenCounter:
        """A counter of the rank file at `path`, such as `cl100k_base.tiktoken`. OpenAI's own are known by what is in them.

        For any other file, `vocabulary` says whose way of splitting text its ranks were made for: cl100k_base or o200k_base; the
        counter's name tells what is in the file, too. Raises `InvalidArgument` for another vocabulary, for a file that needs one,
        and for one that cannot be read or holds no ranks.
        """
        if vocabulary is not None and vocabulary not in _SPLITS:
            raise InvalidArgument(
                f"vocabulary is {vocabulary!r}; known: {', '.join(_SPLITS)}. "
                "For another one make a tiktoken.Encoding and hand it in",
                name="vocabulary",
                value=vocabulary,
            )
        content = _content(Path(path))
        ranks = _read_ranks(Path(path), content)
        digest = hashlib.sha256(content).hexdigest()
        published = _PUBLISHED.get(digest)
        split = vocabulary or published
        if split is None:
            raise InvalidArgument(
                f"{path} is not the rank file of {' or '.join(_SPLITS)} as OpenAI publishes it: say which of them it is like, by "
                "vocabulary=..., or make a tiktoken.Encoding and hand it in",
                name="vocabulary",
                value=None,
            )
        name = split if split == published else f"{split}:{digest[:8]}"
        return cls(Encoding(name, pat_str=_SPLITS[split], mergeable_ranks=ranks, special_tokens={}), images=images)

    @property
    def kind(self) -> CountKind:
        return CountKind.EXACT

    @property
    def bound(self) -> ErrorBound:
        return ErrorBound(0.0, 0.0)

    def count_text(self, text: str) -> int:
        if len(text) > _LONGEST_BLANK and _LONG_BLANKS.search(text):
            return sum(self._count(piece) for piece in _pieces(text))
        return self._count(text)

    def _count(self, text: str) -> int:
        try:
            return len(self._encode(text))
        except UnicodeEncodeError:  # a lone surrogate, in versions of the library that do not replace it
            return len(self._encode(encodable(text)))

    def count_message(self, message: Message) -> int:
        return super().count_message(message) + (_NAME_FRAMING if message.name else 0)


def _pieces(text: str) -> Iterator[str]:
    """The text in pieces that each hold at most `_LONGEST_BLANK` white space characters in a row."""
    start = 0
    for blank in _LONG_BLANKS.finditer(text):
        for end in range(blank.start() + _LONGEST_BLANK, blank.end(), _LONGEST_BLANK):
            yield text[start:end]
            start = end
    yield text[start:]


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise _no_rank_file(path, str(error)) from error


def _read_ranks(path: Path, content: bytes) -> dict[bytes, int]:
    """The ranks of a file with a base64 token and its rank on each line."""
    lines = content.splitlines()
    ranks: dict[bytes, int] = {}
    for number, line in enumerate(lines, 1):
        try:
            token, rank = line.split()
            ranks[base64.b64decode(token, validate=True)] = int(rank)
        except ValueError as error:
            raise _no_rank_file(path, f"line {number} is not a base64 token and its rank") from error
    missing = sum(bytes([value]) not in ranks for value in range(256))
    if missing:
        raise _no_rank_file(path, f"{missing} of the 256 single bytes have no rank, so not every text could be counted")
    if len(set(ranks.values())) < len(lines) or min(ranks.values()) < 0:
        raise _no_rank_file(path, "a token or a rank is there twice, or a rank is negative")
    return ranks


def _no_rank_file(path: Path, problem: str) -> InvalidArgument:
    return InvalidArgument(f"{path} is no tiktoken rank file: {problem}", name="path", value=str(path))
