"""What a model wrote as a summary, read whatever its form and its language (R117, R128, W8, W29)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, cast

from attrs import evolve

from contextport.contracts import Json, Message
from contextport.contracts.facts import Fact, FactKind
from contextport.contracts.summary import Summary

from .preamble import without_preamble
from .summary_message import HEADING
from .transcript import pieces_of

__all__ = ["UnreadableAnswer", "facts_in", "read_answer"]

_LISTS = ("decisions", "constraints", "open", "done", "conclusions")
_TAGS = {"decided": "decisions", "must": "constraints", "open": "open", "done": "done", "found": "conclusions"}
_TAGGED = re.compile(rf"^[\s>*•-]*+\[({'|'.join(_TAGS)})\]\s*:?[ \t]*(.*)$", re.IGNORECASE)
_THOUGHT_TAG = re.compile(r"<(/?)(think|thinking|thought|reasoning|scratchpad|analysis|reflection)\b[^<>]{0,80}>", re.IGNORECASE)
_ENVELOPE = re.compile(r"^\s*<(summary|answer|output)\b[^>]*>(.*?)(?:</\1\s*>.*)?$", re.DOTALL | re.IGNORECASE)
_FENCE = "```"
_OBJECT = re.compile(r"^[ \t]*(\{)", re.MULTILINE)
_FENCED = re.compile(r"```[\w-]*+\n?(.*?)```", re.DOTALL)
_WRAPPERS = ("summary", "arguments", "input", "parameters", "output", "result", "answer", "response")
_QUOTED_LINE = re.compile(r"^> ?", re.MULTILINE)


class UnreadableAnswer(ValueError):
    """The answer is neither prose nor a form that can be read."""


def read_answer(text: str) -> Summary:
    """The summary that a model wrote: a JSON object with the fields of `Summary`, lines with its tags, or else prose.

    The object may stand in a fence, and have words before or after it, which are not part of the summary. Sections in which a
    model thinks (`<think>`, `<scratchpad>` and the like) are taken out first, one without an end up to the end of the text. The
    object may be wrapped in one other, such as `{"summary": ...}` or a call of a function. No heading is looked for, so the
    language does not matter. Facts are not read here (see `facts_in`).

    Raises `UnreadableAnswer` for a JSON object with a summary's fields that is broken, and for other JSON alone.
    """
    said = _said(text)
    found = _object_in(said)
    if found is not None:
        return _of_json(found)
    fenced = _FENCED.fullmatch(said)
    if fenced:
        said = fenced[1].strip()
    elif said.startswith(_FENCE):
        said = said.partition("\n")[2].removesuffix(_FENCE)
    _refuse_foreign(said)
    return _of_lines(without_preamble(said))


def facts_in(text: str, messages: Sequence[Message]) -> tuple[Fact, ...]:
    """The facts that an answer in JSON names, those of them that stand word for word in the messages, with their sources."""
    found = _object_in(_said(text))
    wanted = _entries(None if found is None else found.get("facts"))
    return tuple(_sourced(wanted, messages)) if wanted else ()


def _said(text: str) -> str:
    """The text without what the model thought, without an envelope around it, and not as a quotation."""
    text = _without_thoughts(text.lstrip("\ufeff"))
    lines = [line for line in text.splitlines() if line.strip()]
    if lines and all(line.startswith(">") for line in lines):
        text = _QUOTED_LINE.sub("", text)
    enveloped = _ENVELOPE.match(text)
    return (enveloped[2] if enveloped else text).strip()


def _without_thoughts(text: str) -> str:
    """The text without sections of thought: one without an end, if the text begins with it, and one that the prompt began."""
    kept: list[str] = []
    at, within = 0, ""
    for tag in _THOUGHT_TAG.finditer(text):
        ends, name = bool(tag[1]), tag[2].lower()
        if not within and not ends:
            kept.append(text[at : tag.start()])
            at, within = tag.start(), name
        elif ends and within in ("", name):
            kept = kept if within else []
            at, within = tag.end(), ""
    said = "".join(kept)
    return said if within and not said.strip() else said + text[at:]


def _object_in(text: str) -> dict[str, Any] | None:
    """The first JSON object that begins a line and has fields of a summary."""
    decoder = json.JSONDecoder(strict=False)  # line ends inside of strings are a usual slip
    for match in _OBJECT.finditer(text):
        try:
            value, _ = decoder.raw_decode(text, match.start(1))
        except (ValueError, RecursionError):
            if match.start() == 0 or text.startswith(_FENCE):
                _refuse_broken(text)
            continue
        found = _unwrapped(value)
        if found is not None:
            return found
    return None


def _unwrapped(value: Any, depth: int = 0) -> dict[str, Any] | None:
    """The fields of a summary that a value is, in small letters, or that stand one or two objects further in."""
    if isinstance(value, str) and value.lstrip()[:1] == "{":
        try:
            value = json.loads(value, strict=False)  # the arguments of a call
        except (ValueError, RecursionError):
            return None
    if not isinstance(value, dict):
        return None
    fields = {str(name).lower(): one for name, one in cast(dict[str, Any], value).items()}
    if _is_summary(fields):
        return fields
    for name in _WRAPPERS:
        inner = fields.get(name)
        found = _unwrapped(inner, depth + 1) if depth < 2 else None
        if found is not None:
            return found
        if name == "summary" and isinstance(inner, str | list) and inner:
            return {"text": inner}
    return None


def _is_summary(value: Mapping[str, Json]) -> bool:
    lists = [value[name] for name in _LISTS if name in value]
    texts = [value["text"]] if "text" in value else []
    named = bool(lists or texts)
    return named and all(one is None or isinstance(one, list | str) for one in (*lists, *texts))


def _refuse_foreign(text: str) -> None:
    """Raise for an answer that is JSON and nothing else: no words of a summary are in it."""
    if text[:1] not in ("{", "["):
        return
    try:
        value = json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return
    if value:
        raise UnreadableAnswer("it is JSON without the fields of a summary")


def _refuse_broken(text: str) -> None:
    if any(f'"{name}"' in text for name in (*_LISTS, "text")):
        raise UnreadableAnswer("the JSON object is not complete or not valid")


def _of_json(value: Mapping[str, Json]) -> Summary:
    lists: dict[str, Any] = {name: tuple(dict.fromkeys(_items(value.get(name)))) for name in _LISTS}
    return Summary(text="\n".join(_items(value.get("text"))), **lists)


def _items(value: Json) -> Iterator[str]:
    """The texts of a value of any shape, each in one line."""
    if isinstance(value, list):
        for one in cast(list[Any], value):
            yield from _items(one)
    elif isinstance(value, dict):
        given = cast(dict[str, Any], value)
        if set(given) == {"text"}:
            yield from _items(given["text"])
            return
        told = {str(key): " ".join(_items(one)) for key, one in given.items()}
        line = "; ".join(f"{key}: {said}" for key, said in told.items() if said)
        if line:
            yield line
    elif value is not None:
        line = " ".join(str(value).split())
        if line:
            yield line


def _of_lines(text: str) -> Summary:
    lists: dict[str, list[str]] = {name: [] for name in _LISTS}
    prose: list[str] = []
    for line in text.removeprefix(HEADING).splitlines():
        tagged = _TAGGED.match(line)
        if tagged is None:
            prose.append(line.rstrip())
        elif tagged[2].strip():
            lists[_TAGS[tagged[1].lower()]].append(tagged[2].strip())
    items: dict[str, Any] = {name: tuple(dict.fromkeys(found)) for name, found in lists.items()}
    return Summary(text="\n".join(prose).strip(), **items)


def _entries(value: Json) -> list[tuple[FactKind, str]]:
    kinds = {str(kind): kind for kind in FactKind}
    given = cast(list[Any], value) if isinstance(value, list) else []
    objects = [cast(dict[str, Any], one) for one in given if isinstance(one, dict)]
    named = [(kinds.get(str(one.get("kind"))), str(one.get("text", "")).strip()) for one in objects]
    return list(dict.fromkeys((kind, text) for kind, text in named if kind is not None and text))


def _sourced(wanted: Iterable[tuple[FactKind, str]], messages: Sequence[Message]) -> Iterator[Fact]:
    said = [(message, "\n".join(piece.text for piece in pieces_of([message]))) for message in messages]
    for kind, text in wanted:
        sources = [message for message, words in said if text in words]
        if sources:
            fact = Fact(kind=kind, text=text, role=sources[0].role)
            yield evolve(fact, sources=tuple(message.id for message in sources))
