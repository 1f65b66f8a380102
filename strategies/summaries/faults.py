"""What is wrong with a summary, by what it was made of. Nothing here asks a model."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

from attrs import frozen

from contextport.contracts import (
    Fact,
    FactKind,
    FactLedger,
    Message,
    Summary,
    SummaryRequest,
    TokenCounter,
    new_id,
)
from contextport.contracts.counting import total_tokens
from contextport.strategies.facts.exact_values import exact_values
from contextport.strategies.facts.extract import extract_facts
from contextport.strategies.facts.found_values import found_values
from contextport.strategies.facts.ledger import merged
from contextport.strategies.facts.words import content_words

from .instruction_texts import all_instructions
from .not_a_summary import noise_in, talk_in
from .passages import quoted
from .preamble import without_preamble
from .shared_words import topic_words, unrelated
from .source_values import ledger_values, numbers_in_words, source_texts, values_of
from .summary_message import summary_message
from .value_labels import LabelledValues, relabelled
from .value_units import ValueUnits, other_units

__all__ = ["DEFAULT_GAIN", "SourceOfSummary", "faults_of", "room_for"]

DEFAULT_GAIN = 0.1
_NAMED = 6  # values named in one fault; the rest are counted
_SHOWN = 60  # characters of a wish in a fault
_WISH_SHARE = 0.15  # of the cap; where wishes take more, as many of them must be kept as take that much
_WISHES = (FactKind.DECISION, FactKind.CONSTRAINT)


def room_for(request: SummaryRequest, counter: TokenCounter, min_gain: float = DEFAULT_GAIN) -> int:
    """The most tokens that a summary may take: its cap, and less than it replaces by `min_gain` of that. Below 1 if none may."""
    replaced = total_tokens(filter(quoted, request.messages), counter)
    heading = counter.count_message(summary_message(Summary(), id=new_id()))
    return min(request.max_tokens, math.floor(replaced * (1 - min_gain)) - heading)


@frozen(kw_only=True)
class SourceOfSummary:
    """What the check knows of the messages: read once, however many summaries of them are checked.

    `said` is all text with single spaces. `wishes` are decisions and constraints of the user that stand. `pinned` are the exact
    values of pinned messages. `words` are what it is about. `silent` are system messages and our instructions, which
    a summarizer has no business to repeat.
    """

    said: str
    words: frozenset[str]
    values: frozenset[str]
    labels: LabelledValues
    units: ValueUnits
    pinned: frozenset[str]
    wishes: tuple[Fact, ...]
    ledger: str
    ledger_values: frozenset[str]
    silent: tuple[str, ...]
    last: str
    messages: int

    @classmethod
    def of(cls, request: SummaryRequest) -> SourceOfSummary:
        """The source of a request's summary."""
        read = [message for message in request.messages if quoted(message)]
        texts = list(source_texts(read))
        known = ledger_values(request.ledger)
        ledger_lines = [f"{fact.label}: {text}" for fact in request.ledger.facts for text in (fact.text, *fact.earlier)]
        return cls(
            said=_flat("\n".join([*texts, *(message.text for message in read)])),
            words=topic_words([*texts, *ledger_lines]),
            values=frozenset().union(known, *map(exact_values, texts), *map(numbers_in_words, texts)),
            labels=LabelledValues.of([*texts, *ledger_lines]),
            units=ValueUnits.of_texts([*texts, *ledger_lines]),
            pinned=values_of([message for message in read if message.pinned]),
            wishes=tuple(_wishes(read)),
            ledger=_flat("\n".join(ledger_lines)),
            ledger_values=known,
            silent=(*_system_texts((*request.messages, *request.live)), *all_instructions()),
            last=_flat(read[-1].text) if read else "",
            messages=len(read),
        )


