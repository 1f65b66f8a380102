"""What FoldOldest keeps and what it covers, checked by hand in words: a message of n words takes n tokens."""

import asyncio
from collections.abc import Sequence

import attrs
import pytest
from attrs import define, field

from contextport.conformance_tests import WordsCounter
from contextport.contracts import (
    Compression,
    Fold,
    InvalidArgument,
    IsGrounded,
    Kind,
    Message,
    Outcome,
    PortMismatch,
    Summarizer,
    Summary,
    SummaryRequest,
    Text,
    ToolCall,
    implements,
    ledger_of,
)
from contextport.strategies import arrange
from contextport.strategies.folding import FoldOldest, FoldPolicy
from contextport.strategies.summaries import CheckedSummarizer
from contextport.strategies.tool_results import ShrinkToolResults

COUNTER = WordsCounter()
LATEST_FOUR = FoldPolicy(keep_latest=4, facts_share=0.1)


def words(name: str, count: int) -> str:
    return " ".join(f"{name}{n}" for n in range(count))


def turns(count: int, size: int = 10) -> list[Message]:
    """Questions q0, q1 ... and answers a0, a1 ..., each of `size` words."""
    return [
        Message(role=role, parts=(Text(words(f"{role[0]}{n}x", size)),), id=f"{'q' if role == 'user' else 'a'}{n}")
        for n in range(count)
        for role in ("user", "assistant")
    ]


def call(n: int, size: int = 12) -> list[Message]:
    """A call and its result."""
    asked = Message.assistant("", ToolCall(call_id=f"c{n}", name="find", arguments="{}"), id=f"call{n}")
    return [asked, Message.tool(f"c{n}", words(f"r{n}x", size), id=f"result{n}")]


def compress(messages: Sequence[Message], max_tokens: int, policy: FoldPolicy = LATEST_FOUR) -> Compression:
    return asyncio.run(FoldOldest(COUNTER, policy=policy).compress(messages, max_tokens))


def fold_of(result: Compression) -> Fold:
    assert result.fold is not None, result.reason
    return result.fold


def kept(result: Compression) -> list[str]:
    """The ids of what was said and stays."""
    return [message.id for message in result.messages if message.in_conversation]


def test_what_fits_is_not_folded() -> None:
    given = turns(5)
    result = compress(given, 100)
    assert (result.outcome, result.fold, list(result.messages)) == (Outcome.UNCHANGED, None, given)


def test_oldest_turns_give_way_to_a_summary_and_facts() -> None:
    result = compress(turns(10), 150)
    fold = fold_of(result)
    assert [message.kind for message in result.messages[:2]] == [Kind.SUMMARY, Kind.FACTS]
    assert list(result.messages[:2]) == [fold.summary, fold.facts]
    assert list(fold.covers) + kept(result) == [message.id for message in turns(10)]
    assert result.outcome is Outcome.SMALLER
    assert result.tokens <= 150


def test_latest_messages_stay_rounded_to_whole_turns() -> None:
    assert kept(compress(turns(10), 190)) == ["q8", "a8", "q9", "a9"]
    three = compress(turns(10), 190, attrs.evolve(LATEST_FOUR, keep_latest=3))
    assert kept(three) == ["q8", "a8", "q9", "a9"], "the third newest message is an answer: its question stays with it"


def test_latest_messages_give_way_where_they_leave_no_room() -> None:
    assert kept(compress(turns(10), 90)) == ["q9", "a9"]


@implements(Summarizer, IsGrounded)
@define
class Claims:
    """Claims that what it writes can be believed, and notes what it is asked."""

    text: str
    requests: list[SummaryRequest] = field(factory=list[SummaryRequest])
    max_input: int | None = None
    grounding: str = "its word"

    async def summarize(self, request: SummaryRequest) -> Summary:
        self.requests.append(request)
        return Summary(text=self.text, origin="claims")


def folded_by(writer: Claims, given: Sequence[Message]) -> Compression:
    return asyncio.run(FoldOldest(COUNTER, summarizer=writer, policy=LATEST_FOUR).compress(given, 150))


def test_a_summarizer_that_claims_to_be_grounded_is_checked_like_any_other() -> None:
    writer = Claims("the order is AB-2024-999")
    fold = fold_of(folded_by(writer, turns(10)))
    assert fold.origin == "extractive"
    assert any(fault.startswith("not_in_source") for fault in fold.faults)
    assert writer.requests[1].faults == fold.faults[:1]


def test_only_the_first_fold_asks_for_a_handoff_and_only_what_was_sent_is_live() -> None:
    writer = Claims("a short recap")
    first = folded_by(writer, turns(10))
    assert (writer.requests[-1].handoff, writer.requests[-1].live) == (True, tuple(turns(10)))
    later = [*first.messages, *turns(20)[20:]]
    folded_by(writer, later)
    assert (writer.requests[-1].handoff, writer.requests[-1].live) == (False, tuple(later))
    facts = Message(role="user", id="facts", kind=Kind.FACTS, parts=(), metadata={"ledger": []})
    folded_by(writer, [facts, *turns(20)])  # raw history again, beside what is known of it
    assert (writer.requests[-1].handoff, writer.requests[-1].live) == (False, ())


