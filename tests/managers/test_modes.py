"""Modes of sessions: what each window holds, who decides, and how a transition is told."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, cast

import pytest

from contextport.adapters.events.collecting_sink import CollectingEventSink
from contextport.adapters.indexes.fts5_lexical_index import Fts5LexicalIndex
from contextport.adapters.managers.context_engine import ContextEngine
from contextport.adapters.managers.mode_keeper import ModeSenses
from contextport.adapters.managers.session_state import SessionState
from contextport.adapters.modes.rules_file import ModeRulesFile
from contextport.adapters.retrieval.history_retriever import HistoryRetriever
from contextport.contracts import (
    Budget,
    CapabilityNotSupported,
    ContextStore,
    Control,
    EventKind,
    InvalidArgument,
    Kind,
    Message,
    Mode,
    ModeDecision,
    ModePolicy,
    ModeRules,
    ModeSignal,
    ModeSituation,
    Query,
    Retriever,
    Sensed,
    SensedTurn,
    Snippet,
    implements,
)
from contextport.strategies import KeepRecentTokens
from contextport.strategies.modes import ModeMachine, RulesBook
from tests.managers.folding_sessions import (
    COUNTER,
    PROMPT,
    SESSION,
    Backend,
    awaited,
    engine,
    ids,
    log_of,
    of_kind,
    say,
    size,
    turns,
)


def with_modes(store: ContextStore, budget: int = 300, rules: ModeRules | None = None, **more: Any) -> ContextEngine:
    """An engine with modes, and with a search in the history unless `retriever` is None."""
    more.setdefault("retriever", HistoryRetriever(store, COUNTER, Fts5LexicalIndex()))
    return engine(store, budget=budget, modes=ModeMachine(rules), **more)


def manual(**more: Any) -> ModeRules:
    return ModeRules(control=Control.MANUAL, **more)


async def records(store: ContextStore) -> list[str]:
    """The lines that the log has on modes."""
    log = await log_of(store)
    return [e.message.text for e in log if e.message.kind is Kind.RECORD and e.message.text.startswith("[system] context ")]


@awaited
async def test_a_session_that_fills_becomes_a_summary_and_the_newest_messages(backend: Backend) -> None:
    """R147: 20 rounds of 40 messages over 0.6 of the budget become 8 messages and a summary."""
    store, sink = backend.open(), CollectingEventSink()
    manager = with_modes(store, budget=620, sink=sink, retriever=None)
    await say(manager, turns(18))
    assert (await manager.get_context(SESSION)).mode is Mode.FULL
    await say(manager, turns(2, first=18))
    context = await manager.get_context(SESSION)
    assert context.mode is Mode.SUMMARY
    said = [message for message in context.messages if message.in_conversation]
    assert ids(said) == [f"{role}{n}" for n in range(16, 20) for role in "ua"]
    assert context.folded_count == 32
    assert [message.kind for message in context.messages[:2]] == [Kind.SUMMARY, Kind.FACTS]
    assert await records(store) == ["[system] context mode: full -> summary"]
    told = [event.data for event in sink.events if event.kind is EventKind.MODE_CHANGED]
    assert [(event["line"], event["reason"], event["path"], event["by"]) for event in told] == [
        ("context mode: full -> summary", "over_summary_from", "degrade", "policy")
    ]


@awaited
async def test_more_messages_are_kept_where_the_rules_say_so(backend: Backend) -> None:
    """R184: keep 8 becomes 15."""
    manager = with_modes(backend.open(), budget=620, rules=ModeRules(keep_messages=15), retriever=None)
    await say(manager, turns(20))
    context = await manager.get_context(SESSION)
    assert next(m.id for m in context.messages if m.in_conversation) == "u12", "16 messages, in whole turns"


@awaited
async def test_zero_shot_has_the_prompt_and_the_newest_turn(backend: Backend) -> None:
    manager = with_modes(backend.open(), rules=manual())
    await manager.set_system_prompt(SESSION, PROMPT)
    said = await say(manager, [*turns(3), Message.user("Go on", id="go"), Message.assistant("I look", id="look")])
    await manager.set_mode(SESSION, Mode.ZERO_SHOT)
    context = await manager.get_context(SESSION)
    assert context.mode is Mode.ZERO_SHOT
    assert [m.text for m in context.messages] == [PROMPT, "Go on", "I look"]
    assert (context.omitted_count, context.tokens) == (6, size(context.messages))
    assert await manager.replay(context.receipt) == context.messages
    await manager.set_mode(SESSION, Mode.FULL)
    assert list((await manager.get_context(SESSION)).messages[1:]) == said


@awaited
async def test_retrieval_has_snippets_and_the_last_two_turns(backend: Backend) -> None:
    store = backend.open()
    manager = with_modes(store, rules=manual(), budget=200)
    await manager.set_system_prompt(SESSION, PROMPT)
    await say(manager, [*turns(9), Message.user("What was order AB-0002-7 for?", id="ask")])
    await manager.set_mode(SESSION, Mode.RETRIEVAL)
    context = await manager.get_context(SESSION)
    said = [message.id for message in context.messages if message.in_conversation]
    assert said == ["u7", "a7", "u8", "a8", "ask"]
    (found,) = of_kind(context.messages, Kind.RETRIEVED)
    assert context.messages.index(found) == len(context.messages) - 2, "right before the question"
    assert "AB-0002-7" in found.text
    assert found.role == "user"
    assert context.tokens == size(context.messages) <= context.limit == 200
    assert await manager.replay(context.receipt) == context.messages
    await say(manager, [Message.assistant("I look", id="look")])
    later = await manager.get_context(SESSION)
    assert of_kind(later.messages, Kind.RETRIEVED) == [found], "the same while the turn goes on"
    assert later.messages[: len(context.messages)] == context.messages


@awaited
async def test_hybrid_has_a_summary_the_newest_messages_and_snippets(backend: Backend) -> None:
    manager = with_modes(backend.open(), budget=400)
    await say(manager, turns(20))
    await manager.get_context(SESSION)
    await say(manager, [Message.user("What was order AB-0002-7 for?", id="ask")])
    context = await manager.get_context(SESSION)
    assert context.mode is Mode.HYBRID
    kinds = [message.kind for message in context.messages]
    assert kinds[:2] == [Kind.SUMMARY, Kind.FACTS]
    assert kinds[-2:] == [Kind.RETRIEVED, Kind.CHAT]
    assert "Order AB-0002-7 for" in context.messages[-2].text
    assert "u2" not in [message.id for message in context.messages]
    assert context.tokens <= context.limit == 400
    prefix = context.messages[:-2]
    await say(manager, [Message.assistant("For herbs", id="re"), Message.user("Fine, thanks", id="ok")])
    after = await manager.get_context(SESSION)
    assert after.messages[: len(prefix)] == prefix, "what was before the snippets stays as it was"
    assert after.messages[-1].text == "Fine, thanks"


@awaited
async def test_a_new_task_hides_what_was_before(backend: Backend) -> None:
    store = backend.open()
    manager = with_modes(store)
    await say(manager, [*turns(3), Message.user("New task: translate 'herb' into French", id="new")])
    context = await manager.get_context(SESSION)
    assert (context.mode, ids(context.messages)) == (Mode.FULL, ["new"])
    assert context.omitted_count == 6
    await say(manager, [Message.assistant("herbe", id="re"), Message.user("And into German?", id="next")])
    assert ids((await manager.get_context(SESSION)).messages) == ["new", "re", "next"]
    assert (await manager.mode_state(SESSION)).floor == 7
    assert await records(store) == ["[system] context mode: full -> full, a new task"]


@awaited
async def test_nothing_changes_until_a_person_confirms(backend: Backend) -> None:
    """Acceptance 25, D21."""
    store, sink = backend.open(), CollectingEventSink()
    manager = with_modes(store, budget=620, rules=ModeRules(control=Control.SEMI_AUTOMATIC), sink=sink, retriever=None)
    await say(manager, turns(20))
    for _ in range(3):
        context = await manager.get_context(SESSION)
        assert (context.mode, context.folded_count, len(context.messages)) == (Mode.FULL, 0, 40)
    state = await manager.mode_state(SESSION)
    assert state.proposal is not None
    assert (state.mode, state.proposal.mode) == (Mode.FULL, Mode.SUMMARY)
    assert len([event for event in sink.events if event.kind is EventKind.MODE_PROPOSED]) == 1, "proposed once"
    assert await records(store) == []
    await manager.reject(SESSION, state.proposal.id)
    assert (await manager.get_context(SESSION)).mode is Mode.FULL
    assert (await manager.mode_state(SESSION)).proposal is None, "not again for the same question"
    await say(manager, turns(15, first=20))
    over = await manager.get_context(SESSION)
    assert (over.mode, over.folded_count) == (Mode.FULL, 0)
    assert over.tokens <= over.limit
    proposal = (await manager.mode_state(SESSION)).proposal
    assert proposal is not None
    state = await manager.confirm(SESSION, proposal.id)
    assert (state.mode, state.proposal) == (Mode.SUMMARY, None)
    assert (await manager.get_context(SESSION)).folded_count > 0
    assert await records(store) == ["[system] context mode: full -> summary"]
    with pytest.raises(InvalidArgument, match="no proposal"):
        await manager.confirm(SESSION, proposal.id)


@awaited
async def test_a_mode_that_cannot_be_made_up_is_refused(backend: Backend) -> None:
    plain = ContextEngine(store=backend.open(), counter=COUNTER, strategy=KeepRecentTokens(COUNTER))
    with pytest.raises(CapabilityNotSupported, match="no modes"):
        await plain.set_mode(SESSION, Mode.FULL)
    manager = ContextEngine(store=backend.open(), counter=COUNTER, modes=ModeMachine())
    for mode, needed in ((Mode.SUMMARY, "folds history"), (Mode.RETRIEVAL, "a retriever")):
        with pytest.raises(CapabilityNotSupported, match=needed):
            await manager.set_mode(SESSION, mode)
    with pytest.raises(InvalidArgument, match="must be a Mode"):
        await manager.set_mode(SESSION, "full")  # type: ignore[arg-type]


@awaited
async def test_who_sets_a_mode_has_control_until_it_is_given_back(backend: Backend) -> None:
    store = backend.open()
    manager = with_modes(store, budget=620, retriever=None)
    await say(manager, turns(20))
    await manager.set_mode(SESSION, Mode.FULL)
    context = await manager.get_context(SESSION)
    assert (context.mode, len(context.messages)) == (Mode.FULL, 40)
    again = with_modes(store, budget=620, retriever=None)
    assert (await again.mode_state(SESSION)).control is Control.MANUAL, "it outlives the manager"
    await again.set_control(SESSION, None)
    assert (await again.get_context(SESSION)).mode is Mode.SUMMARY
    await again.clear_context(SESSION)
    assert (await again.mode_state(SESSION)).mode is Mode.FULL


@awaited
async def test_one_transition_is_made_by_many_at_once(backend: Backend) -> None:
    store = backend.open()
    managers = [with_modes(store, budget=620, retriever=None) for _ in range(4)]
    await say(managers[0], turns(20))
    await asyncio.gather(*[manager.get_context(SESSION) for manager in managers])
    assert await records(store) == ["[system] context mode: full -> summary"]
    mode = SessionState.of(await store.head(SESSION)).mode
    assert mode is not None
    assert mode.mode is Mode.SUMMARY


@awaited
async def test_rules_that_change_while_a_session_runs_hold_from_the_next_window_on(backend: Backend, tmp_path: Path) -> None:
    """Acceptance 24, R184: keep 8 becomes 15, without a restart, and the log says so."""
    file = tmp_path / "modes.json"
    file.write_text('{"default": {"keep_messages": 8}}')
    store, sink = backend.open(), CollectingEventSink()
    manager = engine(store, budget=620, modes=ModeRulesFile(file, sink=sink), sink=sink)
    await say(manager, turns(18))
    assert (await manager.get_context(SESSION)).mode is Mode.FULL
    file.write_text('{"default": {"keep_messages": 15}}')
    await say(manager, turns(2, first=18))
    context = await manager.get_context(SESSION)
    assert next(m.id for m in context.messages if m.in_conversation) == "u12"
    assert await records(store) == ["[system] context rules: changed", "[system] context mode: full -> summary"]
    assert [event.kind for event in sink.events if event.kind is EventKind.RULES_CHANGED] == [EventKind.RULES_CHANGED]
    file.write_text('{"default": {"keep_mesages": 3}}')
    await say(manager, [Message.user("Go on", id="go")])
    assert (await manager.get_context(SESSION)).mode is Mode.SUMMARY
    assert len([event for event in sink.events if event.kind is EventKind.RULES_REJECTED]) == 1
    assert len(await records(store)) == 2, "a bad file changes nothing"


@awaited
async def test_a_session_follows_its_own_rules_over_those_of_its_tenant(backend: Backend) -> None:
    """R189."""
    book = RulesBook.of(
        {
            "default": {"control": "automatic"},
            "tenants": {"acme": {"control": "manual", "retrieval_turns": 1}},
            "sessions": {"acme/2": {"control": "semi_automatic"}},
        },
        tenant_of=lambda session_id: session_id.partition("/")[0],
    )
    manager = engine(backend.open(), modes=ModeMachine(book))
    controls = [(await manager.mode_state(session)).control for session in ("other", "acme/1", "acme/2")]
    assert controls == [Control.AUTOMATIC, Control.MANUAL, Control.SEMI_AUTOMATIC]


@implements(Retriever)
class Manual:
    """What a host knows: one sentence, that is about everything."""

    async def retrieve(self, query: Query, *, max_tokens: int) -> tuple[Snippet, ...]:
        text = "The pump of bed seven needs a seal of 12 mm."
        found = Snippet(text=text, score=1.0, tokens=COUNTER.count_text(text), source="manual.md")
        return (found,) if found.tokens <= max_tokens else ()

    async def close(self) -> None:
        """Nothing is held."""


class Away(Manual):
    """A search whose backend does not answer."""

    async def retrieve(self, query: Query, *, max_tokens: int) -> tuple[Snippet, ...]:
        raise ConnectionResetError(f"no answer for {max_tokens} tokens")


@awaited
async def test_knowledge_works_alone(backend: Backend) -> None:
    """Mode RETRIEVAL with a search of the host's and none in the history: prompt, snippets, the last two turns, the question."""
    knowledge = Manual()
    manager = with_modes(backend.open(), retriever=None, knowledge=knowledge, rules=ModeRules(start=Mode.RETRIEVAL))
    await manager.set_system_prompt(SESSION, PROMPT)
    await say(manager, [*turns(4), Message.user("Which seal does the pump of bed seven need?", id="ask")])
    context = await manager.get_context(SESSION)
    assert context.mode is Mode.RETRIEVAL
    assert [m.id for m in context.messages if m.in_conversation] == ["u2", "a2", "u3", "a3", "ask"]
    (found,) = of_kind(context.messages, Kind.RETRIEVED)
    assert "manual.md" in found.text
    assert "a seal of 12 mm" in found.text


