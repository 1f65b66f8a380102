"""Counters that break one thing each."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Sequence
from typing import Any

import attrs

from contextport.conformance_tests.reference_counter import ReferenceCounter
from contextport.contracts import (
    CountKind,
    ErrorBound,
    InvalidArgument,
    Json,
    Media,
    Message,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    dump_json,
    to_chat,
)

from .registry import broken

__all__: list[str] = []


@broken("COUNTER-1")
class RoundsDown(ReferenceCounter):
    def count_text(self, text: str) -> int:
        return len(text) // 4


@broken("COUNTER-1")
class CountsTheEmptyText(ReferenceCounter):
    def count_text(self, text: str) -> int:
        return super().count_text(text) + 1


@broken("COUNTER-1 COUNTER-3")
class StripsWhiteSpace(ReferenceCounter):
    def count_text(self, text: str) -> int:
        return super().count_text(text.strip())


@broken("COUNTER-1")
class AnswersFractions(ReferenceCounter):
    def count_text(self, text: str) -> int:
        return len(text) / 4  # type: ignore[return-value]


@broken("COUNTER-2 COUNTER-11")
class RemembersByLength(ReferenceCounter):
    """The first text of a length decides for all others of that length."""

    def __init__(self) -> None:
        super().__init__()
        self.cache: dict[int, int] = {}

    def count_text(self, text: str) -> int:
        return self.cache.setdefault(len(text), -(-len(text.encode("utf-8", "surrogatepass")) // 4))


@broken("COUNTER-2")
class KnowsItsThread(ReferenceCounter):
    """As a tokenizer object that several threads must not share."""

    def __init__(self) -> None:
        super().__init__()
        self.thread = threading.get_ident()

    def count_text(self, text: str) -> int:
        if threading.get_ident() != self.thread:
            raise RuntimeError("already borrowed")
        return super().count_text(text)


@broken("COUNTER-3")
class EncodesStrictly(ReferenceCounter):
    def count_text(self, text: str) -> int:
        return -(-len(text.encode()) // 4)


@broken("COUNTER-3")
class RefusesSpecialTokens(ReferenceCounter):
    def count_text(self, text: str) -> int:
        if "<|endoftext|>" in text:
            raise ValueError("disallowed special token")
        return super().count_text(text)


@broken("COUNTER-3")
class RefusesMegabytes(ReferenceCounter):
    def count_text(self, text: str) -> int:
        if len(text) > 500_000:
            raise RecursionError("too deep")
        return super().count_text(text)


class _LeavesOut(ReferenceCounter):
    def left(self, part: Any) -> Any:
        return part

    def count_message(self, message: Message) -> int:
        parts = tuple(changed for part in message.parts if (changed := self.left(part)) is not None)
        return super().count_message(attrs.evolve(message, parts=parts))


@broken("COUNTER-4")
class LeavesOutArguments(_LeavesOut):
    def left(self, part: Any) -> Any:
        return attrs.evolve(part, arguments="") if isinstance(part, ToolCall) else part


@broken("COUNTER-4")
class LeavesOutToolNames(_LeavesOut):
    def left(self, part: Any) -> Any:
        return attrs.evolve(part, name="") if isinstance(part, ToolCall) else part


@broken("COUNTER-4")
class LeavesOutReasoning(_LeavesOut):
    def left(self, part: Any) -> Any:
        return None if isinstance(part, Thinking) else part


@broken("COUNTER-4")
class LeavesOutToolResults(_LeavesOut):
    def left(self, part: Any) -> Any:
        return attrs.evolve(part, parts=()) if isinstance(part, ToolResult) else part


@broken("COUNTER-4")
class CountsTheFirstTextAlone(_LeavesOut):
    def count_message(self, message: Message) -> int:
        texts = [part for part in message.parts if isinstance(part, Text)]
        parts = tuple(part for part in message.parts if part not in texts[1:])
        return super().count_message(attrs.evolve(message, parts=parts))


@broken("COUNTER-4")
class LeavesOutTheSpeaker(ReferenceCounter):
    def count_message(self, message: Message) -> int:
        return super().count_message(attrs.evolve(message, name=None))


@broken("COUNTER-5")
class CountsBase64AsText(ReferenceCounter):
    def count_message(self, message: Message) -> int:
        media = [part for part in message.parts if isinstance(part, Media)]
        return super().count_message(message) + sum(self.count_text(part.data or "") for part in media)


@broken("COUNTER-5")
class PricesImagesByBytes(ReferenceCounter):
    def count_message(self, message: Message) -> int:
        media = [part for part in message.parts if isinstance(part, Media)]
        extra = sum(len(base64.b64decode(part.data)) // 4_000 for part in media if part.data and part.raw)
        return super().count_message(message) + extra


@broken("COUNTER-5")
class CountsMediaInResultsAsText(ReferenceCounter):
    def count_message(self, message: Message) -> int:
        inner = [part for result in message.tool_results for part in result.parts if isinstance(part, Media)]
        return super().count_message(message) + sum(self.count_text(part.data or "") for part in inner)


@broken("COUNTER-5 COUNTER-6")
class CountsTheWireForm(ReferenceCounter):
    def count_message(self, message: Message) -> int:
        extra = 0 if any(isinstance(part, Media) for part in message.parts) else len(json.dumps(to_chat([message])))
        return super().count_message(message) + extra // 8


@broken("COUNTER-6")
class CountsPartsApart(ReferenceCounter):
    def count_message(self, message: Message) -> int:
        return super().count_message(message) + sum(getattr(part, "raw", None) is not None for part in message.parts)


@broken("COUNTER-7")
class CountsToolNamesAlone(ReferenceCounter):
    def count_tools(self, tools: Sequence[Json]) -> int:
        return sum(self.count_text(tool["function"]["name"]) for tool in tools)


@broken("COUNTER-7")
class ChargesForNoTools(ReferenceCounter):
    def count_tools(self, tools: Sequence[Json]) -> int:
        return 12 + super().count_tools(tools)


@broken("COUNTER-7")
class CountsOneTool(ReferenceCounter):
    def count_tools(self, tools: Sequence[Json]) -> int:
        return max((self.count_text(dump_json(tool)) for tool in tools), default=0)


@broken("COUNTER-8")
class EstimatesAndCallsItExact(ReferenceCounter):
    @property
    def kind(self) -> CountKind:
        return CountKind.EXACT


@broken("COUNTER-8")
class StatesANegativeBound(ReferenceCounter):
    @property
    def bound(self) -> ErrorBound:
        return ErrorBound(under=-0.1, over=0.1)


@broken("COUNTER-9")
class HasNoName(ReferenceCounter):
    @property
    def name(self) -> str:
        return ""


@broken("COUNTER-9")
class LeavesASettingOutOfItsName(ReferenceCounter):
    divisor = 4

    @classmethod
    def others(cls) -> Sequence[ReferenceCounter]:
        other = cls()
        other.divisor = 3
        return (other,)

    def count_text(self, text: str) -> int:
        return -(-len(text) // self.divisor)


@broken("COUNTER-2 COUNTER-9")
class EachCounterCountsItsOwnWay(ReferenceCounter):
    made = 0

    def __init__(self) -> None:
        super().__init__()
        type(self).made += 1
        self.message_framing = type(self).made


@broken("COUNTER-10")
class NormalisesTheWireForm(ReferenceCounter):
    def count_message(self, message: Message) -> int:
        if message.native is not None and isinstance(message.native.raw, dict):
            message.native.raw.setdefault("name", None)
        return super().count_message(message)


@broken("COUNTER-10")
class CompletesTheTools(ReferenceCounter):
    def count_tools(self, tools: Sequence[Json]) -> int:
        for tool in tools:
            tool["function"].setdefault("strict", False)
        return super().count_tools(tools)


@broken("COUNTER-11")
class GrowsFasterThanTheText(ReferenceCounter):
    def count_text(self, text: str) -> int:
        return super().count_text(text) + len(text) ** 2 // 1_000


@broken("COUNTER-12")
class LearnsNothing(ReferenceCounter):
    def record_usage(self, *, counted: int, reported: int, model: str = "") -> None:
        if reported <= 0:
            raise InvalidArgument("reported must be above 0")


@broken("COUNTER-12")
class LearnsUpsideDown(ReferenceCounter):
    def record_usage(self, *, counted: int, reported: int, model: str = "") -> None:
        super().record_usage(counted=max(reported, 1) if reported > 0 else counted, reported=min(counted, reported), model=model)
        self.ratios[model] = min(3.0, max(0.5, counted / reported))


@broken("COUNTER-12")
class LearnsWithoutAClamp(ReferenceCounter):
    def record_usage(self, *, counted: int, reported: int, model: str = "") -> None:
        super().record_usage(counted=counted, reported=reported, model=model)
        self.ratios[model] = reported / counted


@broken("COUNTER-12")
class PutsWhatItLearntIntoTheCounts(ReferenceCounter):
    def count_text(self, text: str) -> int:
        return round(super().count_text(text) * self.token_ratio("m"))


@broken("COUNTER-13")
class TakesAnyReport(ReferenceCounter):
    def record_usage(self, *, counted: int, reported: int, model: str = "") -> None:
        super().record_usage(counted=counted, reported=max(1, reported), model=model)


@broken("COUNTER-13")
class LearnsBeforeItLooks(ReferenceCounter):
    def record_usage(self, *, counted: int, reported: int, model: str = "") -> None:
        self.ratios[model] = max(0.5, reported / counted)
        super().record_usage(counted=counted, reported=reported, model=model)


@broken("COUNTER-14")
class LearnsForAllModels(ReferenceCounter):
    def token_ratio(self, model: str = "") -> float:
        return next(iter(self.ratios.values()), 1.0)
