"""The fake summarisers of cases do what the cases say of them."""

import asyncio
from typing import Any

import pytest

from contextport.contracts import Completion, Message, ModelCallFailed, ProviderFailure, TextDelta, from_chat
from tests.cases.case_summarisers import CaseSummariser
from tests.cases.words_counter import WordsCounter

TALK = "The bench in row four is broken"
ASKED = Message.user(f"Summarise this.\n<transcript>\n[user] {TALK}, see FACT-1 and FACT-2 and FACT-1\n</transcript>")
EARLIER = Message.user("Summarise this.\n<summary_so_far>\nRow one was mended\n</summary_so_far>")
EMPTY = Message.user("Summarise this.")


def fake(**kind: Any) -> CaseSummariser:
    return CaseSummariser({"fake_summariser": kind, "messages": [{"role": "user", "content": TALK}]}, WordsCounter())


def said(summariser: CaseSummariser, *messages: Message) -> str:
    return asyncio.run(summariser.complete(messages)).message.text


def failure(summariser: CaseSummariser, *messages: Message) -> ProviderFailure:
    with pytest.raises(ModelCallFailed) as raised:
        said(summariser, *messages)
    found = raised.value.details["failure"]
    assert isinstance(found, ProviderFailure)
    return found


def test_texts_words_and_facts() -> None:
    assert said(fake(kind="fixed", text="recap"), ASKED) == "recap"
    assert len(said(fake(kind="fixed_words", n=80), ASKED).split()) == 80
    assert said(fake(kind="echo_facts", pattern=r"FACT-\d+"), ASKED) == "FACT-1 FACT-2"
    assert len(said(fake(kind="longer_than_input", factor=3), ASKED).split()) == 3 * len(ASKED.text.split())


def test_one_appends_to_the_summary_so_far() -> None:
    summariser = fake(kind="append_to_previous", adds=4)
    assert len(said(summariser, ASKED).split()) == 4
    assert said(summariser, EARLIER).startswith("Row one was mended ")
    assert len(said(summariser, EARLIER).split()) == 8
    live = Message.user("[Conversation summary]\nRow two too")
    assert said(summariser, live, ASKED).startswith("Row two too ")


def test_failures_are_those_of_a_provider() -> None:
    assert failure(fake(kind="raises", message="boom"), ASKED).message == "boom"
    assert failure(fake(kind="raises", message="slow down", status=429), ASKED).status == 429
    overflow = failure(fake(kind="fixed", text="recap", window=5), ASKED)
    assert (overflow.status, overflow.code) == (400, "context_length_exceeded")


def test_windows_may_be_declared_wrongly() -> None:
    assert fake(kind="fixed", text="x").declared_window is None
    assert fake(kind="fixed", text="x", window=80).declared_window == 80
    wrong = fake(kind="fixed", text="x", window=100, declared_window=700)
    assert (wrong.window, wrong.declared_window) == (100, 700)
    assert fake(kind="fixed", text="x", declared_window=9).window is None
    assert said(fake(kind="fixed", text="x", declared_window=9), ASKED) == "x"


def test_a_sequence_goes_from_kind_to_kind() -> None:
    summariser = fake(
        kind="sequence", steps=[{"kind": "raises"}, {"kind": "fixed", "text": "second"}, {"kind": "fixed_words", "n": 3}]
    )
    assert failure(summariser, ASKED).status == 500
    assert said(summariser, ASKED) == "second"
    assert [len(said(summariser, ASKED).split()) for _ in range(2)] == [3, 3]
    assert len(summariser.requests) == 4


def test_one_breaks_off_in_the_middle() -> None:
    summariser = fake(kind="stream_then_raise", text="half of the summary")
    pieces: list[str] = []

    async def listen() -> None:
        async for piece in summariser.stream([ASKED]):
            assert isinstance(piece, TextDelta)
            pieces.append(piece.text)

    with pytest.raises(ModelCallFailed):
        asyncio.run(listen())
    assert "".join(pieces) == "half of the summary"
    assert failure(summariser, ASKED).status == 500


def test_a_stream_ends_with_its_completion() -> None:
    async def listen() -> list[TextDelta | Completion]:
        return [piece async for piece in fake(kind="fixed", text="all of the summary").stream([ASKED])]

    *pieces, last = asyncio.run(listen())
    assert isinstance(last, Completion)
    assert "".join(piece.text for piece in pieces if isinstance(piece, TextDelta)) == last.message.text == "all of the summary"


def test_one_replies_to_an_empty_request_as_if_spoken_to() -> None:
    summariser = fake(kind="reply_to_empty", text="What shall I summarise?")
    assert said(summariser, EMPTY) == "What shall I summarise?"
    assert said(summariser, ASKED) == said(summariser, EARLIER) != "What shall I summarise?"


def test_some_refuse_roles_or_parts() -> None:
    strict = fake(kind="strict_roles", needs="user", text="recap")
    assert said(strict, ASKED) == "recap"
    assert failure(strict, Message.system(ASKED.text)).status == 400
    image = {"type": "image_url", "image_url": {"url": "x"}}
    picky = fake(kind="rejects_part_types", types=["image_url"], text="recap")
    assert said(picky, ASKED) == "recap"
    assert "image_url" in failure(picky, from_chat({"role": "user", "content": [image]})).message


def test_one_waits_to_be_released() -> None:
    async def check() -> str:
        summariser = fake(kind="blocks_until_released", text="recap")
        asked = asyncio.create_task(summariser.complete([ASKED]))
        await summariser.blocked.wait()
        assert not asked.done()
        summariser.release()
        first = (await asked).message.text
        assert (await summariser.complete([ASKED])).message.text == "recap"
        return first

    assert asyncio.run(check()) == "recap"


@pytest.mark.parametrize("kind", ["poet", None, "sequence"])
def test_an_unknown_kind_is_no_case(kind: Any) -> None:
    with pytest.raises(ValueError, match="is not known"):
        fake(kind=kind, steps=[{"kind": "fixed", "text": "x"}, {"kind": "poet"}])


def test_requests_are_kept_as_they_were_sent() -> None:
    summariser = fake(kind="fixed", text="recap")
    said(summariser, Message.system("Be brief"), ASKED)
    assert [wire["role"] for wire in summariser.requests[0]] == ["system", "user"]