@awaited
async def test_a_search_that_fails_costs_the_window_nothing_else(backend: Backend) -> None:
    sink = CollectingEventSink()
    manager = with_modes(backend.open(), retriever=None, knowledge=Away(), rules=ModeRules(start=Mode.RETRIEVAL), sink=sink)
    await say(manager, [Message.user("Which seal does the pump of bed seven need?", id="ask")])
    for _ in range(3):
        assert ids((await manager.get_context(SESSION)).messages) == ["ask"]
    failed = [event.data for event in sink.events if event.kind is EventKind.RETRIEVAL_FAILED]
    assert failed == [{"retriever": "knowledge", "error": "ConnectionResetError"}], "asked once for a question"


@awaited
async def test_a_question_finds_what_a_named_session_has(backend: Backend) -> None:
    """Also from a session with nothing of its own to search."""
    store = backend.open()
    manager = with_modes(store, search_in=lambda session: ["old"] if session == SESSION else [])
    await say(manager, [Message.user("My boat is called Heron of the North", id="boat")], "old")
    await say(manager, [Message.user("What is the name of my boat?", id="ask")])
    context = await manager.get_context(SESSION)
    (found,) = of_kind(context.messages, Kind.RETRIEVED)
    assert "Heron of the North" in found.text
    await say(manager, [Message.user("What is the name of my boat?", id="ask")], "third")
    assert ids((await manager.get_context("third")).messages) == ["ask"], "a session that names none reaches into none"


