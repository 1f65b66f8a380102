"""Where the exact values of a text are: what must be kept to the letter, such as order numbers, amounts, dates and paths.

Each pattern reads the text once from left to right and blanks what it took, so the next one does not read it again. No
pattern can match the same text in two ways, and none is longer than a bound, so time grows with the length of the text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from decimal import Decimal
from re import Match, Pattern

from attrs import frozen

from contextport.contracts.facts import FactKind

from .date_forms import DATES, TERMS, TIMES, date_forms, term_forms, time_forms
from .path_forms import LETTER, PATHS, REMOTE_PATHS, path_forms, remote_path_forms

__all__ = ["FoundValue", "as_ascii", "found_values"]


@frozen
class FoundValue:
    """A value at `start` to `end` of the text. `forms` are its normalised form and those parts of it that can be said alone."""

    kind: FactKind
    start: int
    end: int
    forms: tuple[str, ...]


_WORD = f"[{LETTER}0-9_]"

_WIDE = re.compile(r"[\uff01-\uff5e]+")
_WIDE_WORD = re.compile(r"[\uff10-\uff19\uff21-\uff3a\uff41-\uff5a]")
_FOREIGN_DIGIT = re.compile(r"[^\D0-9]")
_LIST_NUMBER = re.compile(r"^[ \t]{0,12}\(?[0-9]{1,3}(?:[.)](?=\s)|\u3001)", re.MULTILINE)
_URL = re.compile(r"(?<![A-Za-z0-9])(?:[A-Za-z][A-Za-z0-9+.-]{1,15}://|www\.)[!#-&*-;=?-Z_a-z~]{1,2000}")
_EMAIL = re.compile(r"(?<![A-Za-z0-9._%+-])[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,8}")
_GROUPED = re.compile(r"(?<![\w.])(?<![0-9],)[0-9]{1,3}(?:,[0-9]{3}){1,10}(?:\.[0-9]{1,20})?(?![0-9]|,[0-9])", re.ASCII)
_TOKEN = re.compile(f"#?{_WORD}++(?:[-.]{_WORD}++)*+")

_EXACT = re.compile("[0-9_]|[a-z][A-Z]|[.]")  # without one of these a word is only a word
_NUMBER = re.compile(r"[0-9]{1,40}(?:\.[0-9]{1,40})?")
_RANGE = re.compile(r"([0-9]{1,40}(?:\.[0-9]{1,40})?)-([0-9]{1,40}(?:\.[0-9]{1,40})?)")
_UNIT = (
    "ms|us|ns|s|sec|secs|min|mins|h|hr|hrs|d|kg|g|mg|lb|lbs|oz|km|m|cm|mm|mi|ft|in|px|pt|em|rem|kb|mb|gb|tb|pb|kib|mib|gib|tib|"
    "hz|khz|mhz|ghz|w|kw|kwh|v|mv|ma|mah|l|ml|x|k|usd|eur|gbp|rmb|cny|jpy|bn|mn|st|nd|rd|th|am|pm|mph|kmh|dpi|fps|rpm|bps|kbps|mbps|gbps"
)
_WITH_UNIT = re.compile(rf"([0-9]{{1,40}}(?:\.[0-9]{{1,40}})?)-?({_UNIT}|(?<=-)[a-z]{{3,}}(?:-[a-z]+)*)", re.IGNORECASE)
_DOTTED = re.compile(rf"[{LETTER}_]{{2,}}(?:\.[a-z_][{LETTER}_]+)+")
_FILE = re.compile(
    r"\.(?:py|pyi|js|jsx|ts|tsx|json|jsonl|ya?ml|toml|md|rst|txt|csv|tsv|html?|css|scss|go|rs|java|kt|c|h|cc|cpp|hpp|cs|rb|php|sh|"
    r"bat|ps1|log|xml|pdf|png|jpe?g|gif|svg|docx?|xlsx?|pptx?|zip|gz|tar|whl|sql|db|ini|cfg|conf|env|lock|ipynb|patch|diff)\Z"
)
_PERCENT_AFTER = re.compile(r"\s?(?:%|\uff05|percent\b|per cent\b)")
_SCALE_AFTER = {"千": 1000, "万": 10_000, "萬": 10_000, "亿": 100_000_000, "億": 100_000_000}
_LONGEST = 512  # of a token; what is longer is data, not a name for something
_ID_DIGITS = 6  # a plain run of so many digits is a number of something, not an amount


def as_ascii(text: str) -> str:
    """The text with full-width signs of values, and digits of any script, as ASCII; as long as before."""
    if text.isascii():
        return text
    if _WIDE_WORD.search(text):
        text = _WIDE.sub(_narrow, text)
    return _FOREIGN_DIGIT.sub(lambda match: str(unicodedata.digit(match[0], 0)), text)


def _narrow(match: Match[str]) -> str:
    run = match[0]
    return "".join([chr(ord(sign) - 0xFEE0) for sign in run]) if _WIDE_WORD.search(run) else run


def found_values(text: str) -> list[FoundValue]:
    """The exact values of a text, in order."""
    found: list[FoundValue] = []
    rest = as_ascii(text)
    if "://" in rest or "www." in rest:
        rest = _taken(_URL, rest, found, _url)
    if "@" in rest:
        rest = _taken(REMOTE_PATHS, rest, found, lambda match: _of_path(match, remote_path_forms(match)))
        rest = _taken(_EMAIL, rest, found, lambda match: (FactKind.IDENTIFIER, match.end(), (match[0].lower(),)))
    if "/" in rest or "\\" in rest:
        for pattern in DATES[:1]:
            rest = _taken(pattern, rest, found, _date)
        rest = _taken(PATHS, rest, found, _path)
    if not rest.isascii() or _EXACT.search(rest):
        rest = _LIST_NUMBER.sub(lambda match: " " * len(match[0]), rest)
        for pattern in DATES:
            rest = _taken(pattern, rest, found, _date)
        for pattern in TERMS:
            rest = _taken(pattern, rest, found, _term)
        for pattern in TIMES:
            rest = _taken(pattern, rest, found, _time)
        rest = _taken(_GROUPED, rest, found, _grouped)
        found += _tokens(rest)
    return sorted(found, key=lambda value: value.start)


_Reading = tuple[FactKind, int, tuple[str, ...]]


def _taken(pattern: Pattern[str], text: str, found: list[FoundValue], read: Callable[[Match[str]], _Reading | None]) -> str:
    """The text with blanks where the pattern found values."""

    def replaced(match: Match[str]) -> str:
        reading = read(match)
        if reading is None:
            return match[0]
        kind, end, forms = reading
        found.append(FoundValue(kind, match.start(), end, forms))
        return " " * (end - match.start()) + match[0][end - match.start() :]

    return pattern.sub(replaced, text)


def _url(match: Match[str]) -> _Reading:
    address = match[0].rstrip(".,;:!?*")
    return FactKind.PATH, match.start() + len(address), (address.rstrip("/"),)


def _path(match: Match[str]) -> _Reading | None:
    forms = path_forms(match)
    return _of_path(match, forms) if forms else None


def _of_path(match: Match[str], forms: tuple[str, ...]) -> _Reading:
    return FactKind.PATH, match.start() + len(forms[0]), (forms[0].rstrip("/"), *forms[1:])


def _date(match: Match[str]) -> _Reading | None:
    forms = date_forms(match)
    return (FactKind.DATE, match.end(), forms) if forms else None


def _term(match: Match[str]) -> _Reading:
    return FactKind.DATE, match.end(), term_forms(match)


def _time(match: Match[str]) -> _Reading | None:
    forms = time_forms(match)
    return (FactKind.DATE, match.end(), forms) if forms else None


def _grouped(match: Match[str]) -> _Reading:
    forms, end = _amount(match[0].replace(",", ""), match.string, match.end())
    return FactKind.NUMBER, end, forms


def _amount(digits: str, text: str, end: int) -> tuple[tuple[str, ...], int]:
    """The forms of a number that ends there, and where it ends with its percent sign or scale."""
    plain = digits[:-3] if digits.endswith(".00") else digits
    scale = _SCALE_AFTER.get(text[end : end + 1])
    if scale:
        return (_scaled(plain, scale),), end + 1
    percent = _PERCENT_AFTER.match(text, end)
    return ((plain + "%", plain), percent.end()) if percent else ((plain,), end)


def _scaled(digits: str, scale: int) -> str:
    value = Decimal(digits) * scale
    return format(value.quantize(Decimal(1)) if value == value.to_integral_value() else value.normalize(), "f")


def _tokens(text: str) -> Iterator[FoundValue]:
    for match in _TOKEN.finditer(text):
        token = match[0]
        if _EXACT.search(token) and len(token) <= _LONGEST:
            yield from _classified(token, match.start(), text)


def _classified(token: str, start: int, text: str) -> Iterator[FoundValue]:
    end = start + len(token)
    name = token.removeprefix("#")
    if not any(sign in "0123456789" for sign in name):
        if _is_symbol(name):
            yield FoundValue(FactKind.PATH if _FILE.search(name) else FactKind.IDENTIFIER, start, end, (name,))
    elif _NUMBER.fullmatch(name):
        whole = name.isdigit() and (len(name) >= _ID_DIGITS or (len(name) > 1 and name[0] == "0"))
        forms, end = _amount(name, text, end)
        yield FoundValue(FactKind.IDENTIFIER if whole or token[0] == "#" else FactKind.NUMBER, start, end, forms)
    elif both := _RANGE.fullmatch(name):
        middle = start + len(both[1])
        yield FoundValue(FactKind.NUMBER, start, middle, (both[1],))
        forms, end = _amount(both[2], text, end)
        yield FoundValue(FactKind.NUMBER, middle + 1, end, forms)
    elif (amount := _WITH_UNIT.fullmatch(name)) and token[0] != "#":
        yield FoundValue(FactKind.NUMBER, start, end, (_scaled(amount[1], 1000) if amount[2] in "kK" else amount[1],))
    else:
        yield FoundValue(FactKind.PATH if _FILE.search(name) else FactKind.IDENTIFIER, start, end, (name,))


def _is_symbol(name: str) -> bool:
    """Whether a word without digits is a name out of a program."""
    bare = name.strip("_")
    return bool("_" in bare or _DOTTED.fullmatch(name) or re.search("[a-z][A-Z]", name)) or (
        len(bare) > 1 and name.startswith("__") and name.endswith("__")
    )
