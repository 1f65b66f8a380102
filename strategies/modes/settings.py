"""The settings of `ModeRules` as JSON has them: what each may be, what it says of a wrong value, and the published schema."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Literal

import attrs
from attrs import frozen

from contextport.contracts.context import Mode
from contextport.contracts.messages import Json
from contextport.contracts.modes import Control, ModeRules

__all__ = ["SETTINGS", "Setting", "at", "named", "nearest", "rules_schema"]

_MOST_SHOWN = 60  # characters of a wrong value or key
_PLAIN_KEY = re.compile(r"[A-Za-z_$][\w$-]*", re.ASCII)


@frozen(kw_only=True)
class Setting:
    """A setting: a share from 0 to 1, a whole number from 0 on, or one of `choices`. `text` describes it in the schema."""

    kind: Literal["share", "count", "choice"]
    text: str
    choices: tuple[StrEnum, ...] = ()

    def wrong(self, value: Json) -> str | None:
        """What is wrong with a value, or None."""
        if self.kind == "choice":
            names = [str(choice) for choice in self.choices]
            if isinstance(value, str) and value in names:
                return None
            return (
                f"is {named(value)}; {nearest(value, names)}"
                if isinstance(value, str)
                else f"is {named(value)}; {_one_of(names)}"
            )
        if isinstance(value, bool) or not isinstance(value, int | float):
            return f"is {named(value)}; it must be {self._domain}"
        fits = 0 <= value <= 1 if self.kind == "share" else value >= 0 and value == value // 1
        return None if fits else f"is {named(value)}; it must be {self._domain}"

    def read(self, value: Any) -> Any:
        """A right value as `ModeRules` takes it; JSON may write whole numbers as 8.0."""
        if self.kind == "choice":
            return next(choice for choice in self.choices if choice == value)
        return int(value) if self.kind == "count" else value

    def schema(self, default: Any) -> dict[str, Json]:
        """The setting in JSON Schema."""
        said: dict[str, Json] = {"description": self.text, "default": str(default) if self.kind == "choice" else default}
        if self.kind == "choice":
            return {"enum": [str(choice) for choice in self.choices], **said}
        if self.kind == "count":
            return {"type": "integer", "minimum": 0, **said}
        return {"type": "number", "minimum": 0, "maximum": 1, **said}

    @property
    def _domain(self) -> str:
        return "a number from 0 to 1" if self.kind == "share" else "a whole number, 0 or more"


#: Every setting of `ModeRules` by its name.
SETTINGS: Mapping[str, Setting] = MappingProxyType(
    {
        "control": Setting(
            kind="choice",
            choices=tuple(Control),
            text="Who decides on the mode: a person (manual), the rules with a person to confirm (semi_automatic), or the rules.",
        ),
        "start": Setting(
            kind="choice",
            choices=tuple(Mode),
            text="The mode that sessions begin in. With zero_shot and retrieval each question is answered by itself, until one "
            "reaches back to what was said.",
        ),
        "summary_from": Setting(
            kind="share", text="From this share of the room on, history is folded into a summary. Not above hybrid_from."
        ),
        "hybrid_from": Setting(kind="share", text="From this share on, snippets of the history are looked up as well."),
        "keep_messages": Setting(
            kind="count", text="The newest messages that stay word for word beside a summary, rounded up to whole turns."
        ),
        "retrieval_turns": Setting(kind="count", text="The turns before the question that mode retrieval shows."),
        "snippet_tokens": Setting(kind="count", text="The most tokens of snippets in mode hybrid."),
        "snippet_share": Setting(kind="share", text="The most that snippets take of the room in mode hybrid."),
        "retrieval_tokens": Setting(kind="count", text="The most tokens of snippets in mode retrieval."),
        "min_score": Setting(
            kind="share", text="Snippets with a lower score are left out in mode hybrid. A lower one brings back more."
        ),
        "retrieval_min_score": Setting(kind="share", text="The same in mode retrieval, where snippets stand for the history."),
        "signal_score": Setting(kind="share", text="How sure a signal has to be to count, such as that a new task begins."),
        "reset_to": Setting(kind="choice", choices=(Mode.FULL, Mode.ZERO_SHOT), text="The mode that a new task begins in."),
    }
)


def rules_schema() -> dict[str, Json]:
    """The JSON Schema of a file of rules, draft 2020-12. That summary_from is not above hybrid_from is beyond what it can say."""
    defaults = {name: one.default for name, one in attrs.fields_dict(ModeRules).items()}
    layer = {"$ref": "#/$defs/rules"}
    layers: dict[str, Json] = {"type": "object", "additionalProperties": layer}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Rules of context modes",
        "description": "What a session says holds over what its tenant says, and that over the default, setting by setting.",
        "type": "object",
        "properties": {
            "$schema": {"type": "string"},
            "default": layer,
            "tenants": {"description": "Settings that differ for a tenant, by its id.", **layers},
            "sessions": {"description": "Settings that differ for a session, by its id.", **layers},
        },
        "additionalProperties": False,
        "$defs": {
            "rules": {
                "type": "object",
                "properties": {name: setting.schema(defaults[name]) for name, setting in SETTINGS.items()},
                "additionalProperties": False,
            }
        },
    }


def at(place: str, key: str) -> str:
    """The JSON path of a key below a place."""
    short = key if len(key) <= _MOST_SHOWN else f"{key[:_MOST_SHOWN]}..."
    return f"{place}.{short}" if _PLAIN_KEY.fullmatch(short) else f"{place}[{json.dumps(short)}]"


def named(value: Json) -> str:
    """A value as it is told of: what it is, not all of it."""
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() > 64:
        return "a very large number"
    written = json.dumps(value)
    return written if len(written) <= _MOST_SHOWN else f"{written[:_MOST_SHOWN]}..."


def nearest(name: str, known: tuple[str, ...] | list[str]) -> str:
    """What may have been meant, or what there is."""
    close = difflib.get_close_matches(name[:_MOST_SHOWN].lower(), known, n=1)
    return f"did you mean {close[0]}?" if close else _one_of(known)


def _one_of(known: tuple[str, ...] | list[str]) -> str:
    return f"it must be one of {', '.join(known)}"