def test_no_summary_says_why() -> None:
    writer = CheckedSummarizer(Claims(""), COUNTER, fallback=Claims("the order is AB-2024-999"))
    result = asyncio.run(FoldOldest(COUNTER, summarizer=writer, policy=LATEST_FOUR).compress(turns(10), 150))
    assert (result.fold, result.reason) == (None, "no summary could be kept: empty, not_in_source")


def test_summary_says_what_was_covered_in_the_conversations_words() -> None:
    fold = fold_of(compress(turns(10), 150))
    assert fold.summary is not None
    assert fold.summary.text.startswith("[Conversation summary]\n")
    said = {word for message in turns(10) if message.id in fold.covers for word in message.text.split()}
    assert set(fold.summary.text.split()) - {"[Conversation", "summary]"} <= said
    assert fold.origin == "extractive"


def test_pinned_messages_stay_with_their_question() -> None:
    given = turns(10)
    given[5] = attrs.evolve(given[5], pinned=True)
    result = compress(given, 150)
    assert kept(result)[:2] == ["q2", "a2"]
    assert not {"q2", "a2"} & set(fold_of(result).covers)
    assert {"q1", "a1", "q3", "a3"} <= set(fold_of(result).covers)


def test_call_without_its_result_stays() -> None:
    given = [*turns(2), Message.user("look", id="look"), call(1)[0], *turns(12)[4:]]
    result = compress(arrange(given), 150)
    fold = fold_of(result)
    assert "call1" not in fold.covers
    assert {"q0", "a0", "q1", "a1"} <= set(fold.covers)


def test_results_go_with_their_calls() -> None:
    given = [*turns(1), Message.user("look it up", id="look"), *call(1), *call(2), *turns(10)[2:]]
    covers = set(fold_of(compress(given, 150)).covers)
    assert {"call1", "result1", "call2", "result2"} <= covers


def test_long_turn_is_folded_within_and_keeps_its_question() -> None:
    given = [Message.user("find the seven files", id="question"), *(m for n in range(20) for m in call(n))]
    result = compress(given, 140)
    covers = fold_of(result).covers
    assert kept(result)[0] == "question"
    assert covers[:2] == ("call0", "result0")
    assert kept(result)[-2:] == ["call19", "result19"]
    assert [*covers, *kept(result)[1:]] == [message.id for message in given[1:]]


def test_second_fold_has_one_summary_and_the_ledger_of_both() -> None:
    said = turns(16)
    said[0] = Message.user("The order is ZX-48213-K and the budget is 7400 EUR for it.", id="q0")
    first = compress(said[:20], 150)
    before = ledger_of(fold_of(first).facts)
    assert "ZX-48213-K" in " ".join(fact.text for fact in before.facts)
    second = compress([*first.messages, *said[20:]], 150)
    fold = fold_of(second)
    assert [message.kind for message in second.messages].count(Kind.SUMMARY) == 1
    assert [message.kind for message in second.messages].count(Kind.FACTS) == 1
    assert {fact.text for fact in before.facts} <= {fact.text for fact in fold.ledger.facts}
    assert fold.summary != fold_of(first).summary
    assert list(fold.covers) + kept(second) == [*kept(first), *(message.id for message in said[20:])]


def test_smaller_tool_results_are_enough() -> None:
    rows = "\n".join(f"row {n} of the table" for n in range(60))
    given = [Message.user("look", id="look"), call(0)[0], Message.tool("c0", rows, id="result0"), *turns(4)]
    strategy = FoldOldest(COUNTER, policy=LATEST_FOUR, layers=(ShrinkToolResults(COUNTER, result_tokens=20),))
    result = asyncio.run(strategy.compress(given, 300))
    fold = fold_of(result)
    assert (fold.covers, fold.summary, fold.origin) == ((), None, "layers")
    assert [message.id for message in fold.rewritten] == ["result0"]
    assert kept(result) == [message.id for message in given]
    assert fold.rewritten[0] in result.messages
    assert result.tokens < 300


def test_too_little_to_fold_is_left_alone() -> None:
    result = compress(turns(4), 70, attrs.evolve(LATEST_FOUR, min_gain=0.9))
    assert result.fold is None
    assert "too little to fold" in result.reason
    assert result.tokens <= 70


def test_no_room_for_a_summary_leaves_the_oldest_out() -> None:
    given = [*turns(4), Message.user(words("newest", 7), id="newest")]
    result = compress(given, 8)
    assert result.fold is None
    assert "no room for a summary" in result.reason
    assert [message.id for message in result.messages] == ["newest"]


def test_system_messages_come_before_the_summary() -> None:
    given = [Message.system("Be brief.", id="system"), *turns(10)]
    result = compress(given, 150)
    assert [result.messages[0].id, result.messages[1].kind] == ["system", Kind.SUMMARY]


def test_wrong_parts_and_numbers_are_refused() -> None:
    with pytest.raises(InvalidArgument):
        compress(turns(2), -1)
    with pytest.raises(InvalidArgument):
        FoldOldest(COUNTER, raw_reach=-5)
    with pytest.raises(PortMismatch):
        FoldOldest(COUNTER, layers=("shrink",))  # type: ignore[arg-type]
    with pytest.raises(PortMismatch):
        FoldOldest(COUNTER, summarizer=object())  # type: ignore[arg-type]
