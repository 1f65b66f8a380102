"""A plain codec of a wire form of its own that keeps every rule."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, cast

from contextport.contracts import (
    CacheMark,
    Encoded,
    EncodingLossy,
    InvalidMessage,
    Json,
    JsonPart,
    Loss,
    LossKind,
    Media,
    Message,
    MessageCodec,
    Native,
    Opaque,
    Part,
    Refusal,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    copy_json,
    implements,
)

__all__ = ["REQUESTS", "UNKNOWN_BLOCKS", "ReferenceCodec"]

_API = "notes.log"
_ROLES: dict[str, Any] = {"rules": "system", "reader": "user", "writer": "assistant", "tool": "tool"}
_WHO = {role: who for who, role in _ROLES.items()}

#: Requests of this form: {"log": [{"who": ..., "say": [block, ...]}, ...]}.
REQUESTS: tuple[Mapping[str, Json], ...] = (
    {
        "log": [
            {"say": [{"text": "Answer in one line."}], "who": "rules", "edition": 2},
            {"who": "reader", "say": [{"text": "Where is the atlas?", "tone": None}, {"picture": "AAAA"}], "page": 1.5},
            {
                "who": "writer",
                "say": [
                    {"thought": "look", "seal": "own-seal"},
                    {"text": "I look."},
                    {"call": "c1", "do": "find", "with": '{ "q" : 1 }'},
                    {"call": "c2", "do": "find", "with": ""},
                ],
            },
            {"who": "tool", "say": [{"result": "c2", "say": [{"text": "shelf 2"}], "failed": True, "took": 3}]},
            {"who": "tool", "say": [{"result": "c1", "say": [{"json": {"shelf": 1}}, {"text": "upstairs"}]}]},
            {"who": "writer", "say": [{"text": "On shelf 1."}], "mood": {"b": 1, "a": [""]}},
        ]
    },
    {"log": []},
)
UNKNOWN_BLOCKS: tuple[Mapping[str, Json], ...] = (
    {
        "log": [
            {"who": "reader", "say": [{"text": "look"}, {"hologram": {"beam": [1, None]}}]},
            {"who": "writer", "say": [{"text": "yes"}]},
        ]
    },
)


@implements(MessageCodec)
class ReferenceCodec:
    """Reads and writes logs of notes."""

    @property
    def api(self) -> str:
        return _API

    # --- decoding

    def decode(self, request: Mapping[str, Json]) -> tuple[Message, ...]:
        if not isinstance(request, Mapping):
            raise InvalidMessage("a request must be a mapping with a log", path="")
        log = request.get("log")
        if not isinstance(log, list):
            raise InvalidMessage("log must be a list of notes", path="log")
        return tuple(self.message(self.taken(note, f"log[{n}]"), f"log[{n}]") for n, note in enumerate(cast(list[Any], log)))

    def taken(self, value: Any, path: str) -> Any:
        """The value as it is kept."""
        return copy_json(value, path)

    def message(self, note: Any, path: str) -> Message:
        """The message of a note."""
        if (
            not isinstance(note, dict)
            or cast(Any, note).get("who") not in _ROLES
            or not isinstance(cast(Any, note).get("say"), list)
        ):
            raise InvalidMessage("a note must have who and say", path=path)
        held = cast(dict[str, Any], note)
        parts = tuple(self.parts(held["say"], f"{path}.say"))
        return Message(role=_ROLES[held["who"]], parts=parts, native=Native(api=_API, raw=held, parts=parts))

    def parts(self, blocks: Any, path: str) -> Iterator[Part]:
        """The parts of blocks."""
        if not isinstance(blocks, list):
            raise InvalidMessage("say must be a list of blocks", path=path)
        for n, block in enumerate(cast(list[Any], blocks)):
            if not isinstance(block, dict):
                raise InvalidMessage("a block must be an object", path=f"{path}[{n}]")
            held = cast(dict[str, Any], block)
            decoder = next((one for key, one in self.decoders().items() if key in held), None)
            yield Opaque(api=_API, type="block", raw=held) if decoder is None else decoder(held, f"{path}[{n}]")

    def decoders(self) -> dict[str, Callable[[dict[str, Any], str], Part]]:
        """How to decode a block, by the key that it has."""
        return {
            "text": lambda block, path: Text(block["text"], raw=block),
            "json": lambda block, path: JsonPart(block["json"]),
            "call": lambda block, path: ToolCall(call_id=block["call"], name=block["do"], arguments=block["with"], raw=block),
            "result": self.result,
            "thought": lambda block, path: Thinking(
                text=block["thought"], signature=block.get("seal"), origin=(_API, ""), raw=block
            ),
            "picture": lambda block, path: Media(media="image", data=block["picture"], raw=block),
        }

    def result(self, block: dict[str, Any], path: str) -> ToolResult:
        """The result of a call."""
        inner: Any = tuple(self.parts(block["say"], f"{path}.say"))
        return ToolResult(call_id=block["result"], parts=inner, status="error" if block.get("failed") else None, raw=block)

    # --- encoding

    def encode(self, messages: Sequence[Message], *, strict: bool = False) -> Encoded:
        losses: list[Loss] = []
        ids = self.ids(messages)
        log = [note for message in messages for note in self.notes(message, ids, losses)]
        if losses and self.refuses(losses, strict):
            raise EncodingLossy("the log cannot say all of it", losses=tuple(losses))
        return Encoded(request={"log": self.written(log)}, losses=tuple(losses))

    def refuses(self, losses: list[Loss], strict: bool) -> bool:
        """Whether the losses are too many."""
        return strict

    def written(self, log: Any) -> Any:
        """The log as it can be written in UTF-8."""
        if isinstance(log, str):
            return _sayable(log)
        if isinstance(log, list):
            return [self.written(one) for one in cast(list[Any], log)]
        if isinstance(log, dict):
            return {_sayable(key): self.written(one) for key, one in cast(dict[str, Any], log).items()}
        return log

    def ids(self, messages: Sequence[Message]) -> dict[str, str]:
        """An id of at most 24 plain characters for each other one."""
        given = {part.call_id for message in messages for part in message.parts if isinstance(part, ToolCall | ToolResult)}
        return {one: self.made_id(one, given) for one in given if not (one.isascii() and one.isidentifier() and len(one) <= 24)}

    def made_id(self, one: str, given: set[str]) -> str:
        """A new id, of the old one alone."""
        digest = hashlib.sha256(one.encode("utf-8", "surrogatepass")).hexdigest()
        return next(made for made in (f"n{digest[at : at + 20]}" for at in range(40)) if made not in given)

    def own(self, message: Message) -> Any:
        """The note of a message that is as it was decoded."""
        native = message.native
        return native.raw if native is not None and native.api == _API and native.parts is message.parts else None

    def notes(self, message: Message, ids: dict[str, str], losses: list[Loss]) -> list[dict[str, Any]]:
        """The notes of a message."""
        own = self.own(message)
        if own is not None:
            return [copy_json(own)]

        def lose(kind: LossKind, part: int = -1) -> None:
            losses.append(Loss(kind=kind, message_id=message.id, part=part))

        if message.name is not None:
            lose(LossKind.NAME)
        if message.phase is not None:
            lose(LossKind.PHASE)
        if message.role == "developer":
            lose(LossKind.ROLE)
        native = message.native
        base: dict[str, Any] = copy_json(native.raw) if native is not None and native.api == _API else {}
        blocks = [block for n, part in enumerate(message.parts) for block in self.blocks(part, n, message, ids, lose)]
        return [{**base, "who": _WHO.get(message.role, "rules"), "say": blocks}]

    def blocks(
        self, part: Part, n: int, message: Message, ids: dict[str, str], lose: Callable[[LossKind, int], None]
    ) -> list[dict[str, Any]]:
        """The blocks of a part: one, or none and a loss."""
        native = message.native
        raw: Any = getattr(part, "raw", None) if native is not None and native.api == _API else None
        kept: dict[str, Any] = copy_json(raw) if isinstance(raw, dict) else {}
        match part:
            case Text():
                if part.citations:
                    lose(LossKind.CITATIONS, n)
                return [{**kept, "text": part.text}]
            case Refusal():
                lose(LossKind.REFUSAL, n)
                return [{"text": part.text}]
            case JsonPart():
                return [{"json": copy_json(part.value)}]
            case ToolCall() | ToolResult() if part.executor == "server":
                lose(LossKind.SERVER_TOOL, n)
            case ToolCall():
                if part.call_id in ids:
                    lose(LossKind.ID, n)
                return [{**kept, "call": ids.get(part.call_id, part.call_id), "do": part.name, "with": part.arguments}]
            case ToolResult():
                said = [block for inner in part.parts for block in self.blocks(inner, n, message, ids, lose)]
                failed = {"failed": True} if part.status == "error" else {}
                return [{**kept, "result": ids.get(part.call_id, part.call_id), "say": said, **failed}]
            case Media():
                if part.data and part.media == "image":
                    return [{**kept, "picture": part.data}]
                lose(LossKind.MEDIA, n)
            case Thinking():
                return self.thought(part, n, lose)
            case CacheMark():
                lose(LossKind.CACHE_MARK, n)
            case Opaque():
                return self.opaque(part, n, lose)
        return []

    def thought(self, part: Thinking, n: int, lose: Callable[[LossKind, int], None]) -> list[dict[str, Any]]:
        """A thought that was read here, in its own words."""
        if part.origin is not None and part.origin[0] == _API:
            return [copy_json(part.raw)]
        lose(LossKind.THINKING, n)
        return []

    def opaque(self, part: Opaque, n: int, lose: Callable[[LossKind, int], None]) -> list[dict[str, Any]]:
        """A block that nobody knows."""
        if part.api == _API:
            return [copy_json(part.raw)]
        lose(LossKind.OPAQUE, n)
        return []


def _sayable(text: str) -> str:
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
