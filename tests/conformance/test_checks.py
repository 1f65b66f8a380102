"""The suites without pytest: at start-up, in a notebook, and never quietly under `python -O`."""

import asyncio
import re
import subprocess
import sys
from collections.abc import Callable, Sequence

import pytest

from contextport.adapters.managers.context_engine import ContextEngine
from contextport.adapters.stores.memory_store import MemoryContextStore
from contextport.conformance_tests import (
    ChatModelConformance,
    CompressionStrategyConformance,
    ContextManagerConformance,
    RuleResult,
    Status,
    check_chat_model,
    check_compression_strategy,
    check_context_manager,
    check_context_store,
    check_embedder,
    check_error_classifier,
    check_event_sink,
    check_lexical_index,
    check_limits_source,
    check_long_term_memory,
    check_message_codec,
    check_mode_policy,
    check_mode_signal,
    check_retriever,
    check_token_counter,
    check_vector_index,
)
from contextport.conformance_tests.broken.strategy_abilities import KeepsTheFirstTurn
from contextport.conformance_tests.reference_classifier import ReferenceClassifier
from contextport.conformance_tests.reference_codec import REQUESTS, UNKNOWN_BLOCKS, ReferenceCodec
from contextport.conformance_tests.reference_compacting_manager import ReferenceCompactingManager
from contextport.conformance_tests.reference_counter import ReferenceCounter
from contextport.conformance_tests.reference_embedder import ReferenceEmbedder
from contextport.conformance_tests.reference_folding_strategy import ReferenceFoldingStrategy
from contextport.conformance_tests.reference_lexical_index import LexicalBackend, ReferenceLexicalIndex
from contextport.conformance_tests.reference_manager import ReferenceManager
from contextport.conformance_tests.reference_memory import Backend as MemoryBackend
from contextport.conformance_tests.reference_memory import ReferenceMemory
from contextport.conformance_tests.reference_mode_manager import ReferenceModeManager
from contextport.conformance_tests.reference_mode_policy import ReferenceModePolicy, ReferenceModeSignal
from contextport.conformance_tests.reference_model import WORDS, ReferenceModel, ReferenceProvider
from contextport.conformance_tests.reference_retriever import ReferenceRetriever
from contextport.conformance_tests.reference_shaping_manager import ReferenceShapingManager
from contextport.conformance_tests.reference_sink_and_limits import ReferenceLearningLimits, ReferenceSink
from contextport.conformance_tests.reference_store import ReferenceStore
from contextport.conformance_tests.reference_strategy import MARKER, ReferenceNewestStrategy, ReferenceStrategy, with_text
from contextport.conformance_tests.reference_vector_index import ReferenceVectorIndex
from contextport.conformance_tests.reference_vector_store import ReferenceVectorStore
from contextport.conformance_tests.rules import run_rule
from contextport.conformance_tests.scripted_answers import Scripted, SentRequest
from contextport.contracts import (
    Budget,
    ChatModel,
    Compression,
    CompressionStrategy,
    ContextManager,
    ControlsMode,
    EventSink,
    Kind,
    Message,
    ModeDecision,
    ModePolicy,
    ModeRules,
    ModeSituation,
    PortMismatch,
    TokenCounter,
    implements,
)
from contextport.contracts.memory import LongTermMemory

WITHOUT_PYTEST = """
import sys

class NoPytest:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("pytest", "_pytest"):
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, NoPytest())
from contextport.conformance_tests import *
from contextport.conformance_tests.reference_vector_store import ReferenceVectorStore
results = check_context_store(ReferenceVectorStore)
print(len(results), {str(result.status) for result in results} <= {"passed", "not run"})
"""


def python(code: str, *flags: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *flags, "-c", code], capture_output=True, text=True)


