"""The items of an export as lines of text."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, Final, cast

from .log_lines import shown, span_text, time_text
from .mode_lines import change_text

__all__ = ["SECTIONS", "heading_text", "text_lines"]

Dict = dict[str, Any]
SECTIONS: Final = ("messages", "summaries", "facts", "transitions")


def heading_text(about: Dict) -> str:
    """What was exported, in one line."""
    mode = f", in mode {about['mode']}" if about["mode"] else ""
    return f"session {shown(about['session_id'])}, epoch {about['epoch']} of {about['epochs']}, {about['folds']:,} folds{mode}"


def text_lines(section: str, item: Dict) -> Iterator[str]:
    """An item of a section: a line about it, then what it says, indented."""
    return _WRITERS[section](item)


def _message(item: Dict) -> Iterator[str]:
    marks = [f"id {item['id']}"]
    if item["kind"] != "chat":
        marks.append(item["kind"])
    if item["pinned"]:
        marks.append("pinned")
    if item["replaced_by"] is not None:
        marks.append(f"in summary {item['replaced_by']}")
    roles = item["chat"][0]["role"] if item["chat"] else ""
    about = f"{item['seq']:>6} {time_text(item['at']):<19} {item['tokens']:>7,}  {roles}  {', '.join(marks)}"
    yield shown(about)
    for chat in item["chat"]:
        yield from _indented("\n".join(_said(chat)))


def _said(chat: Dict) -> Iterator[str]:
    """What a chat dict says: its texts, the type of anything else, its calls."""
    if chat.get("tool_call_id") is not None:
        yield f"[answers {chat['tool_call_id']}]"
    content = chat.get("content")
    parts = cast(list[Any], content) if isinstance(content, list) else [] if content is None else [content]
    for part in parts:
        yield part if isinstance(part, str) else _part(part)
    for call in chat.get("tool_calls") or []:
        yield f"[calls {_called(call)}, id {call.get('id')}]"


def _part(part: Any) -> str:
    if not isinstance(part, dict):
        return json.dumps(part, ensure_ascii=False)
    held = cast(Dict, part)
    kind = str(held.get("type", "part"))
    text = held.get("text" if kind == "text" else kind)
    if kind == "text" and isinstance(text, str):
        return text
    return f"[{kind}] {text}" if isinstance(text, str) else f"[{kind}]"


def _called(call: Dict) -> str:
    function = call.get("function")
    if not isinstance(function, dict):
        return str(call.get("type", "a tool"))
    held = cast(Dict, function)
    return f"{held.get('name')}({held.get('arguments')})"


def _summary(item: Dict) -> Iterator[str]:
    covers, own = item["covers"], item["folded_here"]
    took = f", takes over {item['takes_over']}" if item["takes_over"] else ""
    after = f", replaced by {item['replaced_by']}" if item["replaced_by"] else ", live"
    stands = f"{item['messages']:,} messages of {item['message_tokens']:,} tokens, {span_text(covers['first'], covers['last'])}"
    here = f", folded here: {span_text(own['first'], own['last'])}" if own["first"] <= own["last"] else ""
    by = f", by {item['origin']}" if item["origin"] else ""
    yield shown(f"  {item['id']}, {item['tokens']:,} tokens{by}{after}{took}")
    yield f"    stands for {stands}{here}{_kept(covers['kept'])}"
    yield from _indented(item["text"])


def _kept(kept: list[int]) -> str:
    return f"; left standing: {', '.join(map(str, kept))}" if kept else ""


def _fact(item: Dict) -> Iterator[str]:
    label = f"{item['label']}: " if item.get("label") else ""
    more = [item["state"]] if "state" in item else []
    if item.get("earlier"):
        more.append(f"before: {' | '.join(item['earlier'])}")
    if item.get("sources"):
        more.append(f"said in {', '.join(item['sources'])}")
    about = f" ({'; '.join(more)})" if more else ""
    yield shown(f"  {item['kind']:<11} {label}{item['text']}{about}")


def _transition(item: Dict) -> Iterator[str]:
    name = item["transition"]
    if name == "begin":
        yield f"  epoch {item['epoch']} begins at entry {item['first']}" if item["first"] else f"  epoch {item['epoch']} is empty"
    elif name == "clear":
        yield f"  epoch {item['epoch']} is cleared after entry {item['last']}"
    else:
        yield from _ENTRIES[name](f"{item['seq']:>6} {time_text(item['at']):<19}", item)


def _prompt(head: str, item: Dict) -> Iterator[str]:
    yield f"{head} system prompt of {item['tokens']:,} tokens"
    yield from _indented(item["text"])


def _record(head: str, item: Dict) -> Iterator[str]:
    metadata = json.dumps(item["metadata"], ensure_ascii=False) if item["metadata"] or not item["text"] else ""
    yield shown(" ".join(filter(None, [head, " ".join(item["text"].split()), metadata])))


def _mode(head: str, item: Dict) -> Iterator[str]:
    yield shown(f"{head} {change_text(item)}")


def _fold(head: str, item: Dict) -> Iterator[str]:
    status = {True: "", False: ", not committed", None: ", perhaps not committed"}[item["committed"]]
    into = f"summary {item['summary']}" if item["summary"] else "no summary"
    by = f" by {item['origin']}" if item["origin"] else ""
    yield shown(f"{head} fold into {into}{by}{status}")
    covers = item["covers"]
    stands = f"{item['messages']:,} messages of {item['message_tokens']:,} tokens, {span_text(covers['first'], covers['last'])}"
    yield f"    covers {stands}{_kept(covers['kept'])}"
    if item["shortened"]:
        yield shown(f"    shortened {', '.join(item['shortened'])}: {item['shortening_saved']:,} tokens saved")
    why = f"; {item['reason']}" if item["reason"] else ""
    yield shown(f"    window {item['tokens_before']:,} to {item['tokens_after']:,} tokens{why}")
    if item["input_tokens"] or item["output_tokens"]:
        yield f"    {item['input_tokens']:,} tokens read and {item['output_tokens']:,} written by models"
    for fault in item["refused"]:
        yield shown(f"    refused: {fault}")


def _indented(text: str) -> Iterator[str]:
    for line in text.split("\n") if text else []:
        yield f"      {shown(line.expandtabs(4))}".rstrip()


_WRITERS: Final[dict[str, Callable[[Dict], Iterator[str]]]] = {
    "messages": _message,
    "summaries": _summary,
    "facts": _fact,
    "transitions": _transition,
}
_ENTRIES: Final[dict[str, Callable[[str, Dict], Iterator[str]]]] = {
    "system_prompt": _prompt,
    "record": _record,
    "mode": _mode,
    "fold": _fold,
}
