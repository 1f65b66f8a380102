"""Answers that are cut, and what comes of them: by a stream, and at once."""

import asyncio
from typing import Any

from contextport.contracts import (
    Message,
    TextDelta,
)
from contextport.contracts.profile import ProviderProfile
from contextport.strategies.recovery import (
    ContinuedOutput,
    Discarded,
    complete_output,
    continue_output,
)
from tests.recovery.scripted_model import ScriptedModel, call

ASKED = (Message.system("Be brief."), Message.user("Go"))
TEXT = (
    "A first paragraph, written in plain words.\n\n"
    "Emoji 👩‍💻 and flags 🇩🇪🇫🇷, e\u0301 and 한국어 text; 上下文窗口的管理。\n\n"
    "```python\ndef add(one, two):\n    return one + two\n\n\nprint(add(1, 2))\n```\n\n"
    "| name | size |\n| --- | --- |\n| ape | 12 |\n| bee | 1 |\n\n"
    "And a last line that ends here.  \n"
)
PREFILL = ProviderProfile(name="old", api="anthropic.messages", provider="anthropic", prefill="last_assistant")
FLAG = ProviderProfile(name="flag", api="openai.chat", provider="deepseek", prefill="flag")
PROFILES = [None, PREFILL, FLAG]
WAYS = [(None, 0), (None, 40), (None, 1_000), (PREFILL, 0), (FLAG, 0)]  # only after a user turn does a model repeat itself
CUT_CALL = call('{"path":"a.txt","text":"one two thr')


def collect(model: ScriptedModel, **more: Any) -> tuple[str, ContinuedOutput]:
    """The text that a consumer of the stream ends up with, and the result."""

    async def run() -> tuple[str, ContinuedOutput]:
        text = ""
        async for piece in continue_output(model, ASKED, **more):
            if isinstance(piece, TextDelta):
                assert piece.text
                text += piece.text
            elif isinstance(piece, Discarded):
                assert 0 < piece.chars <= len(text)
                text = text[: len(text) - piece.chars]
            else:
                return text, piece
        raise AssertionError("there is no result")

    return asyncio.run(run())


def whole(model: ScriptedModel, **more: Any) -> ContinuedOutput:
    return asyncio.run(complete_output(model, ASKED, **more))


def text_of(output: ContinuedOutput) -> str:
    return "" if output.message is None else output.message.text
