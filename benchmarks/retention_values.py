"""Values to plant into conversations: names of things, amounts, days and places of files, as people write them.

Each form is a function of a random generator; wordings call it by its name. `word` and `topic` in a form are ordinary words.
"""

# ruff: noqa: RUF001, SIM905 - Chinese punctuation is the point; lists of words read best as one line of words

from __future__ import annotations

import string
import uuid
from collections.abc import Callable
from random import Random

__all__ = ["FORMS", "Form"]

Form = Callable[[Random], str]

_WORDS = "harbor lantern maple quartz falcon cobalt ember willow granite tundra velvet orchid breeze copper juniper".split()
_VERBS = "parse merge load render rotate resolve flush encode audit replay".split()
_NOUNS = "invoice tenant ledger session carrier snapshot voucher manifest quota cursor".split()
_FIRST = "nadia tomas ingrid rafael yuki amara piotr leila henrik chloe".split()
_LAST = "okafor lindqvist moreau tanaka brandt silva novak haddad keller rossi".split()
_MONTHS = "January February March April May June July August September October November December".split()
_DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
_FOLDERS = ("src", "config", "reports", "scripts", "assets", "migrations", "fixtures", "notebooks")
_ENDINGS = ("py", "yaml", "csv", "sql", "tsx", "md", "json", "log", "rs", "parquet")
_PLATES = "京沪粤浙苏川鲁"
_FILES_ZH = ("季度报表", "会议纪要", "设备清单", "合同终稿", "预算明细", "排班表", "验收单", "培训计划")
_NUMERALS = "一二三四五六七八九"


def _digits(draw: Random, count: int) -> str:
    return str(draw.randint(1, 9)) + "".join(draw.choice(string.digits) for _ in range(count - 1))


def _letters(draw: Random, count: int) -> str:
    return "".join(draw.choice("ABCDEFGHJKLMNPQRSTUVWXYZ") for _ in range(count))


def _hex(draw: Random, count: int) -> str:
    """Hexadecimal with at least one digit and one letter, as most hashes have."""
    inner = "".join(draw.choice("0123456789abcdef") for _ in range(count - 2))
    return draw.choice("abcdef") + inner + draw.choice("123456789")


def _grouped(number: int) -> str:
    return f"{number:,}"


def _word(draw: Random) -> str:
    return draw.choice(_WORDS)


def _file(draw: Random) -> str:
    return f"{draw.choice(_NOUNS)}_{_word(draw)}.{draw.choice(_ENDINGS)}"


def _folder(draw: Random) -> str:
    return f"{draw.choice(_FOLDERS)}/{_word(draw)}"


def _ordinal(day: int) -> str:
    return f"{day}{'th' if 10 < day < 20 else {1: 'st', 2: 'nd', 3: 'rd'}.get(day % 10, 'th')}"


def _year(draw: Random) -> int:
    return draw.randint(2019, 2027)


def _month_day(draw: Random) -> tuple[int, int]:
    return draw.randint(1, 12), draw.randint(1, 28)


