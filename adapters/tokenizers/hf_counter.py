"""Counts with a Hugging Face tokenizer."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from contextport.contracts import (
    CountKind,
    CountsMessages,
    ErrorBound,
    InvalidArgument,
    MediaPricing,
    OpenAITiles,
    TokenCounter,
    implements,
)
from contextport.contracts.extras import needs_extra
from contextport.contracts.json_values import encodable
from contextport.contracts.media_pricing import pricing_name

with needs_extra("tokenizers"):
    from tokenizers import Tokenizer

__all__ = ["HfTokenCounter"]


@implements(TokenCounter)
class HfTokenCounter(CountsMessages):
    """Exact counts of text with a tokenizer of the library `tokenizers` (extra `tokenizers`).

    `tokenizer` is copied and the copy is never changed after construction, which is what makes it safe in any thread. Truncation
    and padding are off in the copy, no special token is added, and a text that looks like one is counted as text. A lone
    surrogate counts as U+FFFD. `name` says whose tokens these are: give different tokenizers different names.

    `message_framing` is what the model's chat template puts around each message, role included: 4 fits OpenAI's form, 5 the
    ChatML of Qwen. Framing and media are as documented by providers; only the counts of text are exact.
    """

    def __init__(self, tokenizer: Tokenizer, name: str, *, message_framing: int = 4, images: MediaPricing | None = None) -> None:
        if not name:
            raise InvalidArgument("name is empty; name the model whose tokens are counted, such as 'qwen3'", name="name")
        self._tokenizer = Tokenizer.from_str(tokenizer.to_str())
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._tokenizer.encode_special_tokens = True
        self.message_framing = message_framing
        self.images = OpenAITiles() if images is None else images
        self.name = f"hf:{name}:{message_framing}" + ("" if images is None else f":{pricing_name(images)}")

    @classmethod
    def from_file(
        cls,
        path: str | os.PathLike[str],
        name: str = "",
        *,
        message_framing: int = 4,
        images: MediaPricing | None = None,
    ) -> HfTokenCounter:
        """A counter of the `tokenizer.json` at `path`; without `name` it is named by the digest of the file.

        Raises `InvalidArgument` when the file cannot be read or is no tokenizer.
        """
        try:
            content = Path(path).read_text("utf-8")
            tokenizer = Tokenizer.from_str(content)
        except Exception as error:  # the library raises plain Exception for bad content
            raise InvalidArgument(
                f"{path} is no tokenizer: {type(error).__name__}: {error}; give the path of a tokenizer.json",
                name="path",
                value=str(path),
            ) from error
        digest = hashlib.sha256(content.encode()).hexdigest()
        return cls(tokenizer, name or digest[:16], message_framing=message_framing, images=images)

    @property
    def kind(self) -> CountKind:
        return CountKind.EXACT

    @property
    def bound(self) -> ErrorBound:
        return ErrorBound(0.0, 0.0)

    def count_text(self, text: str) -> int:
        if not text:
            return 0
        try:
            encoding = self._tokenizer.encode(text, add_special_tokens=False)
        except (TypeError, UnicodeEncodeError):  # which one depends on the version of the library
            encoding = self._tokenizer.encode(encodable(text), add_special_tokens=False)
        return max(1, len(encoding))
