"""The ledger as a message for a model: what is not in the window beside it, the most needed first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate, zip_longest

from attrs import define, field

from contextport.contracts.counter import TokenCounter
from contextport.contracts.facts import Fact, FactKind, FactLedger, FactState
from contextport.contracts.messages import Json, JsonPart, Kind, Message, Text, ToolCall, ToolResult

from .labels import GAP, owner_in, role_in
from .ledger import RULES, STATEMENTS, was_argument
from .statements import MARKS_END
from .words import content_words

__all__ = ["facts_message"]

_HEADING = "[Facts]"
_TAGS = {FactKind.CONSTRAINT: "must", FactKind.DECISION: "decided", FactKind.TASK: "open", FactKind.CONCLUSION: "found"}
_RULES_SHARE = 0.4  # of the room, for what the user settled; what they leave is for values, then for what is open and was found
_LONGEST = 60  # characters of a value that is shown
_ARGUMENT = 4
_WITH_WORDS = (FactKind.NUMBER, FactKind.IDENTIFIER, FactKind.DATE)  # kinds shown with the words before them
_MOST_OF_A_LIST = 48  # values under one name; more are a listing, to be asked for again


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
    word: str = ""
    before: tuple[str, ...] = ()
    needed: int = 0
    newest: int = 0

    def add(self, fact: Fact, need: int, time: int) -> None:
        name = _shown_name(fact)
        if name and (not self.name or was_argument(fact)):
            self.name, self.word, self.before = name, _word_of(fact), fact.earlier if role_in(fact.label) else ()
        self.needed = max(self.needed, need)
        self.newest = max(self.newest, time)

    @property
    def shown(self) -> str:
        """The value after what it is of the thing that it is shown under, with what it was before."""
        before = f" (before: {', '.join(self.before)})" if self.before else ""
        return f"{self.word} {self.text}{before}" if self.word else f"{self.text}{before}"


def _shown_name(fact: Fact) -> str:
    """The name of a value in a list of values: the end of its path, below an identifier that with it."""
    if owner := owner_in(fact.label):
        return owner
    if fact.label.endswith(GAP):
        return fact.label.removesuffix(GAP).strip() if fact.kind in _WITH_WORDS else ""
    if role_in(fact.label):
        return fact.label
    way = fact.label.split(".")
    return ".".join(way[-2:]) if len(way) > 1 and fact.kind is FactKind.NUMBER and _has_digit(way[-2]) else way[-1]


def _word_of(fact: Fact) -> str:
    """What the value is of the thing that the label begins with, if it begins with one."""
    owner = owner_in(fact.label)
    return fact.label[len(owner) :].removesuffix(GAP).strip() if owner else ""


def _is_bare(fact: Fact) -> bool:
    """Whether it does not say of what it is: a day in an output, or a few figures after a word that may be a verb."""
    if fact.kind is FactKind.DATE and fact.role == "tool":
        return not fact.label
    if fact.kind is not FactKind.NUMBER or (fact.label and not fact.label.endswith(GAP)):
        return False
    plain = fact.text.replace(",", "").replace(".", "").isdigit()
    return plain and (not fact.label or owner_in(fact.label) != "" or (len(fact.text) < 3 and len(fact.label.split()) < 3))


def _has_digit(text: str) -> bool:
    return any(sign in "0123456789" for sign in text)


def _need(fact: Fact) -> int:
    """How likely a later call needs the value: it was an argument, or the user said it; it names something; a tool told it."""
    if was_argument(fact) or fact.role == "user":
        return _ARGUMENT if fact.kind is not FactKind.NUMBER else 3
    if fact.kind in (FactKind.IDENTIFIER, FactKind.PATH) and _has_digit(fact.text):
        return 1 if _is_only_in_output(fact) else 3
    if fact.role == "tool" and not fact.label.endswith(GAP):
        return 2 if fact.kind is not FactKind.NUMBER else 1
    return 0


def _is_only_in_output(fact: Fact) -> bool:
    """Whether only one output that is no JSON has it."""
    return fact.role == "tool" and len(fact.sources) < 2 and (not fact.label or fact.label.endswith(GAP))


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
        rest = self._rules([fact for fact in stated if _is_rule(fact)], int(self.room * _RULES_SHARE))
        self.visible += "\n" + "\n".join(self.statements)
        for value in _values(facts):
            if self.room < 1:
                break
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

    def _rules(self, facts: Sequence[Fact], room: int) -> list[str]:
        """Add rules that fit in the room, in the order in which they were settled. The others are returned, as needed."""
        lines = [_rule(fact) for fact in facts]
        costs = [self.counter.count_text("\n" + line) for line in lines]
        chosen: set[int] = set()
        order = _by_need(facts)
        for at in order:
            if costs[at] <= room:
                chosen.add(at)
                room -= costs[at]
        self.statements += [lines[at] for at in sorted(chosen)]
        self.room -= sum([costs[at] for at in chosen])
        return [lines[at] for at in order if at not in chosen]

    def _add(self, value: _Value) -> None:
        known = value.name in self.values
        if self._shown(value.text) or (value.name and known and len(self.values[value.name]) >= _MOST_OF_A_LIST):
            return
        piece = f", {value.shown}" if known else f"\n{value.name}: {value.shown}" if value.name else f"\n{value.shown}"
        cost = self.counter.count_text(piece)
        if cost <= self.room:
            self.room -= cost
            self.values.setdefault(value.name, []).append(value.shown)
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


def _rule(fact: Fact) -> str:
    return f"{_TAGS[fact.kind]}: {fact.text}{_before(fact)}"


def _by_need(facts: Sequence[Fact]) -> list[int]:
    """Places of constraints and decisions in turn: constraints from both ends, for they last; decisions from
    the newest on, those first that changed or ended another."""
    kept = [at for at, fact in enumerate(facts) if fact.kind is FactKind.CONSTRAINT]
    from_ends = [at for pair in zip(reversed(kept), kept, strict=True) for at in pair]
    decided = [at for at in reversed(range(len(facts))) if facts[at].kind is FactKind.DECISION]
    decided.sort(key=lambda at: not (facts[at].earlier or MARKS_END.search(facts[at].text)))
    turns = zip_longest(dict.fromkeys(from_ends), decided)
    return [at for pair in turns for at in pair if at is not None]


def _others(facts: Sequence[Fact]) -> list[str]:
    """The lines of open tasks, then of what was found, the newest first; without those that say nothing by themselves."""
    kept = [fact for fact in reversed(facts) if fact.state is FactState.CURRENT and fact.role != "tool" and not _is_rule(fact)]
    kept = [fact for fact in kept if fact.kind in _TAGS]  # what else was said stays in the ledger, for questions about it
    kept.sort(key=lambda fact: (fact.kind is not FactKind.TASK, fact.role != "user"))
    return [f"{_TAGS[fact.kind]}: {fact.text}" for fact in kept if len(content_words(fact.text)) > 1]


def _is_rule(fact: Fact) -> bool:
    return fact.kind in RULES and fact.role == "user" and fact.state is FactState.CURRENT


def _before(fact: Fact) -> str:
    """What a rule took the place of: the two may not be about quite the same."""
    return f" (before: {'; '.join(fact.earlier)})" if fact.earlier and fact.kind in RULES else ""


def _values(facts: Sequence[Fact]) -> list[_Value]:
    """Values, the most needed first, and the newest of these."""
    times, asked_for = _times(facts), _asked_for(facts)
    values: dict[str, _Value] = {}
    for fact in facts:
        if fact.kind not in STATEMENTS and 1 < len(fact.text) <= _LONGEST and not _is_bare(fact):
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
