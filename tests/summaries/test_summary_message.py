from __future__ import annotations

import pytest

from contextport.contracts import Kind, Message, StoreCorrupt, Summary
from contextport.strategies.summaries import summary_in, summary_message


def test_a_summary_message_carries_its_summary() -> None:
    summary = Summary(text="They met.", decisions=("Use React",), open=("Write tests",), origin="extractive")
    message = summary_message(summary, id="s1", metadata={"covers": ["u1", "a1"]})
    assert (message.role, message.kind, message.id) == ("user", Kind.SUMMARY, "s1")
    assert message.text == "[Conversation summary]\n[decided] Use React\n[open] Write tests\nThey met."
    assert message.metadata == {"summary": summary.as_json(), "covers": ["u1", "a1"]}
    assert summary_in(message) == summary


def test_a_summary_of_another_library_is_prose() -> None:
    message = Message.system("[Conversation summary]\nThey met in Rome.", kind=Kind.SUMMARY)
    assert summary_in(message) == Summary(text="They met in Rome.")


def test_other_messages_carry_none() -> None:
    assert summary_in(Message.user("[Conversation summary]\nI typed this.")) is None


def test_a_broken_record_is_told() -> None:
    message = Message.user("x", kind=Kind.SUMMARY, metadata={"summary": {"open": 5}})
    with pytest.raises(StoreCorrupt, match="this is not a summary"):
        summary_in(message)
