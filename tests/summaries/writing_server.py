"""A model server that writes summaries: it repeats sentences of what it is sent, decisions first, in the form it is asked for."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

from contextport.conformance_tests.scripted_answers import ScriptedAnswer, ScriptedFailure
from contextport.contracts import Usage
from tests.model_protocols import CHAT
from tests.model_server import ModelServer, ReceivedRequest, Step, answer, overflow

__all__ = ["WINDOW", "sent_to", "writing_server", "written"]

WINDOW = 900  # words of a request
_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=。)\s*|\n+")
_LABEL = re.compile(r"^\[[^\]]*\] ")


def writing_server(script: Iterable[Step] | None = None) -> ModelServer:
    """A server that answers by the script, or writes summaries without end; it is to be entered."""
    return ModelServer([written] * 5_000 if script is None else script)


def written(request: ReceivedRequest) -> ScriptedAnswer | ScriptedFailure:
    """A summary of the sections of the request's last message."""
    prompt = request.body["messages"][-1]["content"]
    size = len(prompt.split())
    if size > WINDOW:
        return overflow(CHAT, size, WINDOW)
    limit = int(re.findall(r"(\d+) tokens", prompt)[0])
    sections = re.findall(r"<(summary_so_far|transcript)\w*>\n(.*?)\n</\1", prompt, re.DOTALL)
    lines = [_LABEL.sub("", line) for _, text in sections for line in _SENTENCE.split(text) if line.strip()]
    decided = [line for line in dict.fromkeys(lines) if "decided" in line or "决定" in line]
    chosen = _fitting([*decided, *(line for line in lines if line not in decided)], limit)
    usage = Usage(input_tokens=size, output_tokens=limit)
    if "JSON" not in prompt:
        return answer("\n".join(chosen), usage=usage)
    rest = "\n".join(line for line in chosen if line not in decided)
    form = {"decisions": [line for line in chosen if line in decided], "text": rest}
    return answer(f"```json\n{json.dumps(form, ensure_ascii=False)}\n```\nThat is all.", usage=usage)


def _fitting(lines: list[str], limit: int) -> list[str]:
    taken: list[str] = []
    room = limit - 8  # for the tags
    for line in dict.fromkeys(lines):
        if len(line.split()) <= room:
            taken.append(line)
            room -= len(line.split())
    return taken or lines[:1]


def sent_to(server: ModelServer) -> list[str]:
    """What was said in each request."""
    return ["\n".join(str(message["content"]) for message in request.body["messages"]) for request in server.requests]
