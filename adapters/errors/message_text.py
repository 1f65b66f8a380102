"""The provider's own words in a form that rules can match: without echoes, in lower case, with `#` for each number.

An error may quote the conversation: a tool's output, a user's sentence, arguments of a call. Such spans are taken out before any
rule sees the text. What is quoted as the error itself (`error: "prompt is too long"`) stays.
"""

from __future__ import annotations

import re
from typing import Final

from attrs import frozen

from .safe_access import cut

__all__ = ["ReadText", "read_text"]


@frozen(kw_only=True)
class ReadText:
    """`words` is the text for rules; `numbers` has the value of each `#` in it, None where it is no count (`128k`)."""

    words: str
    numbers: tuple[int | None, ...]
    echoed: str = ""  # what was taken out, in lower case


_SPACE: Final = "[ \u00a0\u202f\u2009]"
#: 4096 | 200,000 | 200.000 | 200 000 | 1_048_576; not inside words, dates, versions, paths, ids, prices
_NUMBER: Final = re.compile(
    r"(?<![A-Za-z0-9_.$€£¥/#\\-])(?<![A-Za-z0-9_]\[)(?<!\d:)"
    rf"(\d{{1,3}}(?:[,.'_]\d{{3}}|{_SPACE}\d{{3}}(?!\d))+|\d{{1,12}}(?:\.0)?)"
    r"( ?[kKmM](?![A-Za-z0-9_]))?"
    r"(?![A-Za-z0-9_%]|[.,:/_-]\d|-[A-Za-z]+\d)"
)
_DIGITS: Final = re.compile(r"\D+")

#: From here to the end of the line the text is somebody else's.
_ECHO_FROM: Final = re.compile(
    r"(?:\b(?:near|offending|original|received|following|user|users?'s?) (?:text|input|content|message|prompt)s?\s*:"
    r"|\bnear\s*:|\binput_value\s*=|\buser (?:wrote|said|asked|typed)\b|\bwhile (?:running|executing|calling)\b\s*:?"
    r"|\btool (?:output|result|arguments|input)s?\s*(?:was|were)?\s*:|\b(?:stdout|stderr|command|query|snippet|excerpt"
    r"|pattern|(?:llm|model) output"
    r"|transcript)\s*:"
    r"|\barguments\s*:|\btext\s*:(?=\s*[{\[\"'«])|\bgot (?:text|content)\s*:)[^\n]*",
    re.IGNORECASE,
)
#: Quoted spans of three words or more.
_QUOTED: Final = re.compile(r"\"([^\"\n]{8,2000})\"|(?<![\w'])'([^'\n]{8,2000})'(?!\w)|«([^»\n]{8,2000})»|「([^」\n]{4,2000})」")
_ERROR_BEFORE: Final = re.compile(
    r"(?:(?:message|msg|details?|reason|cause|raw|response|errors?|exception)[\"']?\s*[:=(\[>-]+|(?:errors?|exception|failed"
    r"|failure|says?|said|returned|responded)(?: with| was| is)?:?)"
    r"\s*(?:\d{3}\s*)?[\[b'\"(]{0,3}\Z",
    re.IGNORECASE,
)
_CAMEL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z][a-z])|(?<=[a-z])(?=[A-Z])")
_MARKS: Final = re.compile(r"[\s_`*\"«»\\|]+|(?<!\w)'|'(?!\w)|\.(?=\w)")
_STATUS_BEFORE: Final = re.compile(r"(?:<|\b(?:code|status|http|error|failed|returned)[:= ]{0,2}['\"(]?)\Z", re.IGNORECASE)
#: Words in an address are names of routes and pages.
_ADDRESS: Final = re.compile(r"https?://[^\s\"'<>)\]}]{1,400}")
#: Names of a check that name no input.
_HEADING: Final = re.compile(r"\b(?:input|prompt|request) (?=validation error)")
_TAGS: Final = re.compile(r"<[a-zA-Z/!][^<>\n]{0,200}>")
_PLAIN: Final = str.maketrans(
    {
        "\u2018": "'",
        "\u2019": "'",
        "\u00b4": "'",
        "\u201c": '"',
        "\u201d": '"',
        "\uff08": "(",
        "\uff09": ")",
        "\uff0c": ", ",
        "\uff1a": ": ",
        "\uff1b": "; ",
        "\u3002": ". ",
    }
)


def read_text(text: str) -> ReadText:
    """Take out echoes, mask numbers, and bring to one form."""
    echoes: list[str] = []
    kept = _TAGS.sub(" ", _ADDRESS.sub("; ", cut(text)).translate(_PLAIN).replace('\\"', '"').replace("\\n", "\n"))
    kept = _ECHO_FROM.sub(lambda found: _taken(found, echoes), kept)
    kept = _QUOTED.sub(lambda found: _taken(found, echoes) if _is_echo(found) else f" {found[0]} ", kept)
    numbers: list[int | None] = []
    masked = _NUMBER.sub(lambda found: _masked(found, numbers), kept.replace("#", " "))
    words = _HEADING.sub(" ", _MARKS.sub(" ", _CAMEL.sub(" ", masked)).lower())
    return ReadText(words=" ".join(words.split()), numbers=tuple(numbers), echoed=" ".join(echoes).lower())


def _taken(found: re.Match[str], echoes: list[str]) -> str:
    echoes.append(found[0])
    return " … "


def _is_echo(found: re.Match[str]) -> bool:
    inner = next(one for one in found.groups() if one is not None)
    if len(inner.split()) < 3 and not re.search("[\u3040-\u9fff\uac00-\ud7af]{6}", inner):
        return False
    return _ERROR_BEFORE.search(found.string[max(0, found.start() - 40) : found.start()]) is None


def _masked(found: re.Match[str], numbers: list[int | None]) -> str:
    """`#`, or the digits themselves where they are a status such as `<400>` or `Error code: 400`."""
    digits = found[1]
    if len(digits) == 3 and digits[0] in "45" and _STATUS_BEFORE.search(found.string[max(0, found.start() - 12) : found.start()]):
        return found[0]
    value = int(_DIGITS.sub("", digits.removesuffix(".0")))
    numbers.append(None if found[2] else value)
    return "#"
