"""The rules of `ShapesWindow`: windows of another size, and for another model."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from contextport.contracts import (
    Budget,
    BudgetTooSmall,
    Context,
    Message,
    ProviderProfile,
    ShapesWindow,
    Text,
    Thinking,
    ToolCall,
    dump_message,
)

from .exact_counters import WordsCounter
from .manager_rules import WORDY, fill
from .rules import rule

if TYPE_CHECKING:
    from .suites import ContextManagerConformance as Suite

__all__: list[str] = []

_SIGNED = ProviderProfile(
    name="suite.signed", api="anthropic.messages", provider="anthropic", thinking="signed", signed_by=frozenset({"anthropic"})
)
_OTHER = ProviderProfile(
    name="suite.other",
    api="openai.chat",
    provider="other",
    first_user=True,
    last_user=True,
    id_pattern="[a-z0-9]{9}",
    id_length=9,
)


def _shown(context: Context) -> list[str]:
    return [dump_message(message) for message in context.messages]


@rule("MANAGER-23", ShapesWindow, cause="the window is kept for the next call, or only ever made smaller than the own limit.")
async def one_window_of_another_size(suite: Suite) -> None:
    counter = WordsCounter()
    manager: Any = await suite.manager(Budget.of(250))
    await manager.set_system_prompt("s", "Be brief.")
    await fill(manager, "s", *WORDY)
    await suite.settle(manager)
    usual = _shown(await manager.get_context("s"))
    whole = counter.count_text("Be brief.") + sum(counter.count_text(str(message["content"])) for message in WORDY)
    for max_tokens in (60, 120, 250, 10 * whole):
        context = await manager.get_context("s", max_tokens=max_tokens)
        tokens = sum(map(counter.count_message, context.messages))
        assert tokens <= max_tokens, f"with max_tokens={max_tokens} the window has {tokens} tokens"
        assert context.limit == max_tokens, f"with max_tokens={max_tokens} the context says limit {context.limit}"
        again = _shown(await manager.get_context("s"))
        assert again == usual, f"after a call with max_tokens={max_tokens} the usual window is another one"
    left_out = context.omitted_count - context.folded_count  # what was folded before is folded for good
    assert left_out == 0, f"with room for everything {left_out} messages are left out"
    try:
        context = await manager.get_context("s", max_tokens=1)
    except BudgetTooSmall:
        return
    raise AssertionError(f"max_tokens=1 gave a window of {context.tokens} tokens instead of BudgetTooSmall")


@rule("MANAGER-24", ShapesWindow, cause="the profile is looked at for the next call only, or what it leaves out is lost.")
async def window_for_another_provider(suite: Suite) -> None:
    manager: Any = await suite.manager(Budget.of(100_000))
    await manager.set_system_prompt("s", "Be brief.")
    thinking = Thinking(text="private", signature="c2ln", binding="turn", origin=("anthropic", "a model"))
    calls = tuple(ToolCall(call_id=f"Call {n}!", name="find", arguments="{}") for n in (1, 2))
    said = [
        Message.user("hello", id="u1"),
        Message(role="assistant", parts=(thinking, Text("hi there"), *calls), id="a1"),
        *(Message.tool(call.call_id, f"found {call.call_id}", id=call.call_id) for call in calls),
        Message.assistant("done", id="a2"),
    ]
    for message in said:
        await manager.add_message("s", message)
    usual = _shown(await manager.get_context("s"))
    own = await manager.get_context("s", profile=_SIGNED)
    assert thinking.text in [part.text for m in own.messages for part in m.parts if isinstance(part, Thinking)], (
        "reasoning is left out of a window for the provider that signed it"
    )
    context = await manager.get_context("s", profile=_OTHER)
    kept = [m for m in context.messages if m.role not in ("system", "developer")]
    assert not [part for m in kept for part in m.parts if isinstance(part, Thinking)], "signed reasoning goes to another provider"
    roles = (kept[0].role, kept[-1].role)
    assert roles in (("user", "user"), ("user", "tool")), f"first and last role are {roles}; the profile wants the user's"
    text = "\n".join(m.text for m in kept)
    missing = [words for words in ("hello", "hi there", "found Call 1!", "found Call 2!", "done") if words not in text]
    assert not missing, f"the window for another provider does not say {missing}"
    asked = [call.call_id for m in kept for call in m.tool_calls]
    answered = [result.call_id for m in kept for result in m.tool_results]
    assert sorted(asked) == sorted(answered), f"calls {asked} are answered by {answered}"
    assert len(set(asked)) == len(calls), f"{len(calls)} calls have the ids {asked}"
    wrong = [name for name in asked if re.fullmatch(_OTHER.id_pattern or "", name) is None]
    assert not wrong, f"the call ids {wrong} do not match {_OTHER.id_pattern}"
    assert _shown(await manager.get_context("s")) == usual, "after a call with a profile the usual window is another one"
    assert (await manager.get_context("s", profile="no such model 9000")).messages, "an unknown model has no window"