def faults_of(
    summary: Summary,
    request: SummaryRequest,
    counter: TokenCounter,
    *,
    min_gain: float = DEFAULT_GAIN,
    quotes: bool = False,
    source: SourceOfSummary | None = None,
) -> tuple[str, ...]:
    """Why the summary must not stand for the request's messages: each a code and the numbers; empty if it may.

    `empty`, `too_long`, `no_gain`: its size by `counter`, against `max_tokens` and against what it replaces. `junk`, `repeated`:
    it is noise. `apology`, `refusal`, `answer`, `promise`, `question`, `instruction`, `scratchpad`, `error_text`,
    `copy_of_message`: it is something else than a summary. `unrelated`: it has few words of the source.
    `not_in_source`: exact values that neither messages nor ledger have.
    `other_label`: a value under a name that the source gives to another. `other_unit`: an amount that the source has in other
    units only. `pinned_lost`, `wish_lost`: what a pinned message or the user's decisions and constraints say is neither in the
    summary nor in the ledger. (Wishes that are not in the ledger and take more than 15 % of the cap need not all be there, but as
    many as take 15 %.)

    `quotes` says that it is made of quotations: then signs of talk are none, and names of values are right. `source` spares
    reading the messages again.
    """
    text = summary.render()
    if not text.strip():
        return ("empty",)
    source = source or SourceOfSummary.of(request)
    found = [*_size_faults(text, request, counter, min_gain), *noise_in(text, quotes)]
    if not quotes:
        found += talk_in(without_preamble(text), source.said, source.silent)
        apart = unrelated(text, source.words)
        if apart:
            found.append(f"unrelated: {apart}")
        if source.messages > 1 and len(source.last) >= _SHOWN and _flat(text) == source.last:
            found.append("copy_of_message")
    found += _value_faults(summary, text, source, quotes)
    return (*found, *_loss_faults(text, source, request.max_tokens, counter))


def _size_faults(text: str, request: SummaryRequest, counter: TokenCounter, min_gain: float) -> Iterator[str]:
    tokens = counter.count_text(text)
    if tokens > request.max_tokens:
        yield f"too_long: {tokens} of {request.max_tokens} tokens"
    room = room_for(request, counter, min_gain)
    if tokens > room and room < request.max_tokens:
        yield f"no_gain: {tokens} tokens, of which {max(room, 0)} would be a gain of {min_gain:.0%}"


def _value_faults(summary: Summary, text: str, source: SourceOfSummary, quotes: bool) -> Iterator[str]:
    added = [f"{fact.label}: {fact.text}" for fact in summary.facts]
    values = [value for line in (text, *[fact.text for fact in summary.facts]) for value in found_values(line)]
    strange = {value.forms[0] for value in values if not source.values.issuperset(value.forms)}
    if strange:
        yield f"not_in_source: {_list(strange)}"
    if not quotes:
        for value, label in dict.fromkeys(pair for line in (text, *added) for pair in relabelled(line, source.labels)):
            yield f"other_label: {value} as {label}"
        for value, unit in dict.fromkeys(pair for line in (text, *added) for pair in other_units(line, source.units)):
            yield f"other_unit: {value} in {unit}"


def _loss_faults(text: str, source: SourceOfSummary, room: int, counter: TokenCounter) -> Iterator[str]:
    values = exact_values(text) | source.ledger_values
    if source.pinned - values:
        yield f"pinned_lost: {_list(source.pinned - values)}"
    wishes = [wish for wish in map(_flat, (fact.text for fact in source.wishes)) if wish not in source.ledger]
    flat, words = _flat(text), content_words(text)
    lost = [wish for wish in wishes if wish not in flat and not _kept(wish, values, words)]
    tokens = sum(counter.count_text(wish) for wish in wishes) if lost else 0
    needed = len(wishes) * min(1.0, _WISH_SHARE * room / tokens) if tokens else 0.0
    if len(wishes) - len(lost) < round(needed):
        yield from (f"wish_lost: {wish[:_SHOWN]}" for wish in lost[:_NAMED])


def _kept(wish: str, values: frozenset[str], words: frozenset[str]) -> bool:
    """Whether the wish still stands, in whatever words: its exact values, or where it has none most of its words."""
    wanted = exact_values(wish)
    if wanted:
        return wanted <= values
    needed = content_words(wish)
    return 2 * len(needed & words) >= len(needed)


def _wishes(messages: list[Message]) -> Iterator[Fact]:
    for fact in merged(FactLedger(), extract_facts(messages)).facts:
        if fact.kind in _WISHES and fact.role == "user":
            yield fact


def _system_texts(messages: Iterable[Message]) -> Iterator[str]:
    for message in messages:
        if not quoted(message) and message.role in ("system", "developer"):
            yield message.text


def _list(values: Iterable[str]) -> str:
    ordered = sorted(values)
    more = f" and {len(ordered) - _NAMED} more" if len(ordered) > _NAMED else ""
    return ", ".join(ordered[:_NAMED]) + more


def _flat(text: str) -> str:
    return " ".join(text.split())
