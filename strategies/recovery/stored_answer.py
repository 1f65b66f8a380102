"""An answer that was cut, as text: for a host that goes on with it in another process, or after a restart (R171)."""

from __future__ import annotations

import json
from typing import Any, Final

from attrs import asdict

from contextport.contracts import Message, StoreCorrupt, Usage, dump_message, load_message

from .answer_state import Need, Unfinished

__all__ = ["dump_unfinished", "load_unfinished"]

_FORM: Final = "contextport.unfinished"
_VERSION: Final = 1


def dump_unfinished(answer: Unfinished) -> str:
    """The answer so far as JSON text, with all that it holds: what it said is in there."""
    said = Message(role="assistant", parts=answer.parts, id=answer.message_id)
    value = {
        "form": _FORM,
        "v": _VERSION,
        "need": answer.need.value,
        "said": dump_message(said),
        "carried": [dump_message(message) for message in answer.carried],
        "max_output": answer.max_output,
        "cut_calls": list(answer.cut_calls),
        "thinks": answer.thinks,
        "usage": None if answer.usage is None else asdict(answer.usage),
    }
    return json.dumps(value)


def load_unfinished(text: str) -> Unfinished:
    """The answer written by `dump_unfinished`. Raises `StoreCorrupt` when the text is not one, or one of a later version."""
    try:
        value: dict[str, Any] = json.loads(text)
        if (value["form"], value["v"]) != (_FORM, _VERSION):
            raise ValueError(f"it is {value['form']!r} {value['v']!r}")
        said, usage = load_message(value["said"]), value["usage"]
        return Unfinished(
            message_id=said.id,
            need=Need(value["need"]),
            carried=tuple([load_message(message) for message in value["carried"]]),
            parts=said.parts,
            max_output=_limit(value["max_output"]),
            cut_calls=tuple([str(name) for name in value["cut_calls"]]),
            thinks=bool(value["thinks"]),
            usage=None if usage is None else Usage(**usage),
        )
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise StoreCorrupt(f"this is no unfinished answer of version {_VERSION} ({type(error).__name__}: {error})") from error


def _limit(value: Any) -> int | None:
    if value is not None and (type(value) is not int or value < 1):
        raise ValueError(f"max_output is {value!r}")
    return value
