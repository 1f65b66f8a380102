"""Conversations of every shape that strategies have gone wrong on, the same for the same seed."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence

import attrs
from attrs import define, field

from contextport.contracts import (
    Importance,
    Json,
    Kind,
    Media,
    Message,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    from_chat,
)

__all__ = [
    "conversations",
    "is_complete",
    "is_system",
    "long_tool_loop",
    "newest_question",
    "segments",
    "tool_heavy",
    "with_calls",
]

_WORDS = [
    "plan",
    "file",
    "error",
    "total",
    "north",
    "seven",
    "table",
    "query",
    "river",
    "cloud",
    "x=1;",
    "3.14",
    "/usr/lib",
    "привет",
    "мир",
    "данные",
    "你好",
    "世界",
    "数据",
    "こんにちは",
    "데이터",
    "नमस्ते",
    "שלום",
    "مرحبا",
    "été",
    "👩\u200d👩\u200d👧\u200d👦",
    "🇩🇪🇫🇷",
]


def is_system(message: Message) -> bool:
    """Whether the message is a system message in the sense of the rules."""
    return message.role in ("system", "developer")


def newest_question(messages: Sequence[Message]) -> Message | None:
    """The newest user message that is not an interrupt, or None."""
    return next((message for message in reversed(messages) if message.opens_turn), None)


def is_complete(messages: Sequence[Message]) -> bool:
    """Whether each call is answered once in the unbroken run of results after it, and each result has its call."""
    waiting: list[str] = []
    for message in messages:
        if message.tool_results:
            for result in message.tool_results:
                if result.call_id not in waiting:
                    return False
                waiting.remove(result.call_id)
        elif waiting:
            return False
        else:
            waiting = [call.call_id for call in message.tool_calls]
    return not waiting


def segments(messages: Sequence[Message]) -> list[list[Message]]:
    """The messages in runs that belong together: one with calls and all the results after it, or a single one."""
    found: list[list[Message]] = []
    for message in messages:
        if message.tool_results and found:
            found[-1].append(message)
        else:
            found.append([message])
    return found


@define
class _Writer:
    """Writes a conversation message by message, with ids in order."""

    rng: random.Random
    messages: list[Message] = field(factory=list[Message])
    calls: int = 0
    #: Words of a usual text.
    longest: int = 6

    def text(self, most: int | None = None) -> str:
        return " ".join(self.rng.choices(_WORDS, k=self.rng.randint(1, most or self.longest)))

    def add(self, role: str, *parts: Part, **more: object) -> None:
        message = Message(role=role, parts=parts, id=f"m{len(self.messages)}", **more)  # type: ignore[arg-type]
        self.messages.append(message)

    def add_chat(self, **value: Json) -> None:
        """A message that has its wire form, as hosts hand it in."""
        self.messages.append(from_chat({**value, "id": f"m{len(self.messages)}"}))

    def system(self) -> None:
        self.add(self.rng.choice(("system", "system", "developer")), Text(self.text()))

    def question(self, most: int | None = None) -> None:
        chance = self.rng.random()
        if chance < 0.15:
            self.add("user", Text(self.text(most)), Media(media="image", data="iVBORw0KGgo=", size_px=(2, 2)))
        elif chance < 0.3:
            self.add_chat(
                role="user", content=[{"type": "text", "text": self.text(most)}, {"type": "text", "text": self.text(2)}]
            )
        elif chance < 0.45:
            self.add_chat(role="user", content=self.text(most), name="ann", x_trace={"n": 1})
        else:
            self.add("user", Text(self.text(most)))

    def answer(self) -> None:
        chance = self.rng.random()
        if chance < 0.15:
            self.add("assistant", Thinking(text=self.text(3), signature="c2ln", binding="turn"), Text(self.text()))
        elif chance < 0.2:
            self.add_chat(role="assistant", content="")
        else:
            self.add("assistant", Text(self.text()))

    def interrupt(self) -> None:
        self.add("user", Text(self.text(2)), kind=Kind.INTERRUPT)

    def round(self, parallel: int | None = None) -> None:
        """One message with calls, and all their results."""
        names = [f"c{self.calls + n}" for n in range(parallel or self.rng.choice((1, 1, 1, 2, 3)))]
        self.calls += len(names)
        calls = tuple(ToolCall(call_id=name, name="find", arguments='{"q": "' + self.text(2) + '"}') for name in names)
        spoken: tuple[Part, ...] = (Text(self.text(3)),) if self.rng.random() < 0.3 else ()
        thought: tuple[Part, ...] = ()
        if self.rng.random() < 0.35:
            thought = (Thinking(text=self.text(3), signature="c2ln", binding="turn"),)
        self.add("assistant", *thought, *spoken, *calls)
        self.rng.shuffle(names)
        for name in names:
            self.add("tool", ToolResult(call_id=name, parts=(Text(self.text()),)))

    def turn(self) -> None:
        self.question()
        for _ in range(self.rng.choice((0, 0, 0, 1, 1, 2))):
            self.round()
            if self.rng.random() < 0.15:
                self.interrupt()
        if self.rng.random() < 0.9:
            self.answer()

    def mark_some(self, pins: float = 0.08) -> None:
        """Pin a few messages and call others important."""
        for n, message in enumerate(self.messages):
            chance = self.rng.random()
            if is_system(message) or message.tool_results or message.kind is not Kind.CHAT:
                continue
            if chance < pins:
                self.messages[n] = attrs.evolve(message, pinned=True)
            elif chance < pins + 0.04:
                self.messages[n] = attrs.evolve(message, importance=Importance.DECISION)


def _chat(w: _Writer) -> None:
    for _ in range(w.rng.randint(1, 6)):
        w.question()
        w.answer()


def _with_tools(w: _Writer) -> None:
    for _ in range(w.rng.randint(1, 4)):
        w.turn()


def _system_first(w: _Writer) -> None:
    w.system()
    _with_tools(w)


def _system_in_the_middle(w: _Writer) -> None:
    w.system()
    for _ in range(3):
        w.turn()
        w.system()
    w.turn()


def _many_rounds(w: _Writer) -> None:
    w.question()
    for _ in range(w.rng.randint(4, 7)):
        w.round()


def _huge_newest(w: _Writer) -> None:
    w.longest = 3
    for _ in range(2):
        w.turn()
    w.question(most=2)
    w.messages[-1] = attrs.evolve(w.messages[-1], parts=(Text(" ".join(w.rng.choices(_WORDS, k=30))),), native=None)


def _huge_result(w: _Writer) -> None:
    w.longest = 3
    w.turn()
    w.question()
    w.round(parallel=2)
    last = w.messages[-1].tool_results[0]
    huge = attrs.evolve(last, parts=(Text(" ".join(w.rng.choices(_WORDS, k=30))),))
    w.messages[-1] = attrs.evolve(w.messages[-1], parts=(huge,))


def _pinned(w: _Writer) -> None:
    w.longest = 3
    for _ in range(5):
        w.turn()
    w.mark_some(pins=0.25)


def _assistant_first(w: _Writer) -> None:
    w.answer()
    _with_tools(w)


def _reasoning(w: _Writer) -> None:
    for _ in range(3):
        w.question()
        for _ in range(2):
            w.round()
        w.add("assistant", Thinking(text=w.text(4), signature="c2ln", binding="turn"), Text(w.text()))


def _interrupted(w: _Writer) -> None:
    for _ in range(2):
        w.turn()
    w.question()
    for _ in range(2):
        w.round()
        w.interrupt()
    w.round()


def _with_gap(w: _Writer) -> None:
    w.question()
    w.answer()
    gap = {"omitted_messages": 4, "omitted_tokens": 20}
    w.add("user", Text("[4 earlier messages left out]"), kind=Kind.GAP, metadata=gap)
    _with_tools(w)


def _emptyish(w: _Writer) -> None:
    w.question()
    w.add_chat(role="assistant", content=None)
    w.add("user", Text(""))
    w.add("assistant", Text(w.text()))
    w.question()


_SHAPES: tuple[Callable[[_Writer], None], ...] = (
    _chat,
    _with_tools,
    _system_first,
    _system_in_the_middle,
    _many_rounds,
    _huge_newest,
    _huge_result,
    _pinned,
    _assistant_first,
    _reasoning,
    _interrupted,
    _with_gap,
    _emptyish,
)


def _written(shape: Callable[[_Writer], None], seed: int) -> tuple[Message, ...]:
    writer = _Writer(random.Random(f"{shape.__name__} {seed}"))
    shape(writer)
    if shape is not _with_gap:
        writer.mark_some()
    return tuple(writer.messages)


def conversations(rounds: int) -> Iterator[tuple[Message, ...]]:
    """Complete conversations, `rounds` of each shape: small enough to be tried at every budget."""
    for seed in range(rounds):
        for shape in _SHAPES:
            yield _written(shape, seed)


def with_calls(seed: int) -> list[tuple[Message, ...]]:
    """Complete conversations that have calls, one of each such shape."""
    return [_written(shape, seed) for shape in (_with_tools, _many_rounds, _reasoning, _interrupted, _system_in_the_middle)]


def tool_heavy(turns: int = 12) -> tuple[Message, ...]:
    """A long complete conversation of turns with tools."""
    writer = _Writer(random.Random("tool heavy"), longest=20)
    writer.system()
    for _ in range(turns):
        writer.turn()
    writer.mark_some(pins=0.03)
    return tuple(writer.messages)


def long_tool_loop(rounds: int = 25) -> tuple[Message, ...]:
    """One question and very many tool rounds."""
    writer = _Writer(random.Random("tool loop"), longest=12)
    writer.question()
    for _ in range(rounds):
        writer.round()
    return tuple(writer.messages)
