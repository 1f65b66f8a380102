"""An answer that was cut outlives its process."""

import asyncio
import json
from typing import Any

import pytest

from contextport.contracts import Message, Opaque, Refusal, StoreCorrupt, Text, Thinking, Usage
from contextport.strategies.provider_rules import profile_for
from contextport.strategies.recovery import ContinuationPolicy, Need, Unfinished, dump_unfinished, load_unfinished
from tests.recovery.scripted_model import ScriptedModel, Writer, call
from tests.recovery.sessions import SESSION, engine, filled, responder

CITED = Text("I save it.", citations=({"url": "https://a.example"},))
SEARCHED = (Thinking(text="hm", signature="c2ln"), Opaque(api="x", type="t", raw={"a": 1}))
ANSWERS = [
    Unfinished(),
    Unfinished(need=Need.REST, parts=(Text("Half, 漢字 👩‍💻 \ud83d and\n"),), max_output=70, usage=Usage(input_tokens=3)),
    Unfinished(need=Need.CALL, parts=(CITED, call()), cut_calls=("save", "f")),
    Unfinished(
        need=Need.TURN,
        carried=(
            Message(role="assistant", parts=(Thinking(text="hm", signature="c2ln"), Opaque(api="x", type="t", raw={"a": 1}))),
        ),
        thinks=True,
    ),
    Unfinished(need=Need.ROOM, parts=(Refusal("no"),), usage=Usage(output_tokens=5, cache_read_tokens=2, reasoning_tokens=1)),
]


@pytest.mark.parametrize("answer", ANSWERS)
def test_what_is_loaded_is_what_was_dumped(answer: Unfinished) -> None:
    text = dump_unfinished(answer)
    text.encode()
    assert load_unfinished(text) == answer
    assert dump_unfinished(load_unfinished(text)) == text


def changed(**more: Any) -> str:
    return json.dumps({**json.loads(dump_unfinished(ANSWERS[1])), **more})


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "[]",
        "null",
        "[" * 100_000,
        changed(v=2),
        changed(form="other"),
        changed(need="sleep"),
        changed(said="{}"),
        changed(said=None),
        changed(carried=5),
        changed(max_output=0),
        changed(max_output="70"),
        changed(usage={"tokens": 5}),
    ],
)
def test_what_is_no_answer_is_told(text: str) -> None:
    with pytest.raises(StoreCorrupt):
        load_unfinished(text)


@pytest.mark.parametrize("name", ["gpt-4.1", "claude-opus-4-1", "deepseek-chat"])
def test_an_answer_goes_on_where_it_was_cut(name: str) -> None:
    whole = " ".join(f"word{n}" for n in range(80))
    writer = Writer(whole, [150, 170, 9_999])
    once = ContinuationPolicy(max_continuations=0)

    async def run() -> tuple[str, int]:
        manager = await filled(engine())
        resume: str | None = None
        for calls in range(9):
            model, profile = ScriptedModel(writer), profile_for(name)  # each time the parts of a new process
            asks = responder(manager, model, profile=profile, continuation=once)
            answer = await asks.answer(SESSION, resume=None if resume is None else load_unfinished(resume))
            if answer.stored is not None:
                return answer.stored.text, calls
            assert answer.output.unfinished is not None
            resume = dump_unfinished(answer.output.unfinished)
        raise AssertionError("the answer does not end")

    assert asyncio.run(run()) == (whole, 2)
