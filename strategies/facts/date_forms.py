"""Dates and times as they are written in English and Chinese, and one form for each."""

from __future__ import annotations

import re
from re import Match

__all__ = ["DATES", "TIMES", "date_forms", "time_forms"]

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
    re.compile(rf"\b{_DAY}(?:st|nd|rd|th)?[ -](?:of )?{_MONTH}(?:,?[ -]{_YEAR})?(?![0-9])", re.ASCII | re.IGNORECASE),
    re.compile(
        rf"\b{_MONTH} (?:the )?{_DAY}(?:st|nd|rd|th)?(?![\w:]|\.[0-9])(?:(?:, ?| ){_YEAR}(?![0-9]))?", re.ASCII | re.IGNORECASE
    ),
    re.compile(rf"\b{_MONTH},? {_YEAR}(?![0-9])", re.ASCII | re.IGNORECASE),
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
    month = _MONTHS.index(named[:3].lower()) + 1 if named else int(groups["month"])
    day, year = int(groups.get("day") or 0), groups.get("year")
    if not 1 <= month <= 12 or day > 31 or (groups.get("day") and day == 0):
        return None
    months = f"{year}-{month:02}" if year else ""
    if not day:
        return (months, str(year))
    days = f"{month:02}-{day:02}"
    return (f"{year}-{days}", days, months, str(year)) if year else (days,)


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
