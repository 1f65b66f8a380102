"""Operations that call a model: with recovery from an overflow, and with continuation of a cut answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

from contextport.adapters.errors.rule_classifier import RuleErrorClassifier
from contextport.adapters.stores.memory_store import MemoryContextStore
from contextport.contracts import ContextOverflow, Limits, Message, ModelCallFailed
from contextport.contracts.profile import ProviderProfile
from contextport.strategies.recovery import (
    Answer,
    ContinuationPolicy,
    ContinuedOutput,
    Responder,
    complete_output,
    continue_output,
)

from .case import Case
from .case_input import case_messages
from .case_models import CaseModel, refuses_prefill
from .evidence import Evidence, Moment
from .manager_session import SESSION, Driven, engine, log_text, stored_rows
from .strategies_of_cases import Chosen, strategies, words_counter
from .words_counter import WordsCounter

PREFILL = ProviderProfile(name="prefill", api="anthropic.messages", provider="anthropic", prefill="last_assistant")

Asks = Callable[[Driven, CaseModel, WordsCounter], Awaitable[ContinuedOutput]]


async def call_with_retry(case: Case, folder: Path) -> list[Evidence]:
    """`Responder.answer` and `Responder.stream`; the host calls again after an error that passes."""
    counter = words_counter(case)
    return [
        await _run(case, counter, f"{name}, {way}", chosen, _answering(case, streaming=way == "streamed"))
        for way in ("whole", "streamed")
        for name, chosen in strategies(case, counter).items()
    ]


def _limits(case: Case) -> Limits:
    known = {name: case.given[name] for name in ("window", "max_output", "max_input") if name in case.given}
    return Limits(**known, source="case")


def _answering(case: Case, *, streaming: bool) -> Asks:
    async def ask(driven: Driven, model: CaseModel, counter: WordsCounter) -> ContinuedOutput:
        responder = Responder(
            manager=driven.manager,
            model=model,
            classifier=RuleErrorClassifier(),
            counter=counter,
            tools=tuple(case.given.get("tools", ())),
            limits=_limits(case),
            min_output=int(case.given.get("min_output", 1)),
        )
        while True:
            try:
                async for piece in responder.stream(SESSION, streaming=streaming):
                    if isinstance(piece, Answer):
                        return piece.output
            except (ModelCallFailed, ContextOverflow):
                if not model.steps_left or case.asks_for("raises"):
                    raise

    return ask


async def continue_output_(case: Case, folder: Path) -> list[Evidence]:
    """`continue_output` and `complete_output`, by a user turn and by prefill. What comes out is added to the session."""
    counter = words_counter(case)
    return [
        await _run(case, counter, f"{name}, {way}", None, _continuing(case, profile, streaming=way == "streamed"))
        for name, profile in (("user turn", None), ("prefill", PREFILL))
        if profile is None or not refuses_prefill(case.given["fake_model"])
        for way in ("whole", "streamed")
    ]


def _continuing(case: Case, profile: ProviderProfile | None, *, streaming: bool) -> Asks:
    async def ask(driven: Driven, model: CaseModel, counter: WordsCounter) -> ContinuedOutput:
        messages = (await driven.manager.get_context(SESSION)).messages
        policy = ContinuationPolicy(
            mode=case.given.get("policy", "continue"), max_continuations=int(case.given.get("max_continuations", 3))
        )
        limit = case.given.get("max_output")
        output = await _output(model, messages, profile, policy, limit, streaming=streaming)
        if output.message is not None:
            await driven.manager.add_message(SESSION, output.message)
        return output

    return ask


async def _output(
    model: CaseModel,
    messages: tuple[Message, ...],
    profile: ProviderProfile | None,
    policy: ContinuationPolicy,
    limit: int | None,
    *,
    streaming: bool,
) -> ContinuedOutput:
    if not streaming:
        return await complete_output(model, messages, profile=profile, policy=policy, max_output=limit)
    async for piece in continue_output(model, messages, profile=profile, policy=policy, max_output=limit):
        if isinstance(piece, ContinuedOutput):
            return piece
    raise AssertionError("an answer ends with its result")


async def _run(case: Case, counter: WordsCounter, variant: str, chosen: Chosen | None, ask: Asks) -> Evidence:
    evidence = Evidence(variant=variant, given=case.given, counter=counter, budget=case.given.get("budget"))
    store, model = MemoryContextStore(), CaseModel(case.given["fake_model"], counter)
    driven = Driven(case=case, manager=engine(case, store, counter, chosen), store=store)
    if chosen is not None and chosen.fake is not None:
        chosen.fake.release()
    failed: Exception | None = None
    try:
        for wire in case_messages(case.given):
            await driven.add(wire)
        evidence.log_before = await log_text(store)
        evidence.facts["result"] = output = await ask(driven, model, counter)
        evidence.facts["tool_requests"] = [] if output.message is None else list(output.message.tool_calls)
    except Exception as error:  # judged by the checks
        failed = error
    evidence.log_after = await log_text(store)
    evidence.facts["summariser_requests"] = [] if chosen is None else chosen.requests
    evidence.facts["model_requests"] = model.requests
    evidence.facts["sent_max_tokens"] = model.limits
    evidence.stored = await stored_rows(store)
    await driven.get("end")
    evidence.moments = driven.moments
    if failed is not None:
        evidence.moments = [Moment(label="end", given=tuple(driven.given), rows=driven.moments[-1].rows, error=failed)]
    return evidence


OPERATIONS = {"call_with_retry": call_with_retry, "continue_output": continue_output_}