def test_every_port_has_a_check() -> None:
    def second(manager: object, counter: object, budget: object) -> ReferenceManager:
        assert isinstance(manager, ReferenceManager)
        return manager.second(counter, budget)  # type: ignore[arg-type]

    def behind(manager: object, session_id: str, summary: Message) -> Sequence[Message]:
        assert isinstance(manager, ReferenceCompactingManager)
        return manager.messages_behind(session_id, summary)

    def moded(counter: TokenCounter, budget: Budget, sink: EventSink) -> ReferenceModeManager:
        return ReferenceModeManager(counter, budget, sink=sink)

    def records(manager: object, session_id: str) -> Sequence[Message]:
        assert isinstance(manager, ReferenceModeManager)
        return manager.records_of(session_id)

    def model(script: Sequence[Scripted]) -> ReferenceModel:
        return ReferenceModel(ReferenceProvider(script, ChatModelConformance.secret))

    def sent(model: ChatModel) -> Sequence[SentRequest]:
        assert isinstance(model, ReferenceModel)
        return model.provider.sent

    def second_memory(memory: LongTermMemory) -> ReferenceMemory:
        assert isinstance(memory, ReferenceMemory)
        return memory.second()

    def broken_memory() -> ReferenceMemory:
        return ReferenceMemory(MemoryBackend(down=True))

    def broken_index() -> ReferenceLexicalIndex:
        return ReferenceLexicalIndex(LexicalBackend(down=True))

    def broken_retriever() -> ReferenceRetriever:
        return ReferenceRetriever(ReferenceStore(), down=True)

    checked = {
        "STORE VECTORS": check_context_store(ReferenceVectorStore),
        "COUNTER": check_token_counter(ReferenceCounter),
        "STRATEGY": check_compression_strategy(ReferenceFoldingStrategy, on=ReferenceFoldingStrategy),
        "MANAGER": [
            *check_context_manager(ReferenceShapingManager, second=second),
            *check_context_manager(ReferenceCompactingManager, second=second, behind=behind),
            *check_context_manager(ReferenceModeManager, second=second, behind=behind, moded=moded, records=records),
        ],
        "SINK": check_event_sink(lambda: ReferenceSink([])),
        "LIMITS": check_limits_source(ReferenceLearningLimits, known=[("small", "")]),
        "CODEC": check_message_codec(ReferenceCodec, requests=REQUESTS, unknown_blocks=UNKNOWN_BLOCKS),
        "MODEL": check_chat_model(model, words=WORDS, sent=sent),
        "CLASSIFIER": check_error_classifier(ReferenceClassifier),
        "MEMORY": check_long_term_memory(ReferenceMemory, reopen=second_memory, broken=broken_memory),
        "LEXICAL": check_lexical_index(ReferenceLexicalIndex, broken=broken_index),
        "EMBEDDER": check_embedder(
            ReferenceEmbedder,
            others=lambda: [ReferenceEmbedder(dimensions=128)],
            broken=lambda: ReferenceEmbedder(down=True),
        ),
        "MODE": check_mode_policy(ReferenceModePolicy),
        "SIGNAL": check_mode_signal(ReferenceModeSignal),
        "INDEX": check_vector_index(ReferenceVectorIndex, broken=lambda: ReferenceVectorIndex(down=True)),
        "RETRIEVER HISTORY": check_retriever(history=ReferenceRetriever, broken=broken_retriever),
    }
    for name, results in checked.items():
        assert {result.rule.partition("-")[0] for result in results} == set(name.split())
        assert [result for result in results if result.status is Status.FAILED] == []
    not_run = [
        (result.rule, result.detail) for results in checked.values() for result in results if result.status is not Status.PASSED
    ]
    assert not_run == [
        ("VECTORS-7", "write reopen_store, so that a second store can be opened on the same backend"),
        ("VECTORS-10", "write broken_store, so that a failing backend can be tried"),
        ("STORE-17", "write broken_store, so that a failing backend can be tried"),
        ("STORE-21", "write reopen_store, so that a second store can be opened on the same backend"),
        ("STORE-22", "write reopen_store, so that a second store can be opened on the same backend"),
        ("STRATEGY-28", "ReferenceFoldingStrategy does not provide NeedsOnlyNewest"),
        ("STRATEGY-30", "ReferenceFoldingStrategy does not provide OnlyShortens"),
        *((f"MANAGER-{n}", "ReferenceShapingManager does not provide Compacts") for n in (25, 26, 27)),
        *((f"MANAGER-{n}", "ReferenceShapingManager does not provide ControlsMode") for n in range(28, 33)),
        *((f"MANAGER-{n}", "ReferenceCompactingManager does not provide ShapesWindow") for n in (23, 24)),
        *((f"MANAGER-{n}", "ReferenceCompactingManager does not provide ControlsMode") for n in range(28, 33)),
        *((f"MANAGER-{n}", "ReferenceModeManager does not provide ShapesWindow") for n in (23, 24)),
    ]


def test_checks_need_no_pytest() -> None:
    done = python(WITHOUT_PYTEST)
    assert done.stdout.split() == ["32", "True"], done.stderr


def test_checks_run_inside_a_running_loop() -> None:
    async def notebook_cell() -> int:
        return len(check_token_counter(ReferenceCounter))

    assert asyncio.run(notebook_cell()) == 14


def test_optimised_python_is_refused() -> None:
    done = python(WITHOUT_PYTEST, "-O")
    assert "run the suite without -O" in done.stderr
    assert done.stdout == ""


def test_a_factory_may_be_a_coroutine() -> None:
    async def make() -> ReferenceCounter:
        return ReferenceCounter()

    assert {result.status for result in check_token_counter(make)} == {Status.PASSED}


def test_what_is_no_adapter_fails_every_rule() -> None:
    results = check_context_store(lambda: object())  # type: ignore[arg-type, return-value]
    assert {result.status for result in results} == {Status.FAILED}
    assert all(PortMismatch.__name__ in result.detail for result in results)
    assert not any("Likely cause" in result.detail for result in results)


def test_method_that_was_not_written_has_no_likely_cause() -> None:
    """Neither where it is raised in the factory, nor where a rule reports what the adapter raised."""

    class Unwritten(ReferenceStrategy):
        async def compress(self, messages: Sequence[Message], max_tokens: int) -> Compression:
            raise NotImplementedError("to be written")

    def make(counter: TokenCounter) -> ReferenceStrategy:
        raise NotImplementedError("to be written")

    for factory in (make, Unwritten):
        failed = [result for result in check_compression_strategy(factory) if result.status is Status.FAILED]
        assert len(failed) >= 20
        assert all("NotImplementedError: to be written" in result.detail for result in failed)
        assert not any("Likely cause" in result.detail for result in failed)


