"""Looking at objects of other people's classes: nothing raises, nothing is called, nothing is changed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast

__all__ = ["MOST_CHARS", "class_name", "cut", "integer", "peek", "short_text", "string_of"]

#: Of a longer text only the head and the tail are looked at: errors that echo a whole request say what is wrong at either end.
MOST_CHARS: Final = 9_000
_HEAD: Final = 6_000


def peek(holder: object, *names: str) -> Any:
    """The first of the keys or attributes that is there and is data. A property that raises counts as not there."""
    for name in names:
        try:
            found = cast("Mapping[str, Any]", holder).get(name) if isinstance(holder, Mapping) else getattr(holder, name, None)
        except Exception:  # a foreign property may raise anything
            found = None
        if found is not None and not callable(found):
            return found
    return None


def cut(text: str) -> str:
    """The text, or its head and tail if it is long."""
    return text if len(text) <= MOST_CHARS else f"{text[:_HEAD]}\n{text[_HEAD - MOST_CHARS :]}"


def short_text(value: object) -> str:
    """Text of a str, or of bytes as UTF-8, cut; of anything else the empty text."""
    if isinstance(value, bytes | bytearray):
        kept = value if len(value) <= 4 * MOST_CHARS else value[:_HEAD] + b"\n" + value[_HEAD - MOST_CHARS :]
        return cut(bytes(kept).decode("utf-8", "replace"))
    return cut(str(value)) if isinstance(value, str) else ""


def string_of(error: BaseException) -> str:
    """`str(error)`, cut; empty if that raises."""
    try:
        return cut(str(error))
    except Exception:  # a foreign __str__ may raise anything
        return ""


def integer(value: object) -> int | None:
    """A whole number, also as text; None for anything else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, str) and len(value) <= 12 and value.strip().isascii() and value.strip().isdigit():
        return int(value)
    return None


def class_name(error: BaseException) -> str:
    """Names of the class and of its bases up to Exception, as `package.Class`, the class itself first."""
    mro = [one for one in type(error).__mro__ if one not in (BaseException, Exception, object)] or [type(error)]
    return " ".join(f"{one.__module__.partition('.')[0]}.{one.__name__}" for one in mro[:4])
