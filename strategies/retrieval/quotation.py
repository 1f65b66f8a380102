"""Text from elsewhere as it is quoted in a message: word for word readable, but unable to pose as anything else."""

from __future__ import annotations

import re
from collections.abc import Iterable

__all__ = ["quoted", "quoted_label"]

_INDENT = "\n  "
_LONGEST_LABEL = 120  # characters of a speaker or a source that are shown

# Who speaks in chat templates and transcripts. A line of a quotation that begins with one of these and a colon could be read as
# the next speaker's.
_SPEAKERS = frozenset(
    {"system", "developer", "user", "assistant", "tool", "function", "human", "model", "ai", "bot", "instruction"}
)
_POSING = frozenset({"system", "developer"})  # no quotation is labelled so

_BREAKS = re.compile("[\r\n\v\f\x1c-\x1e\x85\u2028\u2029]+")
_LABEL = re.compile(r"[^\w]*([\w .'\u2019-]{1,60}?)[\s*_\"'`]*[:\uff1a>]")
_HEADER = re.compile(r"\s*(?:\[[^\]]*\]|\d{1,2} [A-Z][a-z]{2}(?: \d{4})?:)\s*$")
_NOT_OF_A_NAME = frozenset("[]:<>\uff1a")
# Control tokens of chat templates, with plain and full-width bars, and tags that are named for a role.
_CONTROL = re.compile(
    r"<(?=[|\uff5c][^<>|\uff5c\s]{1,64}[|\uff5c]>)"
    r"|<(?=/?(?:s|bos|eos|start_of_turn|end_of_turn|system|developer|assistant|user|human|tool|function)(?:[-_]\w+)*[\s/>])"
    r"|<(?=</?SYS>>)|\[(?=/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS)\])",
    re.IGNORECASE,
)


def quoted(text: str, speakers: Iterable[str] = ()) -> str:
    """The text with its further lines indented, so that only its first word stands where a line may begin.

    A line that begins like a header, or like a line of one of `speakers` or of a role of chat templates, is joined to
    the one before it. In control tokens of chat templates, such as `<|im_start|>`, a blank follows the bracket. No word is lost.
    """
    text = _CONTROL.sub(lambda sign: f"{sign[0]} ", text)
    if _BREAKS.search(text) is None:
        return text
    named = _SPEAKERS | {_bare(speaker) for speaker in speakers}
    lines = [line for line in _BREAKS.split(text) if line.strip()]
    quoted_lines = lines[:1]
    for line in lines[1:]:
        quoted_lines.append(" " if _poses(line, named) else _INDENT)
        quoted_lines.append(line)
    return "".join(quoted_lines)


def quoted_label(name: str) -> str:
    """A speaker or a source as one short line; in quotation marks where it is who gives instructions, or no plain name."""
    line = _CONTROL.sub(lambda sign: f"{sign[0]} ", " ".join(name.split()))
    if len(line) > _LONGEST_LABEL:
        line = f"{line[:_LONGEST_LABEL]}…"
    is_plain = _bare(line) not in _POSING and _NOT_OF_A_NAME.isdisjoint(line)
    return line if is_plain else f'"{line}"'


def _poses(line: str, named: Iterable[str]) -> bool:
    label = _LABEL.match(line)
    return _HEADER.match(line) is not None or (label is not None and _bare(label[1]) in named)


def _bare(name: str) -> str:
    return "".join([sign for sign in name.casefold() if sign.isalnum()])