@pytest.mark.parametrize("wrong", ["old", None, [7], LookupError])
@awaited
async def test_a_host_that_names_no_sessions_gets_none(backend: Backend, wrong: Any) -> None:
    def search_in(session_id: str) -> Any:
        if wrong is LookupError:
            raise LookupError(session_id)
        return wrong

    sink = CollectingEventSink()
    manager = with_modes(backend.open(), search_in=search_in, sink=sink)
    await say(manager, [Message.user("What is the name of my boat?", id="ask")])
    assert ids((await manager.get_context(SESSION)).messages) == ["ask"]
    assert {event.data["retriever"] for event in sink.events if event.kind is EventKind.RETRIEVAL_FAILED} == {"search_in"}


@awaited
async def test_what_an_earlier_task_said_is_found_by_a_question_that_reaches_back(backend: Backend) -> None:
    manager = with_modes(backend.open())
    await say(manager, [Message.user("My locker number is 731", id="locker"), Message.assistant("Noted", id="noted"), *turns(3)])
    await manager.get_context(SESSION)
    await say(manager, [Message.user("New task: plan a trip to Rome", id="new"), Message.assistant("Rome", id="rome")])
    assert "locker" not in ids((await manager.get_context(SESSION)).messages)
    await say(manager, [Message.user("What did I say earlier about my locker number?", id="ask")])
    context = await manager.get_context(SESSION)
    assert context.mode is Mode.HYBRID
    (found,) = of_kind(context.messages, Kind.RETRIEVED)
    assert "My locker number is 731" in found.text
    assert [m.id for m in context.messages if m.in_conversation] == ["new", "rome", "ask"], "the old task stays out otherwise"


