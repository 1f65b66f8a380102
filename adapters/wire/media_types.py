"""MIME types of media, and the text that a plain text document holds."""

from __future__ import annotations

import base64
import binascii

from contextport.contracts import Media

__all__ = ["as_base64", "media_mime", "plain_text"]

_IMAGE_STARTS = {"iVBORw0KGgo": "image/png", "/9j/": "image/jpeg", "R0lGOD": "image/gif", "UklGR": "image/webp"}


def media_mime(media: Media) -> str | None:
    """The MIME type of media, read from the first bytes of an image that comes without."""
    if media.mime is not None or media.data is None:
        return media.mime
    return next((mime for start, mime in _IMAGE_STARTS.items() if media.data.startswith(start)), None)


def plain_text(media: Media) -> str | None:
    """The text of a plain text document given as base64; None where it is no UTF-8 text."""
    try:
        return base64.b64decode(media.data or "", validate=True).decode("utf-8")
    except (binascii.Error, ValueError):
        return None


def as_base64(text: str) -> str:
    """A text as the base64 of its UTF-8 bytes, as `Media.data` holds documents; lone surrogates become U+FFFD."""
    return base64.b64encode(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()).decode("ascii")