_IDENTIFIERS: dict[str, Form] = {
    "order": lambda d: f"ORD-{_digits(d, 5)}-{_letters(d, 1)}",
    "booking": lambda d: _letters(d, 2) + _digits(d, 1) + _letters(d, 2) + _digits(d, 1),
    "ticket": lambda d: f"{d.choice(('INC', 'OPS', 'SUP', 'BUG'))}-{_digits(d, 4)}",
    "incident": lambda d: f"INC00{_digits(d, 5)}",
    "tracking": lambda d: f"1Z{_digits(d, 3)}{_letters(d, 2)}{_digits(d, 9)}",
    "commit": lambda d: _hex(d, 7),
    "digest": lambda d: _hex(d, 40),
    "uuid": lambda d: str(uuid.UUID(int=d.getrandbits(128), version=4)),
    "email": lambda d: f"{d.choice(_FIRST)}.{d.choice(_LAST)}{d.randint(2, 99)}@{_word(d)}-{d.choice(_NOUNS)}.example",
    "username": lambda d: f"{d.choice(_FIRST)}_{d.choice(_LAST)}_{_digits(d, 4)}",
    "flight": lambda d: f"{d.choice(('KE', 'LH', 'QF', 'AZ', 'HAT'))}{_digits(d, 3)}",
    "iban": lambda d: f"DE{_digits(d, 2)} {_digits(d, 4)} {_digits(d, 4)} {_digits(d, 4)} {_digits(d, 4)} {_digits(d, 2)}",
    "phone": lambda d: f"+{d.choice((1, 44, 49, 61))} {_digits(d, 3)} {_digits(d, 3)} {_digits(d, 4)}",
    "sku": lambda d: f"{_letters(d, 2)}{_digits(d, 3)}/{_letters(d, 1)}-{_digits(d, 2)}",
    "symbol": lambda d: f"{d.choice(_VERBS)}_{d.choice(_NOUNS)}_{_word(d)}",
    "camel": lambda d: f"{_word(d).title()}{d.choice(_NOUNS).title()}{d.choice(('Factory', 'Handler', 'Client', 'Store'))}",
    "constant": lambda d: f"MAX_{d.choice(_NOUNS).upper()}_{_word(d).upper()}",
    "ip": lambda d: f"10.{d.randint(2, 250)}.{d.randint(2, 250)}.{d.randint(2, 250)}",
    "host": lambda d: f"{d.choice(('db', 'web', 'mq'))}-{_word(d)}-{d.randint(1, 40):02}.internal",
    "version": lambda d: f"v{d.randint(1, 9)}.{d.randint(0, 30)}.{d.randint(0, 99)}",
    "serial": lambda d: f"SN{_digits(d, 4)}{_letters(d, 3)}{_digits(d, 2)}",
    "case": lambda d: f"#{_digits(d, 6)}",
    "contract": lambda d: f"HT-{_year(d)}-{_digits(d, 4)}",
    "parcel": lambda d: f"SF{_digits(d, 12)}",
    "plate": lambda d: f"{d.choice(_PLATES)}{_letters(d, 1)}·{_letters(d, 1)}{_digits(d, 4)}",
    "mobile": lambda d: f"1{d.choice('3589')}{_digits(d, 9)}",
    "job": lambda d: f"工单{_letters(d, 1)}{_digits(d, 6)}",
    "room": lambda d: f"{_letters(d, 1)}座{_digits(d, 4)}室",
}