class ShortensWithoutAGap(ReferenceNewestStrategy):
    """Shortens questions, unless a gap message says that the conversation is longer than it was shown."""

    def finished(self, given: Sequence[Message], kept: Sequence[Message], max_tokens: int) -> Compression:
        if all(message.kind is not Kind.GAP for message in given):
            kept = [with_text(message, MARKER) if message.opens_turn else message for message in kept]
        return super().finished(given, kept, max_tokens)


def detail_of(rule: str, make: Callable[[TokenCounter], CompressionStrategy]) -> str:
    """The failure text of one rule of a strategy."""

    class Checked(CompressionStrategyConformance):
        def make_strategy(self, counter: TokenCounter) -> CompressionStrategy:
            return make(counter)

    return run_rule(Checked(), next(one for one in Checked.rules if one.id == rule)).detail


def test_newest_part_that_is_not_enough_is_shown_beside_the_whole() -> None:
    detail = detail_of("STRATEGY-28", KeepsTheFirstTurn)
    assert re.search(r"whole conversation -> newest part: messages: \['m1', .*\] -> \[.*\]\n", detail)
    blocks = re.split(r"\n  (?! )", detail)
    assert [re.split("[,:] ?", block)[0] for block in blocks[1:]] == [
        "the newest part",
        "output of the newest part",
        "the whole conversation",
        f"input of {re.findall(r'input of (.*) tokens', detail)[0]} tokens",
        "output",
    ]
    part, of_part, _, whole, of_whole = blocks[1:]
    assert "gap user [gap]: " in part
    assert "    m1 " not in part
    assert "    m1 " not in of_part
    assert "    m1 " in whole
    assert "    m1 " in of_whole


def test_other_text_and_what_was_shortened_are_shown() -> None:
    detail = detail_of("STRATEGY-28", ShortensWithoutAGap)
    assert re.search(r"newest part: shortened: \(Shortening\(.* -> \(\); parts of \w+: .*'\[…\]'.* -> ", detail)
    assert re.search(r"\n  output, .*, tokens=\d+, \w+ shortened from \d+ to 3 characters:\n", detail)


def test_unknown_name_is_an_attribute_error() -> None:
    import contextport.conformance_tests as package

    with pytest.raises(AttributeError, match="NoSuchConformance"):
        _ = package.NoSuchConformance


@implements(ModePolicy)
class Unmoved:
    """A policy that leaves every session as it is."""

    def rules_for(self, session_id: str) -> ModeRules:
        return ModeRules()

    def decide(self, situation: ModeSituation) -> ModeDecision:
        return ModeDecision(mode=situation.mode, reason="as it is")


def of_modes(make: Callable[[TokenCounter, Budget], ContextManager]) -> dict[int, RuleResult]:
    """What the rules of `ControlsMode` come to, for a suite in which nothing but `make_manager` was written."""

    class Written(ContextManagerConformance):
        def make_manager(self, counter: TokenCounter, budget: Budget) -> ContextManager:
            return make(counter, budget)

    rules = [rule for rule in Written.rules if rule.port is ControlsMode]
    return {int(rule.id.partition("-")[2]): run_rule(Written(), rule) for rule in rules}


def test_what_a_rule_of_modes_needs_is_named() -> None:
    """A manager whose events and records nobody can see is not failed for them, nor passed."""
    results = of_modes(ReferenceModeManager)
    assert [rule for rule, result in results.items() if result.status is Status.PASSED] == [28, 29, 32]
    for words in ("make_mode_manager, so that events can be seen", "records_of, so that the records in the log can be seen"):
        assert words in results[30].detail
    assert results[31].detail == "write second_manager, so that two managers over one store can be compared"
    assert {results[rule].status for rule in (30, 31)} == {Status.NOT_RUN}


def test_a_manager_that_was_built_without_modes_is_told_what_to_write() -> None:
    def make(counter: TokenCounter, budget: Budget) -> ContextEngine:
        return ContextEngine(store=MemoryContextStore(), counter=counter, budget=budget)

    results = of_modes(make).values()
    assert {result.status for result in results} == {Status.ABSENT}
    (detail,) = {result.detail for result in results}
    assert "ContextEngine was built without modes" in detail
    assert detail.endswith("write make_mode_manager")


def test_a_manager_that_can_do_little_is_checked_as_far_as_it_goes() -> None:
    """No folds, nothing to search: two of the modes are there, and nothing changes by itself."""

    def make(counter: TokenCounter, budget: Budget) -> ContextEngine:
        return ContextEngine(store=MemoryContextStore(), counter=counter, budget=budget, modes=Unmoved())

    results = of_modes(make)
    assert {result.status for result in results.values()} == {Status.NOT_RUN}
    for rule in (28, 29, 30, 31):
        assert "so that it has a policy that changes modes" in results[rule].detail
    assert results[32].detail.startswith("the manager has no mode hybrid, retrieval, summary; ")