@awaited
async def test_small_talk_brings_nothing_back(backend: Backend) -> None:
    manager = with_modes(backend.open(), budget=400)
    await say(manager, turns(20))
    await manager.get_context(SESSION)
    await say(manager, [Message.user("Tell me a joke.", id="ask")])
    assert of_kind((await manager.get_context(SESSION)).messages, Kind.RETRIEVED) == []


@implements(ModePolicy)
class Obeys:
    """Decides on what it is told."""

    def __init__(self, decision: Any) -> None:
        self.decision = decision

    def rules_for(self, session_id: str) -> ModeRules:
        return ModeRules()

    def decide(self, situation: ModeSituation) -> ModeDecision:
        if isinstance(self.decision, type):
            raise self.decision(situation.session_id)
        return cast(ModeDecision, self.decision)


@pytest.mark.parametrize(
    ("decision", "rule"),
    [
        (RuntimeError, "MODE-2"),
        ("full", "MODE-2"),
        (None, "MODE-2"),
        (ModeDecision(mode=Mode.HYBRID, reason="none can be made"), "MODE-4"),
        (ModeDecision(mode=Mode.RETRIEVAL, reason="nothing to search"), "MODE-4"),
    ],
)
@awaited
async def test_a_policy_that_breaks_its_rules_changes_nothing(backend: Backend, decision: Any, rule: str) -> None:
    sink = CollectingEventSink()
    manager = engine(backend.open(), modes=Obeys(decision), sink=sink)
    said = await say(manager, turns(2))
    for _ in range(3):
        context = await manager.get_context(SESSION)
        assert (context.mode, list(context.messages)) == (Mode.FULL, said)
    failed = [event.data["rule"] for event in sink.events if event.kind is EventKind.STRATEGY_FAILED]
    assert failed == [rule], "told once in a row"