_NUMBERS: dict[str, Form] = {
    "dollars": lambda d: f"${_grouped(d.randint(1100, 98000))}",
    "cents": lambda d: f"${d.randint(12, 990)}.{d.randint(10, 99)}",
    "euros": lambda d: f"{_grouped(d.randint(1200, 88000))} euros",
    "pounds": lambda d: f"£{d.randint(15, 980)}.{d.randint(10, 99)}",
    "percent": lambda d: f"{d.randint(2, 97)}.{d.randint(1, 9)}%",
    "percent_word": lambda d: f"{d.randint(11, 93)} percent",
    "milliseconds": lambda d: f"{d.randint(12, 970)} ms",
    "kilograms": lambda d: f"{d.randint(11, 240)}.{d.randint(1, 9)} kg",
    "square": lambda d: f"{d.randint(38, 240)} square meters",
    "gigabytes": lambda d: f"{d.randint(11, 900)}GB",
    "temperature": lambda d: f"{d.randint(11, 44)}.{d.randint(1, 9)}°C",
    "people": lambda d: f"{d.randint(13, 940)} people",
    "miles": lambda d: f"{d.randint(13, 790)} miles",
    "millions": lambda d: f"{d.randint(2, 40)}.{d.randint(1, 9)} million dollars",
    "thousands": lambda d: f"{d.randint(12, 480)}k users",
    "ratio": lambda d: f"{d.randint(1, 9)}.{d.randint(11, 99)}x",
    "rate": lambda d: f"{_grouped(d.randint(1100, 9800))} requests per second",
    "inches": lambda d: f"{d.randint(14, 88)} x {d.randint(14, 88)} inches",
    "milligrams": lambda d: f"{d.randint(13, 480)} mg",
    "yuan": lambda d: f"{d.randint(120, 98000)}元",
    "yuan_sign": lambda d: f"¥{_grouped(d.randint(1100, 98000))}",
    "wan": lambda d: f"{d.randint(2, 90)}.{d.randint(1, 9)}万元",
    "wan_written": lambda d: f"{d.choice(_NUMERALS[1:])}十{d.choice(_NUMERALS)}万元",
    "jin": lambda d: f"{d.randint(11, 180)}斤",
    "square_zh": lambda d: f"{d.randint(38, 240)}平方米",
    "share_zh": lambda d: f"百分之{d.choice(_NUMERALS[1:])}十{d.choice(_NUMERALS)}",
    "percent_zh": lambda d: f"{d.randint(2, 97)}.{d.randint(1, 9)}％",
    "kilometres_zh": lambda d: f"{d.randint(13, 790)}公里",
    "headcount_zh": lambda d: f"{d.randint(13, 940)}人",
    "degrees_zh": lambda d: f"{d.randint(11, 39)}.{d.randint(1, 9)}度",
    "minutes_zh": lambda d: f"{d.randint(13, 170)}分钟",
    "pieces_zh": lambda d: f"{d.randint(13, 3900)}台",
}

_DATES: dict[str, Form] = {
    "iso": lambda d: "{}-{:02}-{:02}".format(_year(d), *_month_day(d)),
    "timestamp": lambda d: "{}-{:02}-{:02}T{:02}:{:02}:00Z".format(_year(d), *_month_day(d), d.randint(0, 23), d.randint(10, 59)),
    "american": lambda d: "{}/{}/{}".format(*_month_day(d), _year(d)),
    "dotted": lambda d: "{1:02}.{0:02}.{2}".format(*_month_day(d), _year(d)),
    "month_day": lambda d: f"{d.choice(_MONTHS)} {d.randint(1, 28)}, {_year(d)}",
    "day_month": lambda d: f"{d.randint(1, 28)} {d.choice(_MONTHS)} {_year(d)}",
    "ordinal": lambda d: f"{_ordinal(d.randint(1, 28))} of {d.choice(_MONTHS)}",
    "short": lambda d: f"{d.choice([m[:3] for m in _MONTHS])} {_ordinal(d.randint(1, 28))}",
    "month_only": lambda d: f"{d.choice(_MONTHS)} {_year(d)}",
    "weekday_date": lambda d: f"{d.choice(_DAYS)}, {d.choice(_MONTHS)} {d.randint(1, 28)}",
    "weekday_time": lambda d: f"{d.choice(_DAYS)} at {d.randint(1, 12)}:{d.randint(10, 59)}",
    "clock": lambda d: f"{d.randint(1, 12)}:{d.randint(10, 59)} pm",
    "clock_zone": lambda d: f"{d.randint(10, 23)}:{d.randint(10, 59)} UTC",
    "quarter": lambda d: f"Q{d.randint(1, 4)} {_year(d)}",
    "span": lambda d: f"{d.choice(_MONTHS)} {d.randint(1, 12)} to {d.randint(14, 28)}",
    "zh_full": lambda d: "{}年{}月{}日".format(_year(d), *_month_day(d)),
    "zh_day": lambda d: "{}月{}号".format(*_month_day(d)),
    "zh_month": lambda d: f"{_year(d)}年{d.randint(1, 12)}月",
    "zh_time": lambda d: f"{d.choice(('上午', '下午', '晚上'))}{d.randint(1, 11)}点{d.randint(11, 59)}分",
    "zh_weekday": lambda d: f"星期{d.choice('一二三四五六')}{d.choice(('上午', '下午'))}{d.randint(8, 11)}点",
    "zh_written": lambda d: f"{d.choice(_NUMERALS)}月二十{d.choice(_NUMERALS)}日",
    "zh_span": lambda d: f"{d.randint(1, 12)}月{d.randint(1, 12)}日到{d.randint(14, 28)}日",
    "zh_slash": lambda d: "{}/{:02}/{:02}".format(_year(d), *_month_day(d)),
    "zh_term": lambda d: f"{_year(d)}年第{d.choice('一二三四')}季度",
}

