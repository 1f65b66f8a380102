"""Codecs that break one thing each."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, cast

import attrs

from contextport.conformance_tests.reference_codec import ReferenceCodec
from contextport.contracts import (
    Encoded,
    InvalidMessage,
    Json,
    Loss,
    LossKind,
    Message,
    Opaque,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    copy_json,
)

from .registry import broken

__all__: list[str] = []

_Lose = Callable[[LossKind, int], None]


@broken("CODEC-1")
class ForgetsKeysItDoesNotKnow(ReferenceCodec):
    def own(self, message: Message) -> Any:
        raw = super().own(message)
        return raw and {key: raw[key] for key in ("who", "say")}


@broken("CODEC-1")
class PutsKeysInOrder(ReferenceCodec):
    def own(self, message: Message) -> Any:
        raw = super().own(message)
        return raw and dict(sorted(raw.items()))


@broken("CODEC-1")
class LeavesNullOut(ReferenceCodec):
    def own(self, message: Message) -> Any:
        raw = super().own(message)
        says = [{key: one for key, one in block.items() if one is not None} for block in raw["say"]] if raw else []
        return raw and {**raw, "say": says}


@broken("CODEC-1 CODEC-10")
class KnowsOnlyWhatItDecodedItself(ReferenceCodec):
    """A message that was stored is put together from its parts, without a key that is no part."""

    def __init__(self) -> None:
        self.known: list[Any] = []

    def message(self, note: Any, path: str) -> Message:
        message = super().message(note, path)
        self.known.append(message.parts)
        return message

    def own(self, message: Message) -> Any:
        raw = super().own(message)
        known = any(parts is message.parts for parts in self.known)
        return raw if known or raw is None else {"who": raw["who"], "say": raw["say"]}


@broken("CODEC-2")
class KeepsTheRequest(ReferenceCodec):
    def taken(self, value: Any, path: str) -> Any:
        copy_json(value, path)
        return value


@broken("CODEC-2")
class AddsDefaultsToTheRequest(ReferenceCodec):
    def decode(self, request: Mapping[str, Json]) -> tuple[Message, ...]:
        messages = super().decode(request)
        for note in request["log"]:
            note.setdefault("page", 0)
        return messages


@broken("CODEC-1 CODEC-3 CODEC-5")
class OneMessagePerCall(ReferenceCodec):
    def decode(self, request: Mapping[str, Json]) -> tuple[Message, ...]:
        return tuple(one for message in super().decode(request) for one in self.split(message))

    def split(self, message: Message) -> list[Message]:
        calls = message.tool_calls
        if len(calls) < 2:
            return [message]
        rest = tuple(part for part in message.parts if part not in calls)
        return [attrs.evolve(message, id=f"{message.id}/{n}", parts=(*rest, call)) for n, call in enumerate(calls)]


@broken("CODEC-1 CODEC-3 CODEC-5 CODEC-11")
class PairsByPlace(ReferenceCodec):
    def decode(self, request: Mapping[str, Json]) -> tuple[Message, ...]:
        waiting: list[str] = []
        found: list[Message] = []
        for message in super().decode(request):
            waiting += [call.call_id for call in message.tool_calls]
            parts = tuple(
                attrs.evolve(part, call_id=waiting.pop(0)) if isinstance(part, ToolResult) and waiting else part
                for part in message.parts
            )
            found.append(message if parts == message.parts else attrs.evolve(message, parts=parts))
        return tuple(found)


@broken("CODEC-4")
class SkipsUnknownBlocks(ReferenceCodec):
    def parts(self, blocks: Any, path: str) -> Iterator[Part]:
        return (part for part in super().parts(blocks, path) if not isinstance(part, Opaque))


@broken("CODEC-4")
class ForgetsUnknownBlocksWhenEdited(ReferenceCodec):
    def opaque(self, part: Opaque, n: int, lose: _Lose) -> list[dict[str, Any]]:
        return [] if part.api == self.api else super().opaque(part, n, lose)


@broken("CODEC-4 CODEC-5")
class LosesForeignBlocksSilently(ReferenceCodec):
    def opaque(self, part: Opaque, n: int, lose: _Lose) -> list[dict[str, Any]]:
        return super().opaque(part, n, lose) if part.api == self.api else []


@broken("CODEC-5")
class LosesThoughtsSilently(ReferenceCodec):
    def thought(self, part: Thinking, n: int, lose: _Lose) -> list[dict[str, Any]]:
        return super().thought(part, n, lambda kind, part: None)


@broken("CODEC-5 CODEC-9")
class LosesWordsBesideCalls(ReferenceCodec):
    def blocks(self, part: Part, n: int, message: Message, ids: dict[str, str], lose: _Lose) -> list[dict[str, Any]]:
        if isinstance(part, Text) and message.tool_calls and message.native is None:
            return []
        return super().blocks(part, n, message, ids, lose)


@broken("CODEC-4 CODEC-5")
class NamesLossesWithoutTheirMessage(ReferenceCodec):
    def notes(self, message: Message, ids: dict[str, str], losses: list[Loss]) -> list[dict[str, Any]]:
        before = len(losses)
        notes = super().notes(message, ids, losses)
        losses[before:] = [attrs.evolve(loss, message_id="") for loss in losses[before:]]
        return notes


@broken("CODEC-6")
class IsNeverStrict(ReferenceCodec):
    def refuses(self, losses: list[Loss], strict: bool) -> bool:
        return False


@broken("CODEC-6")
class IsStrictAboutMediaOnly(ReferenceCodec):
    def refuses(self, losses: list[Loss], strict: bool) -> bool:
        return strict and any(loss.kind is LossKind.MEDIA for loss in losses)


@broken("CODEC-7")
class SendsForeignSignatures(ReferenceCodec):
    def thought(self, part: Thinking, n: int, lose: _Lose) -> list[dict[str, Any]]:
        return [{"thought": part.text or "", "seal": part.signature}] if part.text else super().thought(part, n, lose)


@broken("CODEC-7")
class CopiesAnyRawBlock(ReferenceCodec):
    def blocks(self, part: Part, n: int, message: Message, ids: dict[str, str], lose: _Lose) -> list[dict[str, Any]]:
        made = super().blocks(part, n, message, ids, lose)
        raw = getattr(part, "raw", None)
        return [{**raw, **made[0]}] if made and isinstance(raw, dict) and message.role == "assistant" else made


@broken("CODEC-8")
class TakesNothingForALog(ReferenceCodec):
    def decode(self, request: Mapping[str, Json]) -> tuple[Message, ...]:
        return super().decode(request) if isinstance(cast(Any, request), Mapping) and request.get("log") != 5 else ()


@broken("CODEC-8")
class IndexesBeforeItLooks(ReferenceCodec):
    def decode(self, request: Mapping[str, Json]) -> tuple[Message, ...]:
        for note in request["log"]:
            note["who"]
        return super().decode(request)


@broken("CODEC-8")
class RefusesWithoutAPath(ReferenceCodec):
    def message(self, note: Any, path: str) -> Message:
        try:
            return super().message(note, path)
        except InvalidMessage as error:
            raise InvalidMessage("a note is wrong") from error


@broken("CODEC-9")
class PassesLoneSurrogatesOn(ReferenceCodec):
    def written(self, log: Any) -> Any:
        return log


@broken("CODEC-9")
class DropsWhatUtf8CannotHold(ReferenceCodec):
    def written(self, log: Any) -> Any:
        return log.encode("utf-8", "ignore").decode() if isinstance(log, str) else super().written(log)


@broken("CODEC-10")
class UsesTheOldFormOfWhatWasEdited(ReferenceCodec):
    def own(self, message: Message) -> Any:
        return message.native.raw if message.native is not None and message.native.api == self.api else None


@broken("CODEC-10")
class RebuildsAllWhenOneWasEdited(ReferenceCodec):
    def encode(self, messages: Sequence[Message], *, strict: bool = False) -> Encoded:
        if any(super(RebuildsAllWhenOneWasEdited, self).own(message) is None for message in messages):
            messages = [attrs.evolve(message, native=None) for message in messages]
        return super().encode(messages, strict=strict)


@broken("CODEC-11")
class CutsIds(ReferenceCodec):
    def made_id(self, one: str, given: set[str]) -> str:
        return "".join(sign if sign.isalnum() and sign.isascii() else "_" for sign in f"n{one}")[:24]


@broken("CODEC-11")
class MakesIdsAtRandom(ReferenceCodec):
    def made_id(self, one: str, given: set[str]) -> str:
        return f"n{random.getrandbits(64):x}"


@broken("CODEC-11")
class NumbersIdsWithoutALook(ReferenceCodec):
    def ids(self, messages: Sequence[Message]) -> dict[str, str]:
        numbers = itertools.count()
        given = (part.call_id for message in messages for part in message.parts if isinstance(part, ToolCall))
        return {one: f"call_{next(numbers)}" for one in given if len(one) > 24 or not one.isidentifier() or not one.isascii()}


@broken("CODEC-12")
class SaysSystemMessagesAsTheReader(ReferenceCodec):
    def notes(self, message: Message, ids: dict[str, str], losses: list[Loss]) -> list[dict[str, Any]]:
        found = super().notes(message, ids, losses)
        return [{**note, "who": "reader"} if note["who"] == "rules" and self.own(message) is None else note for note in found]


@broken("CODEC-5 CODEC-9 CODEC-10 CODEC-12")
class DropsSystemMessagesWithALoss(ReferenceCodec):
    def notes(self, message: Message, ids: dict[str, str], losses: list[Loss]) -> list[dict[str, Any]]:
        if message.role == "system" and self.own(message) is None:
            losses.append(Loss(kind=LossKind.ROLE, message_id=message.id))
            return []
        return super().notes(message, ids, losses)
