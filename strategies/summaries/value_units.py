"""What amounts are counted in: "500 euros" for the 500 dollars of the source has the right number, and is wrong.

Only units that cannot be mistaken are compared. All dollars are one, as most texts do not say whose they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from attrs import field, frozen

from contextport.contracts import FactKind
from contextport.strategies.facts.found_values import found_values
from contextport.strategies.facts.units import with_unit

__all__ = ["ValueUnits", "other_units"]

_SAME = (
    "$ us$ usd dollar dollars buck bucks hk$ hkd ca$ cad au$ aud nz$ 美元 美金 港币 港元",
    "€ eur euro euros 欧元",
    "£ gbp 英镑",
    "rmb cny yuan 元 块 块钱 人民币 万元",
    "% percent pct \uff05",
    *(
        "mg milligram milligrams 毫克",
        "g gram grams 克",
        "kg kilogram kilograms kilos 公斤 千克",
        "mcg \u00b5g microgram micrograms 微克",
    ),
    *("ml milliliter milliliters millilitre millilitres 毫升", "liter liters litre litres 升"),
    *(
        "mm millimeter millimeters 毫米",
        "cm centimeter centimeters centimetres 厘米",
        "km kilometer kilometers kilometres 公里 千米",
    ),
    *("mile miles 英里", "inch inches 英寸", "foot feet ft 英尺"),
    *(
        "ms millisecond milliseconds 毫秒",
        "second seconds sec secs 秒",
        "minute minutes min mins 分钟",
        "hour hours hr hrs 小时 个小时",
    ),
    *("day days 天", "week weeks 周 星期", "month months 个月", "year years 年"),
    *("kb", "mb", "gb", "tb"),
)
_UNITS = {name: line.split()[0] for line in _SAME for name in line.split()}


@frozen
class ValueUnits:
    """By number, all units that it has in some texts; `""` where it has none, or one that is not known."""

    of: dict[str, set[str]] = field(factory=dict[str, set[str]])

    @classmethod
    def of_texts(cls, texts: Iterable[str]) -> ValueUnits:
        """The units of the texts' numbers."""
        found = cls()
        for text in texts:
            for number, unit in _counted(text):
                found.of.setdefault(number, set()).add(unit)
        return found


def other_units(summary: str, source: ValueUnits) -> Iterator[tuple[str, str]]:
    """Numbers of the summary with a unit, where the source has the number only with others."""
    for number, unit in _counted(summary):
        known = source.of.get(number)
        if unit and known and "" not in known and unit not in known:
            yield number, unit


def _counted(text: str) -> Iterator[tuple[str, str]]:
    for value in found_values(text):
        if value.kind is not FactKind.NUMBER:
            yield from ((form, "") for form in value.forms)
            continue
        start, end = with_unit(text, value.start, value.end)
        before, said = text[start : value.start].strip().lower(), text[value.start : value.end]
        after = (said.lstrip("0123456789.,-") + text[value.end : end]).strip(" -").lower()
        units = {_UNITS.get(name, "") for name in (before, after) if name}
        yield value.forms[-1], units.pop() if len(units) == 1 else ""
