"""Sessions of the real manager, and models with a real limit, for tests of recovery."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from contextport.adapters.errors.rule_classifier import RuleErrorClassifier
from contextport.adapters.events.collecting_sink import CollectingEventSink
from contextport.adapters.managers.context_engine import ContextEngine
from contextport.adapters.stores.memory_store import MemoryContextStore
from contextport.contracts import Budget, ChatModel, Completion, Limits, Message, ModelCallFailed, TextDelta, TokenCounter
from contextport.contracts.counting import total_tokens
from contextport.strategies.recovery import Answer, Discarded, Responder
from tests.cases.words_counter import WordsCounter
from tests.recovery.scripted_model import ScriptedModel, failed, overflow, said

SESSION = "s"


def engine(budget: int | Budget = 1_000, *, counter: TokenCounter | None = None, **more: Any) -> ContextEngine:
    chosen = Budget.of(budget) if isinstance(budget, int) else budget
    return ContextEngine(store=MemoryContextStore(), counter=counter or WordsCounter(), budget=chosen, **more)


def words(n: int, name: str = "w") -> str:
    return " ".join(f"{name}{k}" for k in range(n))


async def filled(manager: ContextEngine, turns: int = 10, size: int = 10, prompt: str = "") -> ContextEngine:
    """`turns` rounds of a question and an answer of `size` words each, and a question of two."""
    if prompt:
        await manager.set_system_prompt(SESSION, prompt)
    for n in range(turns):
        await manager.add_message(SESSION, Message.user(words(size, f"u{n}_"), id=f"u{n}"))
        await manager.add_message(SESSION, Message.assistant(words(size, f"a{n}_"), id=f"a{n}"))
    await manager.add_message(SESSION, Message.user("Go on", id="question"))
    return manager


class LimitedModel(ScriptedModel):
    """Refuses requests of more than `limit` of its own tokens, which are `ratio` for each word; `wording` gives the error."""

    def __init__(self, limit: int, wording: str = "none", ratio: float = 1.0, answer: Completion | None = None) -> None:
        super().__init__(self._step)
        self.limit = limit
        self.ratio = ratio
        self._wording = wording
        self._answer = answer or said("Done")

    def size(self, messages: Sequence[Message]) -> int:
        return int(total_tokens(messages, WordsCounter()) * self.ratio)

    def _step(self, messages: Sequence[Message], max_output: int | None) -> Completion | Exception:
        size = self.size(messages)
        shared = self._wording == "shared"
        if size + (max_output or 0) * shared <= self.limit:
            return self._answer
        return self._refusal(size, max_output or 0)

    def _refusal(self, size: int, output: int) -> ModelCallFailed:
        if self._wording == "numbers":
            return failed(f"prompt is too long: {size} tokens > {self.limit} maximum", kind="invalid_request_error")
        if self._wording == "limit":
            return overflow(f"This model's maximum context length is {self.limit} tokens.")
        if self._wording == "shared":
            return failed(
                f"input length and `max_tokens` exceed context limit: {size} + {output} > {self.limit}, "
                "decrease input length or `max_tokens` and try again",
                kind="invalid_request_error",
            )
        return overflow("Your input exceeds the context window of this model.")


def responder(manager: ContextEngine, model: ChatModel, *, counter: TokenCounter | None = None, **more: Any) -> Responder:
    limits = more.pop("limits", Limits())
    min_output = more.pop("min_output", 1)
    return Responder(
        manager=manager,
        model=model,
        classifier=RuleErrorClassifier(),
        counter=counter or WordsCounter(),
        limits=limits,
        min_output=min_output,
        **more,
    )


def kinds(sink: CollectingEventSink) -> list[str]:
    return [event.kind.value for event in sink.events]


def sizes(model: ScriptedModel) -> list[int]:
    return [sum(len(m.text.split()) for m in messages) for messages, _ in model.asked]


def answered(
    model: ScriptedModel, manager: ContextEngine | None = None, *, turns: int = 10, **more: Any
) -> tuple[Answer, list[str]]:
    """The answer to a filled session, and the texts stored in it in the end."""
    asks = {key: more.pop(key) for key in ("add", "extra", "resume", "message_id") if key in more}

    async def run() -> tuple[Answer, list[str]]:
        used = await filled(manager or engine(), turns)
        answer = await responder(used, model, **more).answer(SESSION, **asks)
        return answer, [message.text for message in (await used.get_context(SESSION)).messages]

    return asyncio.run(run())


def streamed(model: ScriptedModel, manager: ContextEngine | None = None, **more: Any) -> tuple[str, Answer]:
    """The text that a consumer ends up with, and the answer."""

    async def run() -> tuple[str, Answer]:
        used = responder(await filled(manager or engine()), model, **more)
        text = ""
        async for piece in used.stream(SESSION):
            if isinstance(piece, TextDelta):
                text += piece.text
            elif isinstance(piece, Discarded):
                text = text[: len(text) - piece.chars]
            else:
                return text, piece
        raise AssertionError("there is no answer")

    return asyncio.run(run())
