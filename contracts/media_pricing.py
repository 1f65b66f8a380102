"""What media cost, by kind and pixel size, per family of models. Never by the length of base64 text.

Formulas as the providers document them: OpenAI tiles and patches, Anthropic and Gemini image tokens.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import ceil, floor
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
    "pricing_name",
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


def pricing_name(images: MediaPricing) -> str:
    """What tells one pricing from another in a counter's name, such as `FixedImages(tokens=765)`; for a function its name."""
    return getattr(images, "__qualname__", None) or repr(images)


def _size(media: Media) -> tuple[int, int]:
    width, height = media.size_px or _UNKNOWN_SIZE
    return max(1, width), max(1, height)


def _fit(size: tuple[int, int], *, longest: int, shortest: int | None = None) -> tuple[int, int]:
    """The size after scaling down, never up, to at most `longest` on the long side and `shortest` on the short one.

    Whole pixels, to the nearest, in exact arithmetic: a float of 1024.0000000001 would cost a further row of tiles.
    """
    scale = min(Fraction(1), Fraction(longest, max(size)), Fraction(shortest or min(size), min(size)))
    width, height = (max(1, floor(side * scale + Fraction(1, 2))) for side in size)
    return width, height


@frozen
class FixedImages:
    """The same price for every image: R56 by default. Gemini 3 prices by resolution: 280, 560, 1120 (its default), 2240."""

    tokens: int = 765

    def __call__(self, media: Media) -> int:
        """Tokens of the image."""
        return self.tokens


@frozen
class OpenAITiles:
    """Tile models: fit into 2048 square, short side to 768, `base` + `tile` per 512 square; detail low is `base` alone.

    Defaults: gpt-4o and gpt-4.1. Others, as (base, tile): gpt-4o-mini (2833, 5667), gpt-5 and 5.1 (70, 140), o1 and o3 (75, 150).
    """

    base: int = 85
    tile: int = 170

    def __call__(self, media: Media) -> int:
        """Tokens of the image."""
        if media.detail == "low":
            return self.base
        width, height = _fit(_size(media), longest=2048, shortest=768)
        return self.base + self.tile * ceil(width / 512) * ceil(height / 512)


@frozen
class OpenAIPatches:
    """Patch models: 32-pixel patches after scaling to `longest`, at most `cap`, times `multiplier`; detail low fits into 512.

    Defaults: gpt-5.2 and gpt-5.4 at detail high; detail original of gpt-5.5 has cap 10 000 and longest 6000. Multipliers of
    others: gpt-4.1-mini 1.62, gpt-4.1-nano 2.46, o4-mini 1.72. Above the cap this is the upper bound: the provider scales the
    image to whole patches, which come to slightly fewer.
    """

    multiplier: float = 1.2
    cap: int = 2500
    longest: int = 2048

    def __call__(self, media: Media) -> int:
        """Tokens of the image."""
        longest = 512 if media.detail == "low" else self.longest
        width, height = _fit(_size(media), longest=longest)
        return ceil(min(ceil(width / 32) * ceil(height / 32), self.cap) * self.multiplier)


@frozen
class AnthropicImages:
    """28-pixel patches after scaling to `longest`, at most `most` tokens. Defaults: standard resolution (high: 2576, 4784)."""

    longest: int = 1568
    most: int = 1568

    def __call__(self, media: Media) -> int:
        """Tokens of the image."""
        width, height = _fit(_size(media), longest=self.longest)
        return min(ceil(width / 28) * ceil(height / 28), self.most)


@frozen
class GeminiTiles:
    """Gemini up to 2.5: `tile` tokens for an image of at most 384 on both sides, else `tile` per 768 square."""

    tile: int = 258

    def __call__(self, media: Media) -> int:
        """Tokens of the image."""
        width, height = _size(media)
        if max(width, height) <= 384:
            return self.tile
        return self.tile * ceil(width / 768) * ceil(height / 768)
