"""An agent that reads notes and writes a report, whatever the size of the notes and of the model's window.

    python docs/examples/agent_loop.py --base-url http://127.0.0.1:8000/v1 --model my-model --notes notes/ "What was decided?"

Needs `pip install contextport[openai]` and any host that speaks OpenAI's chat completions. What contextport does in it:

- the session's log keeps everything; each call is shown a window that fits (`ContextEngine`)
- a window that the host finds too large is made smaller and sent again, an answer that is cut is finished (`Responder`)
- a note is shortened to what a tool result may take, with a mark of what is missing (`fit_text`)
- a warning reaches the next call only, and is not taken for the user's question (`interrupt`)
- when the program is stopped between a call and its result, the log says so (`cancelled_results`)
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from attrs import define, field
from openai import AsyncOpenAI

from contextport.adapters.errors.rule_classifier import RuleErrorClassifier
from contextport.adapters.events.logging_sink import LoggingEventSink
from contextport.adapters.managers.context_engine import ContextEngine
from contextport.adapters.models.openai_chat_model import OpenAIChatModel
from contextport.adapters.stores.memory_store import MemoryContextStore
from contextport.adapters.tokenizers.calibrated_counter import CalibratedTokenCounter
from contextport.adapters.tokenizers.heuristic_counter import HeuristicTokenCounter
from contextport.adapters.wire.openai_chat import OpenAIChatCodec
from contextport.contracts import Budget, ContextPortError, Limits, Message, ModelCallFailed, TextDelta, ToolCall
from contextport.strategies.agent_loop import cancelled_results, fit_text, interrupt
from contextport.strategies.provider_rules import profile_for
from contextport.strategies.recovery import Answer, Discarded, Responder

SYSTEM = "You answer questions from notes. List the notes, read those you need, then answer in plain text."
MOST_STEPS = 30
RESULT_CHARS = 8_000
TOOLS: list[dict[str, Any]] = [
    {
        "type": "function",
        "function": {
            "name": "list_notes",
            "description": "The names of all notes.",
            "parameters": {"type": "object", "properties": {}},
        },
    },
    {
        "type": "function",
        "function": {
            "name": "read_note",
            "description": "The text of one note.",
            "parameters": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]},
        },
    },
]


@define(kw_only=True)
class NotesAgent:
    """Calls the model until it answers without asking for a tool. `show` gets the text of the answers, as it comes."""

    manager: ContextEngine
    responder: Responder
    notes: Mapping[str, str]
    show: Callable[[str], None]
    calls_made: Counter[str] = field(factory=Counter[str])

    async def run(self, session_id: str, question: str) -> str:
        """The answer to the question. It ends with a notice if it could not be finished."""
        await self.manager.set_system_prompt(session_id, SYSTEM)
        await self.manager.add_message(session_id, Message.user(question))
        for _ in range(MOST_STEPS):
            answer = await self._next(session_id)
            message = answer.message
            if message is None:
                return f"[no answer: {answer.output.stop}]"
            if answer.truncated:
                await self.manager.add_message(session_id, message)
                return message.text + "\n[The answer was cut off here. Ask for the rest.]"
            if not message.tool_calls:
                return message.text
            await self._use_tools(session_id, message)
        return f"[no answer after {MOST_STEPS} steps]"

    async def _next(self, session_id: str) -> Answer:
        repeated = [made for made, times in self.calls_made.items() if times > 2]
        warning = [interrupt(f"You made the same call three times: {', '.join(repeated)}. Go on without it.")] if repeated else []
        async for piece in self.responder.stream(session_id, extra=warning):
            if isinstance(piece, Answer):
                return piece
            if isinstance(piece, TextDelta):
                self.show(piece.text)
            elif isinstance(piece, Discarded):
                self.show(f"\n[the last {piece.chars} characters are void]\n")
        raise AssertionError("a stream ends with its answer")

    async def _use_tools(self, session_id: str, message: Message) -> None:
        """Add a result for each call, also when this is cancelled before all of them are there."""
        results: list[Message] = []
        try:
            for call in message.tool_calls:
                self.calls_made[f"{call.name} {call.arguments}"] += 1
                results.append(Message.tool(call.call_id, fit_text(await self._result(call), RESULT_CHARS)))
        finally:
            missing = cancelled_results(message, "The run was stopped before this call was made.", answered=results)
            await self.manager.add_messages(session_id, [*results, *missing])

    async def _result(self, call: ToolCall) -> str:
        if call.name == "list_notes":
            return json.dumps(sorted(self.notes))
        if call.name != "read_note":
            return f"There is no tool {call.name!r}."
        given = json.loads(call.arguments or "{}")
        name = given.get("name") if isinstance(given, dict) else None
        return self.notes.get(str(name), f"There is no note {name!r}.")


def notes_agent(
    client: AsyncOpenAI, model: str, notes: Mapping[str, str], *, window: int, max_output: int, show: Callable[[str], None]
) -> NotesAgent:
    """An agent of ready-made parts. `window` is what the host is believed to take; it need not be right."""
    counter = CalibratedTokenCounter(HeuristicTokenCounter())
    sink = LoggingEventSink()
    manager = ContextEngine(
        store=MemoryContextStore(),
        counter=counter,
        budget=Budget(window=window, output_reserve=max_output),
        tools=TOOLS,
        model=model,
        sink=sink,
    )
    responder = Responder(
        manager=manager,
        model=OpenAIChatModel(client, model, OpenAIChatCodec()),
        classifier=RuleErrorClassifier(),
        counter=counter,
        profile=profile_for(model, "openai.chat"),
        tools=TOOLS,
        limits=Limits(window=window, max_output=max_output, source="command line"),
        learns_as=model,
        sink=sink,
    )
    return NotesAgent(manager=manager, responder=responder, notes=notes, show=show)


async def ask(arguments: argparse.Namespace, notes: Mapping[str, str]) -> str:
    """Run the agent on the notes."""
    async with AsyncOpenAI(base_url=arguments.base_url, api_key=arguments.api_key) as client:
        agent = notes_agent(
            client,
            arguments.model,
            notes,
            window=arguments.window,
            max_output=arguments.max_output,
            show=lambda text: print(text, end="", flush=True),
        )
        return await agent.run("notes", arguments.question)


def main(given: list[str]) -> int:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(description="Answer a question from notes.")
    parser.add_argument("question")
    parser.add_argument("--notes", required=True, help="a folder of .md files")
    parser.add_argument("--base-url", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--api-key", default="none")
    parser.add_argument("--window", type=int, default=128_000, help="tokens that the model takes")
    parser.add_argument("--max-output", type=int, default=4_000, help="tokens of one answer at most")
    arguments = parser.parse_args(given)
    notes = {path.stem: path.read_text("utf-8") for path in sorted(Path(arguments.notes).glob("*.md"))}
    if not notes:
        parser.error(f"there is no .md file in {arguments.notes}")
    try:
        answer = asyncio.run(ask(arguments, notes))
    except ContextPortError as error:
        said = f"\n{error.failure.message}" if isinstance(error, ModelCallFailed) else ""
        print(f"{error}{said}", file=sys.stderr)
        return 1
    print(f"\n---\n{answer}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
