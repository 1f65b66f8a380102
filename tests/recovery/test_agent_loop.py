"""The example agent works over the real protocol and SDK: overflows, cut answers, and an interruption do not stop it."""

import asyncio
import importlib.util
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from openai import AsyncOpenAI

from contextport.conformance_tests.scripted_answers import ScriptedFailure
from contextport.contracts import ModelCallFailed
from tests.model_protocols import CHAT
from tests.model_server import ModelServer, ReceivedRequest, answer, overflow

EXAMPLE = Path(__file__).resolve().parents[2] / "docs" / "examples" / "agent_loop.py"
NOTES = {name: " ".join(f"{name}{n}" for n in range(600)) for name in ("ape", "bee", "cat")}
REPORT = "The ape came first, then the bee, and the cat was last. Nobody knows why the cat was late, and nobody asked it."
LIMIT = 900  # words that the server takes
READ = [(f"read-{name}", "read_note", json.dumps({"name": name})) for name in NOTES]


@pytest.fixture(scope="module")
def example() -> Iterator[ModuleType]:
    spec = importlib.util.spec_from_file_location("agent_loop_example", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


def words_of(request: ReceivedRequest) -> int:
    return sum(len(str(message.get("content") or "").split()) for message in request.body["messages"])


class Playing:
    """A model that lists the notes, reads all, one by one, and reports. It refuses what is above its limit, and is cut twice."""

    def __init__(self) -> None:
        self.refused = 0
        self._steps: list[Any] = [
            answer(calls=[("list", "list_notes", "{}")]),
            answer(calls=[READ[0]]),
            answer("Now the ", "second.", calls=[READ[1]]),
            answer("Now the", " last", ".", calls=[("cut", "read_note", '{"name": "c')], word="length"),
            answer(calls=[READ[2]]),
            answer(REPORT[:40], word="length"),
            answer("Here is the rest:\n\n", REPORT[15:70], word="length"),
            answer(REPORT[70:]),
        ]

    def __call__(self, request: ReceivedRequest) -> Any:
        if words_of(request) > LIMIT:
            self.refused += 1
            return overflow(CHAT, words_of(request) * 2, LIMIT * 2)
        return self._steps.pop(0)


def played(
    example: ModuleType, script: list[Any], run: Callable[[Any], Any], window: int = 128_000
) -> tuple[Any, list[ReceivedRequest], str]:
    """What `run` makes of the agent, the requests, and what was shown."""
    shown: list[str] = []

    async def go(server: ModelServer) -> Any:
        async with AsyncOpenAI(base_url=server.openai_url, api_key="none") as client:
            agent = example.notes_agent(client, "test-model", NOTES, window=window, max_output=2_000, show=shown.append)
            return await run(agent)

    with ModelServer(script) as server:
        return asyncio.run(go(server)), server.requests, "".join(shown)


def test_the_task_is_finished_in_spite_of_overflows_and_cuts(example: ModuleType) -> None:
    model = Playing()

    async def run(agent: Any) -> tuple[str, list[Any], list[Any]]:
        text = await agent.run("s", "What came first?")
        window = await agent.manager.get_context("s", max_tokens=1_000_000)
        return text, list(window.messages), list((await agent.manager.get_context("s")).messages)

    (text, log, _), requests, shown = played(example, [model] * 20, run)
    assert text == REPORT
    assert shown.endswith(REPORT)
    assert model.refused >= 1
    accepted = [request for request in requests if words_of(request) <= LIMIT]
    assert len(accepted) == 8
    assert all(request.body["messages"][0]["content"] == example.SYSTEM for request in requests)
    assert all("What came first?" in request.text for request in requests)
    # the log has everything, once: no cut call, no half of a report, every note as it was read
    assert [message.role for message in log] == ["system", "user", *["assistant", "tool"] * 4, "assistant"]
    assert [call.call_id for message in log for call in message.tool_calls] == ["list", "read-ape", "read-bee", "read-cat"]
    assert [message.text for message in log if message.role == "tool"][1:] == list(NOTES.values())
    assert log[-1].text == REPORT
    assert log[-3].text == "Now the last."


def test_after_an_overflow_the_size_of_the_window_is_learnt(example: ModuleType) -> None:
    model = Playing()
    _, requests, _ = played(example, [model] * 20, lambda agent: agent.run("s", "What came first?"), window=3_000)
    assert model.refused <= 2
    assert len(requests) == 8 + model.refused


def test_odd_calls_are_answered_and_the_run_goes_on(example: ModuleType) -> None:
    odd = ["[]", "5", "null", "", '{"name": 7}', '{"name": ["ape"]}', '{"title": "ape"}']
    calls = [(f"c{n}", "read_note", arguments) for n, arguments in enumerate(odd)]
    script = [answer(calls=[*calls, ("other", "delete_note", "{}")]), answer("Nothing was found.")]

    async def run(agent: Any) -> tuple[str, list[str]]:
        text = await agent.run("s", "What came first?")
        return text, [message.text for message in (await agent.manager.get_context("s")).messages if message.role == "tool"]

    (text, results), _, _ = played(example, script, run)
    assert text == "Nothing was found."
    assert len(results) == 8
    assert all(result.startswith("There is no note ") for result in results[:7])
    assert results[7] == "There is no tool 'delete_note'."


def test_a_rate_limit_is_the_hosts_business(example: ModuleType) -> None:
    limited = ScriptedFailure(status=429, type="requests", code="rate_limit_exceeded", message="Rate limit reached")

    async def run(agent: Any) -> int:
        with pytest.raises(ModelCallFailed):
            await agent.run("s", "What came first?")
        return len((await agent.manager.get_context("s")).messages)

    stored, requests, _ = played(example, [limited], run)
    assert (stored, len(requests)) == (2, 1)


def test_a_repeated_call_brings_a_warning_that_is_not_stored(example: ModuleType) -> None:
    again = [answer(calls=[(f"list-{n}", "list_notes", "{}")]) for n in range(3)]

    async def run(agent: Any) -> str:
        await agent.run("s", "What came first?")
        return " ".join(message.text for message in (await agent.manager.get_context("s")).messages)

    stored, requests, _ = played(example, [*again, answer("The ape.")], run)
    assert "same call three times" in requests[-1].body["messages"][-1]["content"]
    assert "same call three times" not in stored
    assert all("same call" not in request.text for request in requests[:-1])


class Stopping(dict[str, str]):
    """Notes of which one is read when the run is stopped."""

    def get(self, name: str, default: Any = None) -> Any:
        if name == "bee":
            raise asyncio.CancelledError
        return super().get(name, default)


def test_a_stopped_run_leaves_a_log_that_can_be_gone_on_with(example: ModuleType) -> None:
    async def run(agent: Any) -> list[Any]:
        agent.notes = Stopping(NOTES)
        with pytest.raises(asyncio.CancelledError):
            await agent.run("s", "What came first?")
        stopped = list((await agent.manager.get_context("s")).messages)
        assert await agent.run("s", "And now?") == "The ape."
        return stopped

    stopped, requests, _ = played(example, [answer(calls=[READ[0], READ[1]]), answer("The ape.")], run)
    assert [message.text for message in stopped[-2:]] == [NOTES["ape"], "The run was stopped before this call was made."]
    assert len(requests) == 2


def test_it_runs_from_the_command_line(example: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, text in NOTES.items():
        (tmp_path / f"{name}.md").write_text(text)
    with ModelServer([Playing(), answer("The ape.")]) as server:
        given = ["What came first?", "--notes", str(tmp_path), "--base-url", server.openai_url, "--model", "m"]
        assert example.main(given) == 0
        first = json.loads(server.requests[1].text)["messages"]
    assert capsys.readouterr().out.endswith("---\nThe ape.\n")
    assert first[-1]["content"] == '["ape", "bee", "cat"]'