_PATHS: dict[str, Form] = {
    "absolute": lambda d: f"/srv/{_word(d)}/{_folder(d)}/{_file(d)}",
    "etc": lambda d: f"/etc/{_word(d)}/{d.choice(_NOUNS)}.conf",
    "var": lambda d: f"/var/log/{_word(d)}/{d.choice(_NOUNS)}-{d.randint(2, 90)}.log",
    "relative": lambda d: f"{_folder(d)}/{_file(d)}",
    "dot": lambda d: f"./{_word(d)}/{_file(d)}",
    "parent": lambda d: f"../{_folder(d)}/{_file(d)}",
    "tilde": lambda d: f"~/.config/{_word(d)}/{d.choice(_NOUNS)}.toml",
    "windows": lambda d: f"D:\\{_word(d).title()}\\{d.choice(_NOUNS)}\\{_file(d)}",
    "windows_spaced": lambda d: f"C:\\Program Files\\{_word(d).title()}\\{d.choice(_NOUNS)}.exe",
    "share": lambda d: f"\\\\nas-{_word(d)}\\{d.choice(_NOUNS)}\\{_file(d)}",
    "url": lambda d: f"https://{_word(d)}.example.com/{d.choice(_NOUNS)}/{_digits(d, 5)}?tab={_word(d)}",
    "url_plain": lambda d: f"http://{_word(d)}-{d.choice(_NOUNS)}.example.org/{_word(d)}",
    "bare_url": lambda d: f"www.{_word(d)}{d.choice(_NOUNS)}.com/{_word(d)}",
    "bucket": lambda d: f"s3://{_word(d)}-{d.choice(_NOUNS)}/{_folder(d)}/part-{_digits(d, 4)}.parquet",
    "line": lambda d: f"{_folder(d)}/{_file(d)}:{d.randint(12, 900)}",
    "file": _file,
    "zh_file": lambda d: f"{d.choice(_FILES_ZH)}{d.randint(2, 99)}.xlsx",
    "zh_path": lambda d: f"/data/{_word(d)}/{d.choice(_FILES_ZH)}_{d.randint(2, 99)}.pdf",
    "zh_windows": lambda d: f"E:\\资料\\{d.choice(_FILES_ZH)}\\{_file(d)}",
    "repository": lambda d: f"git@git.example.com:{_word(d)}/{d.choice(_NOUNS)}.git",
}

_TOPICS: dict[str, Form] = {
    "word": _word,
    "thing": lambda d: d.choice(("kitchen", "brochure", "webinar", "onboarding flow", "archive", "newsletter", "greenhouse")),
    "name": lambda d: d.choice(_FIRST).title(),
    "thing_zh": lambda d: d.choice(("宣传册", "培训课", "会员系统", "展台", "周报", "样板间", "直播活动")),
    "name_zh": lambda d: d.choice(("李敏", "王浩", "赵倩", "陈斌", "周洁", "孙磊")),
}

FORMS: dict[str, dict[str, Form]] = {
    "identifier": _IDENTIFIERS,
    "number": _NUMBERS,
    "date": _DATES,
    "path": _PATHS,
    "topic": _TOPICS,
}
"""The forms of each kind of item by name; topics are not items, they only make sentences differ."""
