"""What the engine is made with, checked before anything is done with it, and named in receipts."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence

from contextport.contracts import InvalidArgument, verify

__all__ = ["check_companions", "check_kind", "check_number", "check_ports", "check_tokens", "check_tools", "config_digest"]

_ADDRESS = re.compile(" at 0x[0-9A-Fa-f]+")  # in the description of an object that has none of its own


def check_ports(parts: Sequence[tuple[object, type]]) -> None:
    """Raise `PortMismatch` for a part that is given and does not provide its port."""
    for part, port in parts:
        if part is not None:
            verify(part, port)


def check_kind(name: str, value: object, kind: type[object], such_as: str) -> None:
    """Raise `InvalidArgument` unless the value is of the kind, or None."""
    if value is not None and not isinstance(value, kind):
        article = "an" if kind.__name__[0] in "AEIOU" else "a"
        raise InvalidArgument(
            f"{name} is {value!r:.80}; it must be {article} {kind.__name__}, such as {such_as}, or None", name=name, value=value
        )


def check_companions(pairs: Sequence[tuple[str, object, str, object]]) -> None:
    """Raise `InvalidArgument` for a name and part that is given without the one it is for."""
    for name, part, other, needed in pairs:
        if part is not None and needed is None:
            raise InvalidArgument(f"{name} is given without {other}, and would do nothing: give both, or neither", name=name)


def check_number(name: str, value: object) -> None:
    """Raise `InvalidArgument` unless the value is a whole number of 1 or more."""
    if not isinstance(value, int) or value < 1:
        raise InvalidArgument(f"{name} is {value!r}; it must be 1 or more", name=name, value=value)


def check_tokens(max_tokens: object) -> None:
    """Raise `InvalidArgument` unless it is a whole number, or None."""
    if max_tokens is not None and (not isinstance(max_tokens, int) or isinstance(max_tokens, bool)):
        raise InvalidArgument(f"max_tokens is {max_tokens!r}; it must be a whole number of tokens", value=max_tokens)


def check_tools(tools: object) -> None:
    """Raise `InvalidArgument` unless it is a list of something."""
    if isinstance(tools, tuple | list):
        return
    if isinstance(tools, str | bytes | Mapping) or not isinstance(tools, Sequence):
        raise InvalidArgument(f"tools is a {type(tools).__name__}; it must be a list of tool schemas")


def config_digest(*parts: object) -> str:
    """Names a configuration in receipts: what would make the same log give another window. The same in every process."""
    described = _ADDRESS.sub("", repr(parts))
    return hashlib.blake2b(described.encode(), digest_size=8).hexdigest()
