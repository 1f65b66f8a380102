"""Token estimate of plain text without a tokenizer."""

from __future__ import annotations

from typing import Final, Literal

from .script_weights import BYTE_WEIGHTS

Profile = Literal["mean", "upper"]
FAMILIES: Final[tuple[str, ...]] = tuple(BYTE_WEIGHTS)


def _byte_class(byte: int) -> int | None:
    char = chr(byte)
    if byte < 0x80:
        if char.islower():
            return 0
        if char.isupper():
            return 1
        if char.isdigit():
            return 2
        return 4 if char == "\n" else 3 if char.isspace() else 5
    if byte < 0xC0:
        return None
    for bound, kind in ((0xCE, 6), (0xD0, 7), (0xD4, 8), (0xD8, 9), (0xDC, 10), (0xE0, 19), (0xE1, 11), (0xE2, 12)):
        if byte < bound:
            return kind
    for bound, kind in ((0xE3, 13), (0xE4, 14), (0xEA, 15), (0xEE, 16), (0xF0, 17)):
        if byte < bound:
            return kind
    return 18


class TextEstimator:
    """Estimate how many tokens a text is, for one tokenizer family."""

    __slots__ = ("_table", "family", "profile")

    def __init__(self, family: str = "o200k", profile: Profile = "mean") -> None:
        if family not in BYTE_WEIGHTS:
            raise ValueError(f"unknown tokenizer family {family!r}; known: {', '.join(FAMILIES)}")
        if profile not in ("mean", "upper"):
            raise ValueError(f"unknown profile {profile!r}; known: mean, upper")
        self.family = family
        self.profile = profile
        weights = BYTE_WEIGHTS[family][profile]
        kinds = [_byte_class(byte) for byte in range(256)]
        self._table = bytes(0 if kind is None else min(255, round(48 * weights[kind])) for kind in kinds)

    def estimate(self, text: str) -> int:
        """Tokens of ``text``: 0 for the empty text, at least 1 otherwise. Linear, never raises."""
        if not text:
            return 0
        total = sum(text.encode("utf-8", "surrogatepass").translate(self._table))
        return max(1, (total + 24) // 48)
