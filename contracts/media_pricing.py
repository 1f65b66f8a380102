"""What media cost, by kind and pixel size, per family of models. Never by the length of base64 text.

Formulas as the providers document them: OpenAI tiles and patches, Anthropic and Gemini image tokens.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil
from typing import TypeAlias

from attrs import frozen

from .messages import Media

__all__ = [
    "AnthropicImages",
    "FixedImages",
    "GeminiTiles",
    "MediaPricing",
    "OpenAIPatches",
    "OpenAITiles",
    "media_tokens",
]

MediaPricing: TypeAlias = Callable[[Media], int]

#: Assumed for an image whose size is unknown; 765 tokens with GPT-4o tiles, the flat price of R56.
_UNKNOWN_SIZE = (1024, 1024)
_BYTES_PER_SECOND = 16_000  # sound at 128 kbit/s
_BYTES_PER_PAGE = 50_000
_AUDIO_TOKENS_PER_SECOND = 32  # Gemini's documented rate
_TOKENS_PER_PAGE = 560  # Gemini's documented price of a PDF page at medium resolution


def media_tokens(media: Media, images: MediaPricing) -> int:
    """Tokens of one media part: images by `images`, sound by assumed length, documents and video by assumed pages."""
    if media.media == "image":
        return images(media)
    size = len(media.data) * 3 // 4 if media.data else 0
    if media.media == "audio":
        return max(1, size // _BYTES_PER_SECOND) * _AUDIO_TOKENS_PER_SECOND
    return max(1, size // _BYTES_PER_PAGE) * _TOKENS_PER_PAGE


def _fit(size: tuple[int, int], longest: float, shortest: float | None = None) -> tuple[float, float]:
    """The size after scaling down, never up, to at most `longest` on the long side and `shortest` on the short one."""
    width, height = size
    scale = min(1.0, longest / max(size))
    if shortest is not None:
        scale = min(scale, shortest / min(size))
    return width * scale, height * scale


@frozen
class FixedImages:
    """The same price for every image."""

    tokens: int = 765

    def __call__(self, media: Media) -> int:
        """Tokens of the image."""
        return self.tokens


@frozen
class OpenAITiles:
    """Tile models: fit into 2048 square, short side to 768, `base` + `tile` per 512 square. Defaults: gpt-4o and gpt-4.1."""

    base: int = 85
    tile: int = 170

    def __call__(self, media: Media) -> int:
        """Tokens of the image."""
        if media.detail == "low":
            return self.base
        width, height = _fit(media.size_px or _UNKNOWN_SIZE, 2048, 768)
        return self.base + self.tile * ceil(width / 512) * ceil(height / 512)


@frozen
class OpenAIPatches:
    """Patch models: 32-pixel patches up to `cap`, times `multiplier`. Defaults: gpt-5.2 and gpt-5.4 at detail high."""

    multiplier: float = 1.2
    cap: int = 2500
    longest: int = 2048

    def __call__(self, media: Media) -> int:
        """Tokens of the image."""
        longest = 512 if media.detail == "low" else self.longest
        width, height = _fit(media.size_px or _UNKNOWN_SIZE, longest)
        return ceil(min(ceil(width / 32) * ceil(height / 32), self.cap) * self.multiplier)


@frozen
class AnthropicImages:
    """28-pixel patches after scaling to `longest`, at most `most` tokens. Defaults: standard resolution (high: 2576, 4784)."""

    longest: int = 1568
    most: int = 1568

    def __call__(self, media: Media) -> int:
        """Tokens of the image."""
        width, height = _fit(media.size_px or _UNKNOWN_SIZE, self.longest)
        return min(ceil(width / 28) * ceil(height / 28), self.most)


@frozen
class GeminiTiles:
    """Gemini up to 2.5: `tile` tokens for an image of at most 384 on both sides, else `tile` per 768 square."""

    tile: int = 258

    def __call__(self, media: Media) -> int:
        """Tokens of the image."""
        width, height = media.size_px or _UNKNOWN_SIZE
        if max(width, height) <= 384:
            return self.tile
        return self.tile * ceil(width / 768) * ceil(height / 768)