@implements(ModeSignal)
class Shouts:
    """A signal that is none."""

    def sense(self, turn: SensedTurn) -> Sensed:
        raise KeyError(turn.question.id)


@awaited
async def test_a_signal_that_fails_says_nothing(backend: Backend) -> None:
    sink = CollectingEventSink()
    manager = engine(backend.open(), modes=ModeMachine(), senses=ModeSenses(new_task=Shouts()), sink=sink)
    said = await say(manager, turns(2))
    assert list((await manager.get_context(SESSION)).messages) == said
    failed = [event.data for event in sink.events if event.kind is EventKind.STRATEGY_FAILED]
    assert failed == [{"strategy": "Shouts", "rule": "SIGNAL-1", "error": "KeyError"}]


@awaited
async def test_what_a_person_refused_is_not_proposed_at_every_turn(backend: Backend) -> None:
    sink = CollectingEventSink()
    rules = ModeRules(control=Control.SEMI_AUTOMATIC)
    manager = with_modes(backend.open(), budget=620, rules=rules, retriever=None, sink=sink)
    await say(manager, turns(20))
    await manager.get_context(SESSION)
    first = (await manager.mode_state(SESSION)).proposal
    assert first is not None
    await say(manager, turns(1, first=20))
    await manager.get_context(SESSION)
    assert (await manager.mode_state(SESSION)).proposal == first, "the same proposal, whatever is asked meanwhile"
    await manager.reject(SESSION, first.id)
    for n in range(9):
        await say(manager, [Message.user("Go on", id=f"go{n}"), Message.assistant("Yes", id=f"yes{n}")])
        await manager.get_context(SESSION)
        assert (await manager.mode_state(SESSION)).proposal is None
    await say(manager, [Message.user("Go on", id=f"go{n}") for n in range(9, 12)])
    await manager.get_context(SESSION)
    assert (await manager.mode_state(SESSION)).proposal is not None, "after a while it may be asked again"


@awaited
async def test_snippets_have_the_reserve_of_the_budget_and_count_in_it(backend: Backend) -> None:
    """R150: what is kept free for retrieved text is for nothing else, and is not exceeded."""
    store = backend.open()
    budget = Budget(window=300, tool_reserve=120)
    search = HistoryRetriever(store, COUNTER, Fts5LexicalIndex())
    manager = ContextEngine(store=store, counter=COUNTER, budget=budget, retriever=search, modes=ModeMachine(manual()))
    await say(manager, [*turns(20), Message.user("What were the orders AB-0002-7 and AB-0003-7 for?", id="ask")])
    plain = await manager.get_context(SESSION)
    assert plain.limit == 180
    assert plain.tokens <= 180
    await manager.set_mode(SESSION, Mode.RETRIEVAL)
    context = await manager.get_context(SESSION)
    (found,) = of_kind(context.messages, Kind.RETRIEVED)
    assert context.limit == 300
    assert 180 < context.tokens == size(context.messages) <= 300
    assert COUNTER.count_message(found) > 120, "and what the last turns leave"
