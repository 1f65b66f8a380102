"""What it costs to check and to repair a window.

    python benchmarks/repair_speed.py [--messages 150] [--rounds 15]

Messages per second of processor time, the median over rounds, for windows that are valid already and for windows with something
to repair. The valid ones are a chat, and a tool loop with a question now and then; the others begin in the middle of a step.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from statistics import median

from contextport.contracts import Message, ToolCall
from contextport.contracts.profile import ProviderProfile
from contextport.strategies.provider_rules import PROFILES, check, repair

TEXT = "0123456789 " * 22
SHOWN = ("openai.chat", "anthropic.no_prefill", "gemini.3", "bedrock.nova", "mistral", "chat_template", "cautious")


def chat(count: int) -> list[Message]:
    """A system prompt, then user and assistant in turn, the user last."""
    said = [Message.user(TEXT) if n % 2 == 0 else Message.assistant(TEXT) for n in range(count - 1)]
    return [Message.system("Be brief."), *(said if len(said) % 2 else said[1:])]


def tool_loop(count: int) -> list[Message]:
    """Questions with nine rounds of one call each, the newest of them open."""
    out = [Message.system("Be brief.")]
    while len(out) < count:
        out += [Message.user(TEXT)]
        for n in range(9):
            call_id = f"{len(out):05}{n:04}"
            out.append(Message.assistant("", ToolCall(call_id=call_id, name="find", arguments='{"query": "a few words"}')))
            out.append(Message.tool(call_id, TEXT))
        out.append(Message.assistant(TEXT))
    return [*out[: count - count % 2 + 1], Message.user(TEXT)] if out[count - count % 2].role == "assistant" else out[:count]


def per_second(work: Callable[[], object], messages: int, rounds: int) -> float:
    taken: list[float] = []
    for _ in range(rounds):
        start = time.process_time()
        for _ in range(20):
            work()
        taken.append((time.process_time() - start) / 20)
    return messages / median(taken)


def valid(profile: ProviderProfile, messages: Sequence[Message]) -> tuple[Message, ...]:
    """The messages as they stand once they were repaired: there is nothing to do in them."""
    return repair(messages, profile).messages


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--messages", type=int, default=150, help="messages in a window")
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    print(f"messages per second, windows of {options.messages}")
    print(f"{'profile':<24}{'check chat':>14}{'repair chat':>14}{'repair tools':>14}{'with work':>14}")
    for name in SHOWN:
        profile = PROFILES[name]
        talk, tools = valid(profile, chat(options.messages)), valid(profile, tool_loop(options.messages))
        torn = tool_loop(options.messages + 3)[3:]
        figures = (
            per_second(lambda: check(talk, profile), len(talk), options.rounds),  # noqa: B023
            per_second(lambda: repair(talk, profile), len(talk), options.rounds),  # noqa: B023
            per_second(lambda: repair(tools, profile), len(tools), options.rounds),  # noqa: B023
            per_second(lambda: repair(torn, profile), len(torn), options.rounds),  # noqa: B023
        )
        print(f"{name:<24}" + "".join(f"{figure:>14,.0f}" for figure in figures))


if __name__ == "__main__":
    main()
