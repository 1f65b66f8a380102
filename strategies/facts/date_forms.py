"""Dates and times as they are written in English and Chinese, and one form for each."""

from __future__ import annotations

import re
from re import Match

__all__ = ["DATES", "TERMS", "TIMES", "date_forms", "term_forms", "time_forms"]

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = (
    r"(?P<name>(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?|"
    r"Nov(?:ember)?|Dec(?:ember)?)\b\.?)"
)
_DAY = r"(?P<day>[0-3]?[0-9])"
_YEAR = r"(?P<year>(?:1[0-9]|20|21)[0-9]{2})"

#: The patterns of dates, in the order in which they are tried. The first is the one that has slashes or dashes in it.
DATES = (
    re.compile(rf"(?<![\w/.-]){_YEAR}(?P<sign>[-/.])(?P<month>[01]?[0-9])(?P=sign){_DAY}(?![0-9]|[-/.][0-9])", re.ASCII),
    re.compile(r"(?<![\w/.-])(?P<plain>[0-3]?[0-9]/[0-3]?[0-9]/(?:[0-9]{4}|[0-9]{2}))(?![\w/])", re.ASCII),
    re.compile(rf"(?<![0-9]){_YEAR}\s?年\s?(?P<month>[01]?[0-9])\s?月(?:\s?{_DAY}\s?[日号號])?"),
    re.compile(rf"(?<![0-9])(?P<month>[01]?[0-9])\s?月\s?{_DAY}\s?[日号號]"),
    re.compile(
        r"(?:(?P<year>[一二][\u3007零\u25cb一二三四五六七八九]{3})年)?(?<![一二三四五六七八九十个])(?P<month>十[一二]?|[一二三四五六七八九])月"
        r"(?P<day>三十一?|[一二]?十[一二三四五六七八九]?|[一二三四五六七八九])[日号號]"
    ),
    re.compile(rf"\b{_DAY}(?:st|nd|rd|th)?[ -](?:of )?{_MONTH}(?:,?[ -]{_YEAR})?(?![0-9])", re.ASCII | re.IGNORECASE),
    re.compile(
        rf"\b{_MONTH} (?:the )?{_DAY}(?:st|nd|rd|th)?(?![\w:]|\.[0-9])(?:(?:, ?| ){_YEAR}(?![0-9]))?", re.ASCII | re.IGNORECASE
    ),
    re.compile(rf"\b{_MONTH},? {_YEAR}(?![0-9])", re.ASCII | re.IGNORECASE),
)

_ORDINALS = {
    "first": 1,
    "1st": 1,
    "second": 2,
    "2nd": 2,
    "third": 3,
    "3rd": 3,
    "fourth": 4,
    "4th": 4,
    "last": 4,
    "上": 1,
    "下": 2,
}
_HAN_DIGITS = "\u3007一二三四五六七八九十"

#: The patterns of quarters and halves of a year.
TERMS = (
    re.compile(rf"(?<![\w./-])(?P<sort>[QH])(?P<term>[1-4])(?:,? | of |/|-){_YEAR}(?![\w-])", re.ASCII),
    re.compile(rf"(?<![\w./-]){_YEAR}[ /-]?(?P<sort>[QH])(?P<term>[1-4])(?!\w)", re.ASCII),
    re.compile(
        rf"\b(?P<term>first|second|third|fourth|last|1st|2nd|3rd|4th) (?P<sort>quarter|half)(?: of|,)? {_YEAR}(?![\w-])",
        re.ASCII | re.IGNORECASE,
    ),
    re.compile(rf"(?<![0-9]){_YEAR}\s?年(?:第?\s?(?P<term>[一二三四1-4])\s?(?P<sort>季)度?|(?P<half>[上下])半年)"),
)

_PART_OF_DAY = r"(?P<part>上午|早上|早晨|清晨|凌晨|中午|下午|傍晚|晚上|晚)"
_AFTERNOON = frozenset(["pm", "p.m", "中午", "下午", "傍晚", "晚上", "晚"])

#: The patterns of times of a day.
TIMES = (
    re.compile(
        r"(?:(?<![0-9:.])|(?<=[0-9 ]T))(?P<hour>[0-2]?[0-9]):(?P<minute>[0-5][0-9])(?::(?P<second>[0-5][0-9]))?(?![0-9:])"
        r"(?:\s?(?P<part>[ap]\.?m\b))?",
        re.ASCII | re.IGNORECASE,
    ),
    re.compile(r"(?<![\w:.])(?P<hour>1[0-2]|0?[1-9])\s?(?P<part>[ap]\.?m\b)", re.ASCII | re.IGNORECASE),
    re.compile(rf"{_PART_OF_DAY}\s?(?P<hour>[0-2]?[0-9])\s?[点點时時:](?:(?P<half>半)|(?P<minute>[0-5]?[0-9])分?)?"),
    re.compile(r"(?<![0-9])(?P<hour>[0-2]?[0-9])\s?[点點](?:(?P<half>半)|整|钟|(?P<minute>[0-5]?[0-9])分)"),
)


def date_forms(match: Match[str]) -> tuple[str, ...] | None:
    """The date as year-month-day or what of it is there, then the parts of it; None if there is no such day."""
    groups = match.groupdict()
    if groups.get("plain"):
        return (groups["plain"],)
    named = groups.get("name")
    month = _MONTHS.index(named[:3].lower()) + 1 if named else _figure(groups["month"])
    day, year = _figure(groups.get("day") or "0"), _year(groups.get("year"))
    if not 1 <= month <= 12 or day > 31 or (groups.get("day") and day == 0):
        return None
    months = f"{year}-{month:02}" if year else ""
    if not day:
        return (months, str(year))
    days = f"{month:02}-{day:02}"
    return (f"{year}-{days}", days, months, str(year)) if year else (days,)


def _figure(text: str) -> int:
    """A number below a hundred, in figures or as it is written in Chinese."""
    if text.isdecimal():
        return int(text)
    tens, ten, ones = text.rpartition("十")
    return (10 * (_HAN_DIGITS.index(tens) if tens else 1) if ten else 0) + (_HAN_DIGITS.index(ones) if ones else 0)


def _year(text: str | None) -> str | None:
    if text is None or text.isdecimal():
        return text
    return "".join([str(_HAN_DIGITS.index(sign)) for sign in text.replace("零", "\u3007").replace("\u25cb", "\u3007")])


def term_forms(match: Match[str]) -> tuple[str, ...]:
    """The quarter or half as year-Q1 or year-H1, then the parts of it."""
    groups = match.groupdict()
    said = (groups.get("half") or groups["term"]).lower()
    term = _ORDINALS.get(said) or (int(said) if said.isascii() else _HAN_DIGITS.index(said))
    sort = "H" if groups.get("half") or (groups["sort"] or "").lower() in ("h", "half") else "Q"
    return (f"{groups['year']}-{sort}{term}", f"{sort}{term}", groups["year"])


def time_forms(match: Match[str]) -> tuple[str, ...] | None:
    """The time as hours and minutes of a day of 24, seconds only where they are not zero; None if there is no such time."""
    groups = match.groupdict()
    hour, minute = int(groups["hour"]), 30 if groups.get("half") else int(groups.get("minute") or 0)
    part = (groups.get("part") or "").lower()
    if part in _AFTERNOON and hour < 12 and not (part == "中午" and hour > 9):
        hour += 12
    elif part in ("am", "a.m", "凌晨") and hour == 12:
        hour = 0
    if hour > 24:
        return None
    second = groups.get("second") or "00"
    return (f"{hour:02}:{minute:02}" + ("" if second == "00" else f":{second}"),)
