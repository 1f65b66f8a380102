"""What later messages end of what is remembered: by the one way into a memory, flush by flush."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from contextport.adapters.memory.sqlite_memory import SqliteLongTermMemory
from contextport.contracts import Entry, Message
from contextport.contracts.memory import LongTermMemory, MemoryKind, MemoryNote, MemoryScope, MemoryStatus
from contextport.strategies.memory_flush import flush_entries
from contextport.strategies.memory_notes import notes_for

from .notes import texts

ANN = MemoryScope(subject="ann")
USER, ANSWER = Message.user, Message.assistant


def entries(messages: Sequence[Message], first: int = 1) -> list[Entry]:
    return [
        Entry(seq=n, epoch=1, turn=1, at=1_000.0 + n, tokens=5, counter="words", message=message)
        for n, message in enumerate(messages, first)
    ]


def flushed(path: Path, *batches: Sequence[Message], sessions: Sequence[str] = ()) -> SqliteLongTermMemory:
    """A memory that got the batches one after the other, each of the session at its place."""

    async def scenario() -> None:
        for n, batch in enumerate(batches):
            session = sessions[n] if sessions else "s"
            await flush_entries(memory, ANN, entries(batch, 1 + 100 * n), session_id=session)

    memory = SqliteLongTermMemory(path / "memory.db")
    asyncio.run(scenario())
    return memory


def recalled(memory: LongTermMemory, kind: MemoryKind, status: MemoryStatus = MemoryStatus.ACTIVE) -> list[str]:
    return sorted(texts(asyncio.run(memory.recall(ANN, kinds=(kind,), statuses=(status,)))))


def test_a_task_that_is_finished_in_a_later_flush_is_no_longer_open(tmp_path: Path) -> None:
    asked = [USER("Please cancel the order W1234567."), USER("Remind me to call the bank.")]
    memory = flushed(tmp_path, asked, [ANSWER("I have cancelled the order W1234567.")], sessions=("one", "two"))
    assert recalled(memory, MemoryKind.TASK) == ["Remind me to call the bank."]
    assert recalled(memory, MemoryKind.TASK, MemoryStatus.DONE) == ["Please cancel the order W1234567."]


def test_a_task_that_is_finished_in_chinese(tmp_path: Path) -> None:
    memory = flushed(tmp_path, [USER("请帮我预订里昂的酒店。")], [ANSWER("里昂的酒店已经预订好了。")])
    assert recalled(memory, MemoryKind.TASK) == []


def test_a_task_that_is_asked_again_is_open_again(tmp_path: Path) -> None:
    asked, done = USER("Remind me to book the hotel."), ANSWER("I have booked the hotel.")
    memory = flushed(tmp_path, [asked], [done], [USER("Remind me to book the hotel!")])
    assert recalled(memory, MemoryKind.TASK) == ["Remind me to book the hotel!"]
    assert recalled(memory, MemoryKind.TASK, MemoryStatus.DONE) == ["Remind me to book the hotel."]


def test_a_rule_that_is_changed_in_a_later_flush_is_superseded(tmp_path: Path) -> None:
    memory = flushed(tmp_path, [USER("We decided to use npm.")], [USER("Actually let's use pnpm instead of npm.")])
    assert recalled(memory, MemoryKind.FACT) == ["Actually let's use pnpm instead of npm."]
    assert recalled(memory, MemoryKind.FACT, MemoryStatus.SUPERSEDED) == ["We decided to use npm."]


def test_a_profile_and_preferences_have_one_answer_at_a_time(tmp_path: Path) -> None:
    memory = flushed(
        tmp_path,
        [USER("I live in Lyon."), USER("Please always answer in German."), USER("I prefer tea.")],
        [USER("I live in Oslo."), USER("请用英文回答。"), USER("I prefer tea!")],
        sessions=("one", "two"),
    )
    assert recalled(memory, MemoryKind.PROFILE) == ["I live in Oslo."]
    assert recalled(memory, MemoryKind.PREFERENCE) == ["I prefer tea!", "请用英文回答。"]
    assert recalled(memory, MemoryKind.PROFILE, MemoryStatus.SUPERSEDED) == ["I live in Lyon."]


def test_a_value_of_the_same_name_takes_the_place_of_the_older(tmp_path: Path) -> None:
    memory = flushed(
        tmp_path,
        [USER("The trip budget is 5000 EUR at most."), USER("The laptop budget is 900 EUR at most.")],
        [USER("The trip budget is 6000 EUR at most.")],
    )
    held = recalled(memory, MemoryKind.FACT)
    assert "The trip budget is 6000 EUR at most." in held
    assert "The laptop budget is 900 EUR at most." in held
    assert "The trip budget is 5000 EUR at most." not in held


def test_what_was_forgotten_is_not_learnt_again_from_another_session(tmp_path: Path) -> None:
    memory = flushed(tmp_path, [USER("I live in Lyon.", id="home"), USER("I prefer tea.")])
    assert asyncio.run(memory.forget(ANN, message_id="home")) >= 1
    asyncio.run(flush_entries(memory, ANN, entries([USER("i live in lyon")], 500), session_id="later"))
    assert recalled(memory, MemoryKind.PROFILE) == []
    assert recalled(memory, MemoryKind.PREFERENCE) == ["I prefer tea."]


@pytest.mark.parametrize(
    ("answer", "status"),
    [
        ("Done! Your room is reserved, and the receipt was sent to you.", MemoryStatus.DONE),
        ("The hotel Bellecour has rooms at 90 EUR a night, breakfast and parking are free.", MemoryStatus.DONE),
        ("Which dates do you need?", MemoryStatus.ACTIVE),
        ("Sure.", MemoryStatus.ACTIVE),
        ("I will book it as soon as the dates are known.", MemoryStatus.ACTIVE),
        ("I have cancelled the order W1234567.", MemoryStatus.ACTIVE),
    ],
)
def test_a_request_is_open_until_its_turn_answers_it(answer: str, status: MemoryStatus) -> None:
    [asked, _] = notes_for(entries([USER("Please book the hotel in Lyon."), ANSWER(answer)]), session_id="s")
    assert [one.status for one in asked.facts if one.kind is MemoryKind.TASK] == [status]


def test_a_request_that_is_asked_back_about_is_fulfilled_by_a_later_turn() -> None:
    booked = [USER("3 to 5 May."), ANSWER("Your room is booked, and the receipt was sent.")]
    told = [USER("Please book the hotel in Lyon."), ANSWER("Which dates?"), *booked]
    for messages, status in ((told, MemoryStatus.DONE), (told[:3], MemoryStatus.ACTIVE)):
        first = notes_for(entries(messages), session_id="s")[0]
        assert [one.status for one in first.facts if one.kind is MemoryKind.TASK] == [status]


def test_a_request_that_says_nothing_by_itself_is_not_kept() -> None:
    [note] = notes_for(entries([USER("Can you help me with that?")]), session_id="s")
    assert note.facts == ()


def test_a_request_for_later_stays_open_though_it_was_answered() -> None:
    told = [USER("Remind me to call Bob tomorrow."), ANSWER("I have saved it, and you get a note on your phone at nine.")]
    [asked, _] = notes_for(entries(told), session_id="s")
    assert [one.status for one in asked.facts if one.kind is MemoryKind.TASK] == [MemoryStatus.ACTIVE]


def test_a_request_about_how_to_be_spoken_to_is_not_done_by_an_answer() -> None:
    told = [
        USER("Please answer in English."),
        ANSWER("Of course, from here on all of it comes in plain short English sentences."),
    ]
    [asked, _] = notes_for(entries(told), session_id="s")
    kept = [one for one in asked.facts if one.kind is MemoryKind.PREFERENCE]
    assert [(one.text, one.status) for one in kept] == [("Please answer in English.", MemoryStatus.ACTIVE)]


def test_notes_name_what_they_end_and_are_the_same_each_time(tmp_path: Path) -> None:
    memory = flushed(tmp_path, [USER("Please cancel the order W1234567.")])
    standing: tuple[MemoryNote, ...] = asyncio.run(memory.recall(ANN))
    later = entries([USER("How is it going?"), ANSWER("The order W1234567 is cancelled.", id="done")], 7)
    first, second = (notes_for(later, session_id="s", standing=standing) for _ in range(2))
    assert first == second
    [task] = [note.facts[0].id for note in standing if note.facts[0].kind is MemoryKind.TASK]
    assert [(note.message_id, note.done) for note in first if note.done] == [("done", (task,))]
    assert not any(note.replaced for note in first)
