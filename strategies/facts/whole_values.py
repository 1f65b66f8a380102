"""Values that are made of several: spans of days, a weekday with its time, phone and account numbers, addresses, sizes.

An exact value is the smallest thing that two texts can be compared by; a fact is kept as it was written, as a whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from attrs import evolve

from contextport.contracts.facts import FactKind

from .found_values import FoundValue
from .labels import with_unit as with_counted
from .names import Name
from .units import with_unit

__all__ = ["whole_values"]


_FILE_ENDS = (
    r"docx?|xlsx?|pptx?|pdf|txt|csv|md|zip|rar|7z|png|jpe?g|gif|mp[34]|wav|mov|psd|ai|dwg|html?|json|xml|log|sql|py|eml|key|pages"
)
_NUMERAL = "零〇一二两三四五六七八九十百千万亿点"
_ONES = "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)teen"
_TENS = "twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand|million|billion|dozen"
_FORMS: tuple[tuple[FactKind, re.Pattern[str]], ...] = (
    # account numbers in groups of four, cards among them
    (FactKind.IDENTIFIER, re.compile(r"(?<![\w-])[A-Z]{2}[0-9]{2}(?: [A-Z0-9]{4}){2,7}+(?: [A-Z0-9]{1,3})?(?![\w-])", re.ASCII)),
    (FactKind.IDENTIFIER, re.compile(r"(?<![\w.,-])[0-9]{4}(?:[ -][0-9]{4}){2,4}+(?:[ -][0-9]{1,3})?(?![\w-])", re.ASCII)),
    # telephone numbers: with the code of a country, or in groups of three and four
    (FactKind.IDENTIFIER, re.compile(r"(?<![\w+])\+[0-9]{1,4}(?:[ .-]?\(?[0-9]{1,5}\)?){1,6}(?![\w-])", re.ASCII)),
    (
        FactKind.IDENTIFIER,
        re.compile(r"(?<![\w.,+-])(?:\([0-9]{2,5}\) ?|[0-9]{2,5}[ -])[0-9]{3,4}[ -][0-9]{3,4}(?![\w-])", re.ASCII),
    ),
    (FactKind.IDENTIFIER, re.compile(r"(?<![\w.,+-])0[0-9]{2,3}-[0-9]{7,8}(?:-[0-9]{1,6})?(?![\w-])", re.ASCII)),
    # names with a sign between their parts, number plates, places in a house
    (
        FactKind.IDENTIFIER,
        re.compile(r"(?<![\w/.-])[A-Z]{1,8}-?[0-9]{2,12}(?:/[A-Z0-9]{1,10}(?:-[A-Z0-9]{1,10}){0,4}){1,4}(?![\w/-])", re.ASCII),
    ),
    (
        FactKind.IDENTIFIER,
        re.compile(
            r"[京津沪渝冀豫云辽黑湘皖鲁新苏浙赣鄂桂甘晋蒙陕吉闽贵粤青藏川宁琼港澳][A-Z]"
            r"[\u00b7\u2022\u30fb .-]?[A-Z0-9]{4,6}[A-Z0-9学警港澳](?![A-Za-z0-9])"
        ),
    ),
    (
        FactKind.IDENTIFIER,
        re.compile(
            r"(?<![A-Za-z0-9_])(?:[A-Za-z0-9]{1,4}(?:号楼|单元|[座栋幢区排层楼期弄号])){1,4}+(?:[A-Za-z]?[0-9]{1,5}(?:[室号房户铺座](?!码))?)?"
            r"(?![A-Za-z0-9_])"
        ),
    ),
    # sizes
    (
        FactKind.NUMBER,
        re.compile(
            r"(?<![\w.])[0-9]{1,9}(?:\.[0-9]{1,6})?(?: ?[a-z]{1,2}\b)?"
            r"(?: ?[x\u00d7*] ?[0-9]{1,9}(?:\.[0-9]{1,6})?(?: ?[cm]?m\b)?){1,3}"
        ),
    ),
    # numbers in words
    (FactKind.NUMBER, re.compile(rf"百分之[{_NUMERAL}0-9.]{{1,12}}")),
    (
        FactKind.NUMBER,
        re.compile(
            rf"(?<![{_NUMERAL}第])[一二两三四五六七八九十](?=[一二三四五六七八九]{{0,1}}[十百千万亿]|[一二三四五六七八九])[{_NUMERAL}]{{1,16}}"
        ),
    ),
    (
        FactKind.NUMBER,
        re.compile(
            rf"\b(?:(?:{_ONES})[ -]){{0,1}}(?:{_TENS})(?:[ -](?:and )?(?:{_ONES}|{_TENS})\b){{0,8}}(?![\w-])", re.IGNORECASE
        ),
    ),
    # files whose names have letters that are written without spaces
    (
        FactKind.PATH,
        re.compile(
            rf"(?<![\w./\\-])(?:(?![和或及在是看把给从里请再就了])[\w/~()-]){{1,60}}\.(?:{_FILE_ENDS})(?![A-Za-z0-9_])"
            rf"|(?<=[和或及在是看把给从里请再就了])(?:(?![和或及在是看把给从里请再就了])[\w~()-]){{1,60}}\.(?:{_FILE_ENDS})(?![A-Za-z0-9_])"
        ),
    ),
)
_LINE_AFTER = re.compile(r":[0-9]{1,7}(?:-[0-9]{1,7}|:[0-9]{1,5})?(?![\w])", re.ASCII)
_ZONE_AFTER = re.compile(
    r"(?:\.[0-9]{1,9})?\s?(?:Z(?![A-Za-z0-9])|(?:UTC|GMT|[AECMP][SD]?T|CES?T|BST|[IJK]ST|HKT|SGT|AE[SD]T)(?![A-Za-z0-9])"
    r"(?:\s?[+-][0-9]{1,2}(?::?[0-9]{2})?)?|[+-][0-9]{2}:?[0-9]{2}(?![0-9]))|\.[0-9]{1,9}(?![0-9])"
)
_BESIDE = re.compile(r",? ?|T|,? (?:at|on|by|the|from) | ?@ ?|的|\uff0c")  # between a day and its time
_TO = re.compile(r" ?[-\u2013\u2014~\uff5e] ?| (?:to|until|till|through) (?:the )?|[到至]")
_DASH = re.compile(r" ?[-\u2013~\uff5e] ?|[到至]| to ")
_LAST_DAY = re.compile(
    r"(?: (?:to|until|till|through) (?:the )?| ?[-\u2013\u2014~\uff5e] ?|[到至])[0-3]?[0-9](?:st|nd|rd|th)?"
    r"(?![0-9A-Za-z]|[:/.-][0-9])"
    r"(?:\s?[日号號]|,? (?:19|20|21)[0-9]{2}(?![0-9]))?"
)
_FIRST_DAY = re.compile(r"(?<![\w.,/-])[0-3]?[0-9](?:st|nd|rd|th)?(?: to | ?[-\u2013] ?| and )\Z", re.ASCII)
_LONGEST = 80  # characters of dates that are one
_NEAR = 12  # characters between two parts of one value
_WEEKDAY, _DAY, _TIME = "weekday", "day", "time"


def whole_values(text: str, values: Sequence[FoundValue], names: Iterable[Name]) -> list[FoundValue]:
    """The values of a text as they were written, in order, none inside another. `names` may tell days of the week."""
    smallest = [_with_rest(text, value) for value in values if value.kind is not FactKind.DATE]
    pieces = [*_of_forms(text), *_dates(text, values, names), *smallest]
    pieces += _numbers_joined(text, [piece for piece in smallest if piece.kind is FactKind.NUMBER])
    kept: list[FoundValue] = []
    for piece in sorted(pieces, key=lambda piece: (piece.start, -piece.end)):
        if not kept or piece.end > kept[-1].end:
            kept.append(piece)
    return kept


def _with_rest(text: str, value: FoundValue) -> FoundValue:
    if value.kind is FactKind.NUMBER:
        return _with_unit(text, value)
    line = _LINE_AFTER.match(text, value.end) if value.kind is FactKind.PATH else None
    return evolve(value, end=line.end()) if line else value


def _with_unit(text: str, value: FoundValue) -> FoundValue:
    """The number with its unit, or else with what it counts."""
    start, end = with_unit(text, value.start, value.end)
    if (start, end) == (value.start, value.end):
        start, piece = with_counted(text, value)
        end = start + len(piece)
    return evolve(value, start=start, end=end)


def _numbers_joined(text: str, numbers: Sequence[FoundValue]) -> Iterator[FoundValue]:
    for first, second in pairwise(numbers):
        if second.start - first.end < _NEAR and _DASH.fullmatch(text, first.end, second.start):
            yield evolve(first, end=second.end)


def _of_forms(text: str) -> Iterator[FoundValue]:
    for kind, form in _FORMS:
        for match in form.finditer(text):
            if kind is not FactKind.PATH or not match[0].isascii():
                found = FoundValue(kind, match.start(), match.end(), (match[0],))
                yield _with_unit(text, found) if kind is FactKind.NUMBER else found


def _dates(text: str, values: Iterable[FoundValue], names: Iterable[Name]) -> Iterator[FoundValue]:
    """Dates and times, those that belong together as one."""
    found = [(value, _TIME if ":" in value.forms[0] else _DAY) for value in values if value.kind is FactKind.DATE]
    starts = {value.start for value, _ in found}
    for name in names:
        if name.kind is FactKind.DATE and name.start not in starts:
            found.append((FoundValue(FactKind.DATE, name.start, name.start + len(name.text), (name.text,)), _WEEKDAY))
    whole: FoundValue | None = None
    sorts: set[str] = set()
    for value, sort in sorted(found, key=lambda one: one[0].start):
        if whole and value.start < whole.end:
            continue
        end = _date_end(text, value.end, sort)
        if whole and end - whole.start <= _LONGEST and _belong(text, whole.end, value.start, sort, sorts):
            whole = evolve(whole, end=end)
            sorts.add(sort)
            continue
        if whole:
            yield whole
        before = _FIRST_DAY.search(text[max(0, value.start - _NEAR) : value.start]) if sort == _DAY else None
        whole, sorts = evolve(value, start=value.start - (len(before[0]) if before else 0), end=end), {sort}
    if whole:
        yield whole


def _belong(text: str, end: int, start: int, sort: str, sorts: set[str]) -> bool:
    """Whether the next date or time is the other end of a span, or of another sort: the time of a day, the day of a weekday."""
    if start - end > _NEAR:
        return False
    return bool(_TO.fullmatch(text, end, start) or (sort not in sorts and _BESIDE.fullmatch(text, end, start)))


def _date_end(text: str, end: int, sort: str) -> int:
    rest = (_ZONE_AFTER if sort == _TIME else _LAST_DAY).match(text, end) if sort != _WEEKDAY else None
    if rest is None or (sort == _DAY and with_unit(text, rest.end(), rest.end())[1] > rest.end()):
        return end
    return rest.end()
