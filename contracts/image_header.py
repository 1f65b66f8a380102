"""The pixel size of an image, read from the first bytes of its base64 text: PNG, JPEG, GIF, WebP."""

from __future__ import annotations

import base64
import binascii
from typing import Literal

__all__ = ["image_size"]

_HEAD_CHARS = 4 * 16384  # 48 KB of image: JPEG puts metadata in front of the frame that has the size


def image_size(data: str) -> tuple[int, int] | None:
    """(width, height) in pixels, or None when the header is of no known format or is cut."""
    head = data[:_HEAD_CHARS]
    try:
        content = base64.b64decode(head[: len(head) // 4 * 4])
    except (binascii.Error, ValueError):
        return None
    if content[:8] == b"\x89PNG\r\n\x1a\n" and len(content) >= 24:
        return _pair(content[16:20], content[20:24], "big")
    if content[:6] in (b"GIF87a", b"GIF89a") and len(content) >= 10:
        return _pair(content[6:8], content[8:10], "little")
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP" and len(content) >= 30:
        return _webp(content)
    return _jpeg(content) if content[:2] == b"\xff\xd8" else None


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


def _jpeg(content: bytes) -> tuple[int, int] | None:
    at = 2
    while at + 9 <= len(content) and content[at] == 0xFF:
        marker = content[at + 1]
        if marker == 0xFF:  # fill byte
            at += 1
        elif 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):  # a start-of-frame segment
            return _pair(content[at + 7 : at + 9], content[at + 5 : at + 7], "big")
        else:
            at += 2 + int.from_bytes(content[at + 2 : at + 4], "big")
    return None
