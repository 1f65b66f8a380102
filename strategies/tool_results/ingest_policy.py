"""What of a new tool result goes into the conversation; the log keeps the whole one as a record (R159 to R164)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, cast

from attrs import field, frozen

from contextport.contracts import (
    Importance,
    InvalidArgument,
    Kind,
    Message,
    TokenCounter,
    ToolCall,
    ToolResult,
    dump_message,
    load_message,
    verify,
)
from contextport.strategies.head_and_tail import shorten_text
from contextport.strategies.text_markers import REPEAT_CALL, characters_missing, left_out

from .held_results import result_tokens, with_result_within
from .ingest_rules import INGEST_RULES, IngestRule
from .json_spans import is_json
from .json_text import shrink_json
from .plain_text import ends_and_errors
from .shapes import LOG, SUITE_REPORT, Cut, shape_of

__all__ = ["IngestPolicy", "original_of", "original_record"]

_HEAD_SHARES = {"head": 1.0, "tail": 0.0, "head_and_tail": 0.5}
_PATH_NAMES = ("path", "file_path", "filePath", "filepath", "filename", "file_name", "file", "target_file", "uri")
_LINE_NAMES = ("start_line", "startLine", "line_start", "from_line", "offset")
_LONGEST_PATH = 120  # characters; a marker with a longer one would not read as a marker
_LEAST_TOKENS = 64  # of a result, however small the window is
_ORIGINAL = "original"


def _rules_of(rules: Iterable[IngestRule]) -> tuple[IngestRule, ...]:
    wrong: object = rules
    if isinstance(rules, Iterable):
        found = tuple(rules)
        wrong = next((rule for rule in found if not isinstance(rule, IngestRule)), None)
        if wrong is None:
            return found
    raise InvalidArgument(
        f'{wrong!r:.80} is no rule; rules must be a list of IngestRule, such as IngestRule(name="logs", tools=("get_logs",))',
        name="rules",
        value=wrong,
    )


@frozen
class IngestPolicy:
    """Shortens tool results on their way in: how much and which ends, by the first rule that matches the tool's name.

    A JSON text stays JSON; other text is cut between grapheme clusters, with markers that say how much is missing and how to
    get it back. Where both ends are kept, logs and reports of test runs keep their errors and the summary before them, and other
    text a few lines that tell of errors. Pinned results and those of importance CONCLUSION or more come in whole. Media are not
    touched.
    """

    counter: TokenCounter
    rules: tuple[IngestRule, ...] = field(default=INGEST_RULES, converter=_rules_of)

    def __attrs_post_init__(self) -> None:
        verify(self.counter, TokenCounter)
        names = [rule.name for rule in self.rules]
        if len(set(names)) != len(names):
            raise InvalidArgument(f"two rules have one name: {', '.join(names)}; give each its own", name="rules")

    def with_rule(self, rule: IngestRule) -> IngestPolicy:
        """The policy with this rule in place of the one of its name; a rule of a new name is asked before all others."""
        if any(rule.name == one.name for one in self.rules):
            return IngestPolicy(self.counter, tuple(rule if rule.name == one.name else one for one in self.rules))
        return IngestPolicy(self.counter, (rule, *self.rules))

    def rule_for(self, tool: str) -> IngestRule | None:
        """The rule for the tool of this name; None if no rule matches, and its results come in whole."""
        return next((rule for rule in self.rules if rule.matches(tool)), None)

    def shortened(self, message: Message, calls: Mapping[str, ToolCall], *, most: int | None = None) -> Message | None:
        """The message with its too large results shortened; None when there is nothing to do.

        `calls` holds the calls by their ids: they tell which tool answered, and with what arguments. A result whose call is not
        among them goes by its own name. `most` is how many tokens a result may keep whatever its rule says, 64 at least; results
        of rules that keep all come in whole all the same.
        """
        if message.pinned or message.importance >= Importance.CONCLUSION:
            return None
        shorter = message
        for n, part in enumerate(message.parts):
            if not isinstance(part, ToolResult) or part.executor != "client":
                continue
            call = calls.get(part.call_id)
            rule = self.rule_for(call.name if call is not None else part.name or message.name or "")
            if rule is None or rule.keep == "all":
                continue
            limit = rule.max_tokens if most is None else min(rule.max_tokens, max(most, _LEAST_TOKENS))
            if result_tokens(message, n, self.counter) > limit:
                shorter = with_result_within(shorter, n, self.counter, limit, _cut_by(rule, call))
        return None if shorter is message else shorter


def original_record(message: Message) -> Message:
    """The log entry that keeps a message whole beside its shortened form. It is never in a window."""
    id = f"{message.id}/{_ORIGINAL}"
    return Message(role="system", parts=(), id=id, kind=Kind.RECORD, metadata={_ORIGINAL: dump_message(message)})


def original_of(record: Message) -> Message:
    """The message that `original_record` wrote. Raises `InvalidArgument` for any other message."""
    stored = record.metadata.get(_ORIGINAL)
    if record.kind is not Kind.RECORD or not isinstance(stored, str):
        raise InvalidArgument(f"the message {record.id!r} is not the record of an original", value=record.id)
    return load_message(stored)


def _cut_by(rule: IngestRule, call: ToolCall | None) -> Cut:
    def cut(text: str, fits: Callable[[str], bool]) -> str | None:
        if is_json(text):
            return shrink_json(text, fits)
        found: str | None = None
        if rule.keep == "head_and_tail" and not rule.rereads:
            shape = shape_of(text)
            found = shape.shrink(text, fits) if shape in (LOG, SUITE_REPORT) else ends_and_errors(text, fits)
        return found if found is not None else shorten_text(text, fits, _HEAD_SHARES[rule.keep], marker)

    def marker(text: str, head: int, tail: int) -> str:
        how = _read_again(call, text.count("\n", 0, head)) if rule.rereads else REPEAT_CALL
        return left_out(characters_missing(text, head, tail), "character", how)

    return cut


def _read_again(call: ToolCall | None, lines_kept: int) -> str:
    """How to read the rest of a file: which file, and from which line, as far as the call's arguments tell."""
    arguments = _arguments(call)
    path = next((value for name in _PATH_NAMES if isinstance(value := arguments.get(name), str) and value.isprintable()), "")
    starts = [arguments.get(name) for name in _LINE_NAMES]
    first = next((start for start in starts if isinstance(start, int) and start > 0), 1)
    what = path if 0 < len(path) <= _LONGEST_PATH else "the file"
    return f"read {what} again from line {first + lines_kept}"


def _arguments(call: ToolCall | None) -> dict[str, Any]:
    try:
        value = json.loads(call.arguments) if call is not None else {}
    except (ValueError, RecursionError):
        return {}
    return cast(dict[str, Any], value) if isinstance(value, dict) else {}
