"""The file in which learnt limits outlive a process."""

from __future__ import annotations

import json
import math
import os
import tempfile
from pathlib import Path
from typing import Any, Final, TypeAlias, cast

from attrs import asdict, frozen

from contextport.contracts import InvalidArgument, StoreCorrupt, StoreUnavailable

__all__ = ["LearntNumber", "LearntNumbers", "read_learnt", "write_learnt"]

_FORMAT: Final = "contextport.learnt_limits"
_VERSION: Final = 1
_NAMES: Final = frozenset({"window", "max_input", "max_output", "entitlement"})


@frozen(kw_only=True)
class LearntNumber:
    """A limit in tokens, the kind of error that stated it, and when it last did, in seconds of the clock."""

    tokens: int
    kind: str
    at: float

    def __attrs_post_init__(self) -> None:
        if type(self.tokens) is not int or self.tokens <= 0:
            raise InvalidArgument(f"{self.tokens!r} is no number of tokens", name="tokens", value=self.tokens)
        if type(self.at) not in (int, float) or not math.isfinite(self.at) or not 0 <= self.at < 1e11:
            raise InvalidArgument(f"{self.at!r} is no time", name="at", value=self.at)
        if not isinstance(self.kind, str):
            raise InvalidArgument(f"{self.kind!r} is no kind of error", name="kind", value=self.kind)


#: By (host, model), by the name of the number.
LearntNumbers: TypeAlias = dict[tuple[str, str], dict[str, LearntNumber]]


def read_learnt(path: Path) -> LearntNumbers:
    """What the file holds; nothing if there is none.

    Raises `StoreCorrupt` if it is not what `write_learnt` writes, `StoreUnavailable` if it cannot be read.
    """
    try:
        text = path.read_bytes()
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise StoreUnavailable(f"the learnt limits in {str(path)!r} cannot be read: {error}", path=str(path)) from error
    try:
        return _numbers(json.loads(text))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise StoreCorrupt(
            f"{str(path)!r} holds no learnt limits of version {_VERSION} ({type(error).__name__}: {error}); it was left as it "
            "is: move it away to begin anew, only numbers that hosts state again are lost",
            path=str(path),
        ) from error


def write_learnt(path: Path, learnt: LearntNumbers) -> None:
    """Replace the file at once. Raises `StoreUnavailable` if that fails; the old file stands then."""
    entries = [
        {"host": host, "model": model, "name": name, **asdict(number)}
        for (host, model), numbers in sorted(learnt.items())
        for name, number in sorted(numbers.items())
    ]
    body = json.dumps({"format": _FORMAT, "version": _VERSION, "entries": entries}, indent=1)
    temporary = ""
    try:
        descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(body)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as error:
        if temporary:
            Path(temporary).unlink(missing_ok=True)
        raise StoreUnavailable(f"the learnt limits cannot be written to {str(path)!r}: {error}", path=str(path)) from error


def _numbers(document: Any) -> LearntNumbers:
    if document["format"] != _FORMAT or document["version"] != _VERSION:
        raise ValueError(f"it is {document['format']!r} {document['version']!r}")
    learnt: LearntNumbers = {}
    for entry in cast(list[dict[str, Any]], document["entries"]):
        host, model, name = entry["host"], entry["model"], entry["name"]
        if not isinstance(host, str) or not isinstance(model, str) or name not in _NAMES:
            raise ValueError(f"an entry is of {name!r} of {model!r} on {host!r}")
        number = LearntNumber(tokens=entry["tokens"], kind=entry["kind"], at=entry["at"])
        learnt.setdefault((host, model), {})[name] = number
    return learnt
