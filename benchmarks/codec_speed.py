"""How many messages per second each codec reads and writes (goal: 20 000 each way).

    python benchmarks/codec_speed.py [--messages 4000] [--repeat 5]

The conversation is that of `workload`: chat, code and tool calls, 57 tokens a message. `decode` reads a request of the codec's
own api; `encode` writes what was read, unedited; `foreign` writes the messages as another api's, so that each is built from its
parts and its ids are looked at; `edited` writes what was read with every tenth message edited. Messages per second of CPU time of
one process, the best of several runs. LangChain's requests hold message objects; making them is in its figures.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import attrs
from workload import chats

from contextport.adapters.wire.anthropic_messages import AnthropicCodec
from contextport.adapters.wire.bedrock_converse import BedrockConverseCodec
from contextport.adapters.wire.gemini_contents import GeminiCodec
from contextport.adapters.wire.langchain_messages import LangChainCodec
from contextport.adapters.wire.openai_chat import OpenAIChatCodec
from contextport.adapters.wire.openai_responses import OpenAIResponsesCodec
from contextport.contracts import Message, MessageCodec, Text, from_chat

GOAL = 20_000
CODECS: tuple[MessageCodec, ...] = (
    OpenAIChatCodec(),
    OpenAIResponsesCodec(),
    AnthropicCodec(),
    GeminiCodec(),
    BedrockConverseCodec(),
    LangChainCodec(),
)


def best(call: Callable[[], object], repeat: int) -> float:
    """Seconds of CPU time of the fastest of `repeat` calls."""
    seconds: list[float] = []
    for _ in range(repeat):
        started = time.process_time()
        call()
        seconds.append(time.process_time() - started)
    return min(seconds)


def edited(messages: tuple[Message, ...]) -> list[Message]:
    """Every tenth message with the text of its first part replaced."""
    changed = list(messages)
    for n in range(0, len(changed), 10):
        parts = changed[n].parts
        if parts and isinstance(parts[0], Text):
            changed[n] = attrs.evolve(changed[n], parts=(attrs.evolve(parts[0], text="edited"), *parts[1:]))
    return changed


def speeds(codec: MessageCodec, foreign: list[Message], repeat: int) -> tuple[float, float, float, float]:
    """Messages per second: decode, encode, foreign, edited."""
    request = codec.encode(foreign).request
    messages = codec.decode(request)
    changed = edited(messages)
    return (
        len(messages) / best(lambda: codec.decode(request), repeat),
        len(messages) / best(lambda: codec.encode(messages), repeat),
        len(foreign) / best(lambda: codec.encode(foreign), repeat),
        len(changed) / best(lambda: codec.encode(changed), repeat),
    )


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, default=4_000)
    parser.add_argument("--repeat", type=int, default=5)
    given = parser.parse_args()
    read = [from_chat(chat) for chat in chats(given.messages)]
    foreign = [attrs.evolve(message, native=None) for message in read]
    print("| codec | decode | encode | foreign | edited | goal |")
    print("|---|---:|---:|---:|---:|---|")
    for codec in CODECS:
        found = speeds(codec, foreign, given.repeat)
        figures = " | ".join(f"{round(one, -2):,.0f}".replace(",", " ") for one in found)
        print(f"| `{codec.api}` | {figures} | {'met' if min(found[:2]) >= GOAL else 'missed'} |", flush=True)


if __name__ == "__main__":
    main()
