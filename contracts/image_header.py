"""The pixel size of an image, read from the first bytes of its base64 text: PNG, JPEG, GIF, WebP."""

from __future__ import annotations

import base64
import binascii
from typing import Literal

__all__ = ["image_size"]

_HEAD_BYTES = 30  # enough for all but JPEG, which puts metadata of any length in front of the frame that has the size
_JPEG_SEGMENTS = 500  # of up to 64 KB each; they are stepped over, not decoded
_LINE = 200  # base64 in lines has 64 or 76 characters in each


def image_size(data: str) -> tuple[int, int] | None:
    """(width, height) in pixels, or None when the header is of no known format or is cut. Line breaks are ignored."""
    if data[:_LINE].split() != [data[:_LINE]]:
        data = "".join(data.split())
    try:
        content = _bytes(data, 0, _HEAD_BYTES)
        if content[:2] == b"\xff\xd8":
            return _jpeg(data)
    except (binascii.Error, ValueError):
        return None
    if content[:8] == b"\x89PNG\r\n\x1a\n" and len(content) >= 24:
        return _pair(content[16:20], content[20:24], "big")
    if content[:6] in (b"GIF87a", b"GIF89a") and len(content) >= 10:
        return _pair(content[6:8], content[8:10], "little")
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP" and len(content) >= 30:
        return _webp(content)
    return None


def _bytes(data: str, start: int, count: int) -> bytes:
    """`count` bytes of what the base64 text holds, from byte `start` on; fewer at its end."""
    first, last = start // 3, (start + count + 2) // 3
    text = data[4 * first : 4 * last]
    return base64.b64decode(text[: len(text) // 4 * 4])[start - 3 * first :][:count]


def _pair(width: bytes, height: bytes, order: Literal["big", "little"]) -> tuple[int, int] | None:
    size = (int.from_bytes(width, order), int.from_bytes(height, order))
    return size if all(size) else None


def _webp(content: bytes) -> tuple[int, int] | None:
    chunk = content[12:16]
    if chunk == b"VP8X":  # 24-bit sizes, less one
        return int.from_bytes(content[24:27], "little") + 1, int.from_bytes(content[27:30], "little") + 1
    if chunk == b"VP8L":  # 14-bit sizes, less one, after one signature byte
        bits = int.from_bytes(content[21:25], "little")
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if chunk == b"VP8 ":  # 14-bit sizes after the three-byte start code
        return int.from_bytes(content[26:28], "little") & 0x3FFF, int.from_bytes(content[28:30], "little") & 0x3FFF
    return None


def _jpeg(data: str) -> tuple[int, int] | None:
    at = 2
    for _ in range(_JPEG_SEGMENTS):
        segment = _bytes(data, at, 9)
        if len(segment) < 9 or segment[0] != 0xFF:
            return None
        marker = segment[1]
        if marker == 0xFF:  # fill byte
            at += 1
        elif 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):  # a start-of-frame segment
            return _pair(segment[7:9], segment[5:7], "big")
        else:
            at += 2 + int.from_bytes(segment[2:4], "big")
    return None
