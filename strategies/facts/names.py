"""Proper names in a text: capitalised runs, titles in Chinese marks, code in backticks."""

from __future__ import annotations

import re
from collections.abc import Iterator

from attrs import frozen

from contextport.contracts.facts import FactKind

from .words import STOP_WORDS

__all__ = ["Name", "names_in"]


@frozen
class Name:
    """A name at `start` of the text."""

    kind: FactKind
    start: int
    text: str


_UPPER = "A-Z\u00c0-\u00d6\u00d8-\u00de\u0391-\u03a9\u0410-\u042f"
_CAPITAL = rf"[{_UPPER}][^\W\d_\u3040-\u9fff]*+(?:['\u2019-][^\W\d_\u3040-\u9fff]++)*+"
_BESIDE = "A-Za-z0-9_@/\u00c0-\u024f\u0370-\u04ff"  # next to these, a word is a part of something else
_RUN = re.compile(
    rf"(?<![{_BESIDE}.])({_CAPITAL}(?:(?: (?:of|de|van|von|la|le|the|and|&))? {_CAPITAL}){{0,6}})(?![{_BESIDE}]|-[0-9])"
)
_MARKED = re.compile(
    r"《([^》\n]{1,60})》|「([^」\n]{1,60})」|『([^』\n]{1,60})』|(?:我叫|名叫|叫做|我是|姓名[\uff1a:是])([\u4e00-\u9fff·]{2,4})(?![\u4e00-\u9fff])"
)
_CODE = re.compile(r"(?<!`)`([^`\n]{1,80})`(?!`)")
_DAYS = re.compile(
    r"(?<![A-Za-z])(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day(?![A-Za-z])|(?:下|上|本|这)?(?:星期|周|礼拜)[一二三四五六日天末]|(?:今|明|后|昨)天"
)
_SENTENCE_BEFORE = re.compile(r"(?:\A|[.!?:*#>\-\u3002\uff01\uff1f\uff1a\n\"(])\s*\Z")
_OPENERS = """
hi hello hey dear sorry great perfect also however note today error none null true false hold maybe id ids i'd that's what's he's
she's we're you're they're monday tuesday wednesday thursday friday saturday sunday fridays mondays
"""
_VERBS = """
welcome thanks understood noted confirmed booked ordered cancelled canceled called asked told sent moved added updated created
call ask tell email contact meet invite send give remind book order cancel use add move ship deliver visit thank morning afternoon
evening congratulations regarding ticket re cc yes no ok done pick choose check confirm follow buy pay fly drive please never
always tried found fixed see read open close find try run start stop keep put set write show let's
"""
_CODES_TEXT = """
EUR USD GBP CHF JPY CNY RMB AUD CAD INR SEK NOK DKK PLN CZK HUF KRW HKD SGD NZD BRL MXN ZAR TRY
INFO WARN WARNING ERROR DEBUG TRACE FATAL CRITICAL PASSED FAILED SKIPPED OK GET POST PUT TODO UTC GMT
"""
_CODES = frozenset(_CODES_TEXT.split())  # of currencies, and of logs
_NEVER = frozenset(["i", "i'm", "i'll", "i've", *_OPENERS.split()])
_NO_NAMES = STOP_WORDS | _NEVER | frozenset(_VERBS.split())


def names_in(text: str) -> Iterator[Name]:
    """The names of a text. A single capitalised word that opens a sentence is none, for most words do that."""
    for match in _RUN.finditer(text):
        run, start = match[0], match.start()
        words = run.split()
        opens = _opens(text, start)
        while words and words[0].lower() in (_NO_NAMES if opens else _NEVER):
            start += len(words[0]) + 1
            words, opens = words[1:], False
        while words and (words[0] in _CODES):
            start += len(words[0]) + 1
            words, opens = words[1:], False
        while words and (words[-1].lower() in _NO_NAMES or words[-1] in _CODES):
            words = words[:-1]
        if words and not (len(words) == 1 and _is_plain(words[0], opens)):
            yield Name(FactKind.ENTITY, start, " ".join(words))
    if "`" in text:
        for match in _CODE.finditer(text):
            yield Name(FactKind.IDENTIFIER, match.start(1), match[1])
    if not text.isascii():
        for match in _MARKED.finditer(text):
            yield Name(FactKind.ENTITY, match.start(match.lastindex or 0), match[match.lastindex or 0])
    for match in _DAYS.finditer(text):
        yield Name(FactKind.DATE, match.start(), match[0])


def _opens(text: str, start: int) -> bool:
    """Whether a sentence, a line or a quotation begins there."""
    return bool(_SENTENCE_BEFORE.search(text[max(0, start - 6) : start]))


def _is_plain(word: str, opens: bool) -> bool:
    """Whether the word may have its capital only from its place, or is an initial."""
    return len(word) == 1 or (opens and not word.isupper())
