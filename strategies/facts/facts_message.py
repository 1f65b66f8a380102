"""The ledger as a message for a model: what is not in the window beside it, the most needed first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate

from attrs import define, field

from contextport.contracts.counter import TokenCounter
from contextport.contracts.facts import Fact, FactKind, FactLedger, FactState
from contextport.contracts.messages import Json, JsonPart, Kind, Message, Text, ToolCall, ToolResult

from .ledger import RULES, STATEMENTS, was_argument
from .text_facts import GAP
from .words import content_words

__all__ = ["facts_message"]

_HEADING = "[Facts]"
_TAGS = {FactKind.CONSTRAINT: "must", FactKind.DECISION: "decided", FactKind.TASK: "open", FactKind.CONCLUSION: "found"}
_RULES_SHARE = 0.4  # of the room, for what the user settled; what they leave is for values, then for what is open and was found
_LONGEST = 60  # characters of a value that is shown
_ARGUMENT = 4


def facts_message(
    ledger: FactLedger, counter: TokenCounter, max_tokens: int, *, beside: Sequence[Message] = (), id: str
) -> Message | None:
    """A message of kind facts of at most `max_tokens` by `count_message`, with what of the ledger is not to be read in `beside`.

    None if the ledger is empty, or not even a heading fits. The metadata has the whole ledger, whatever is in the text.
    """
    if not ledger.facts:
        return None
    metadata: dict[str, Json] = {"ledger": ledger.as_json()}

    def made(lines: Sequence[str]) -> Message:
        return Message(role="user", kind=Kind.FACTS, parts=(Text("\n".join([_HEADING, *lines])),), id=id, metadata=metadata)

    room = max_tokens - counter.count_message(made(()))
    if room < 0:
        return None
    block = _Block(counter, room, _read(beside))
    block.fill(ledger.facts)
    lines = block.lines()
    while lines and counter.count_message(made(lines)) > max_tokens:  # pieces counted apart may be smaller than together
        block.drop_last()
        lines = block.lines()
    return made(lines)


@define
class _Value:
    """All that the ledger says of one value: the name it is shown under, and how much it may be needed."""

    text: str
    name: str = ""
    needed: int = 0
    newest: int = 0

    def add(self, fact: Fact, need: int, time: int) -> None:
        name = _shown_name(fact)
        if name and (not self.name or was_argument(fact)):
            self.name = name
        self.needed = max(self.needed, need)
        self.newest = max(self.newest, time)


def _shown_name(fact: Fact) -> str:
    """The name of a value in a list of values: the end of its path, below an identifier that with it."""
    if fact.label.endswith(GAP):
        return fact.label.removesuffix(GAP).strip() if fact.kind in (FactKind.NUMBER, FactKind.IDENTIFIER) else ""
    way = fact.label.split(".")
    return ".".join(way[-2:]) if len(way) > 1 and fact.kind is FactKind.NUMBER and _has_digit(way[-2]) else way[-1]


def _has_digit(text: str) -> bool:
    return any(sign in "0123456789" for sign in text)


def _need(fact: Fact) -> int:
    """How likely a later call needs the value: it was an argument, or the user said it; it names something; a tool told it."""
    if was_argument(fact) or fact.role == "user":
        return _ARGUMENT if fact.kind is not FactKind.NUMBER else 3
    if fact.kind in (FactKind.IDENTIFIER, FactKind.PATH) and _has_digit(fact.text):
        return 3
    if fact.role == "tool" and not fact.label.endswith(GAP):
        return 2 if fact.kind is not FactKind.NUMBER else 1
    return 0


@define
class _Block:
    """The lines of the message, as far as there is room."""

    counter: TokenCounter
    room: int
    visible: str
    statements: list[str] = field(factory=list[str])
    values: dict[str, list[str]] = field(factory=dict[str, list[str]])
    order: list[str] = field(factory=list[str])

    def fill(self, facts: Sequence[Fact]) -> None:
        stated = [fact for fact in facts if fact.kind in STATEMENTS and not self._shown(fact.text)]
        rest = self._state(_rules(stated), int(self.room * _RULES_SHARE))
        self.visible += "\n" + "\n".join(self.statements)
        for value in _values(facts):
            self._add(value)
        self._state([*rest, *_others(stated)], self.room)

    def _shown(self, text: str) -> bool:
        return text in self.visible

    def _state(self, lines: Sequence[str], room: int) -> list[str]:
        """Add the lines that fit in the room; those that do not are returned."""
        rest: list[str] = []
        for line in lines:
            cost = self.counter.count_text("\n" + line)
            if cost <= room:
                self.statements.append(line)
                room -= cost
                self.room -= cost
            else:
                rest.append(line)
        return rest

    def _add(self, value: _Value) -> None:
        if self._shown(value.text):
            return
        known = value.name in self.values
        piece = f", {value.text}" if known else f"\n{value.name}: {value.text}" if value.name else f"\n{value.text}"
        cost = self.counter.count_text(piece)
        if cost <= self.room:
            self.room -= cost
            self.values.setdefault(value.name, []).append(value.text)
            self.order.append(value.name)

    def drop_last(self) -> None:
        """Without the value that was added last, or else the last statement."""
        if self.order:
            name = self.order.pop()
            self.values[name].pop()
            if not self.values[name]:
                del self.values[name]
        else:
            self.statements.pop()

    def lines(self) -> list[str]:
        listed = [f"{name}: {', '.join(texts)}" if name else ", ".join(texts) for name, texts in self.values.items()]
        return [*self.statements, *listed]


def _rules(facts: Iterable[Fact]) -> list[str]:
    """The lines of what the user settled, in the order in which it was."""
    return [f"{_TAGS[fact.kind]}: {fact.text}{_before(fact)}" for fact in facts if _is_rule(fact)]


def _others(facts: Sequence[Fact]) -> list[str]:
    """The lines of open tasks, then of what was found, the newest first; without those that say nothing by themselves."""
    kept = [fact for fact in reversed(facts) if fact.state is FactState.CURRENT and fact.role != "tool" and not _is_rule(fact)]
    kept.sort(key=lambda fact: (fact.kind is not FactKind.TASK, fact.role != "user"))
    return [f"{_TAGS[fact.kind]}: {fact.text}" for fact in kept if len(content_words(fact.text)) > 1]


def _is_rule(fact: Fact) -> bool:
    return fact.kind in RULES and fact.role == "user"


def _before(fact: Fact) -> str:
    """What a rule took the place of: the two may not be about quite the same."""
    return f" (before: {'; '.join(fact.earlier)})" if fact.earlier and fact.kind in RULES else ""


def _values(facts: Sequence[Fact]) -> list[_Value]:
    """Values, the most needed first, and the newest of these."""
    times, asked_for = _times(facts), _asked_for(facts)
    values: dict[str, _Value] = {}
    for fact in facts:
        if fact.kind not in STATEMENTS and 1 < len(fact.text) <= _LONGEST:
            value = values.setdefault(fact.text, _Value(fact.text))
            need = _ARGUMENT if fact.label in asked_for and fact.kind is FactKind.IDENTIFIER else _need(fact)
            value.add(fact, need, max([times[source] for source in fact.sources], default=0))
    return sorted(values.values(), key=lambda value: (-value.needed, -value.newest))


def _asked_for(facts: Iterable[Fact]) -> frozenset[str]:
    """Paths of results from which calls took a value: their other values are likely to be next."""
    arguments = {fact.text for fact in facts if was_argument(fact)}
    return frozenset([fact.label for fact in facts if fact.role == "tool" and fact.label and fact.text in arguments])


def _times(facts: Sequence[Fact]) -> dict[str, int]:
    """An order of the messages, as far as the ledger tells: each is at least as late as what was said in it first."""
    times: dict[str, int] = {}
    for at, fact in enumerate(facts):
        for place, source in enumerate(fact.sources):
            times.setdefault(source, at if place == 0 else -1)
    for fact in facts:
        latest = accumulate((times[source] for source in fact.sources), max)
        times.update({source: time for source, time in zip(fact.sources, latest, strict=True) if times[source] < time})
    return times


def _read(messages: Iterable[Message]) -> str:
    """All that can be read in messages, arguments of calls included."""
    pieces: list[str] = []
    for message in messages:
        pieces.append(message.text)
        for part in message.parts:
            if isinstance(part, ToolCall):
                pieces.append(part.arguments)
            elif isinstance(part, ToolResult):
                pieces += [str(inner.value) for inner in part.parts if isinstance(inner, JsonPart)]
    return "\n".join(pieces)
