"""Values are kept as they were written: with unit, span, zone and place, in English and Chinese."""

from __future__ import annotations

from itertools import pairwise

import pytest

from contextport.contracts.facts import FactKind
from contextport.contracts.messages import Message
from contextport.strategies.facts import extract_facts
from contextport.strategies.facts.found_values import found_values
from contextport.strategies.facts.names import names_in
from contextport.strategies.facts.whole_values import whole_values

HOSTILE = [
    *(
        "a ",
        "A",
        "AB12/",
        "1234 ",
        "+1 ",
        "1x",
        "1 x ",
        "百分之一",
        "十",
        "一万",
        "twenty ",
        "one ",
        "hundred and ",
        "3号楼",
        "京A",
        "A1座",
    ),
    *(
        "报",
        "报/",
        "报.",
        "/报",
        "/报表",
        "C:\\A B\\",
        "C:\\报\\",
        "\\\\a\\b\\",
        "\\\\a\\ A",
        "a@b:c/",
        "a@b:/",
        "Monday ",
        "Monday at ",
    ),
    *("May 5 to ", "5 to ", "- ", "12:30 UTC", "12:30-", "5月6日到", "5 million ", "$", "US$5", "5 a b c ds ", "5/", "5 per a"),
    *("x.docx", "(020) ", "020-", "Q3 2025 ", "2025 Q", "2025年第", "二\u3007二四年", "十二月", "1234 5678 ", "DE12 1234 "),
]


def whole(text: str) -> list[str]:
    return [text[value.start : value.end] for value in whole_values(text, found_values(text), names_in(text))]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("The garden has 45 square feet and 12 cubic meters of soil.", ["45 square feet", "12 cubic meters"]),
        ("Give her 75 mcg, or 2.5 ml if it is above 39.5°C.", ["75 mcg", "2.5 ml", "39.5°C"]),
        ("They raised $7.5 million, we have 30k subscribers.", ["$7.5 million", "30k subscribers"]),
        ("It costs US$12 per seat, EUR 900 in all; 5 million euros.", ["US$12 per seat", "EUR 900", "5 million euros"]),
        ("A limit of 80 km/h and 1,200 queries per minute.", ["80 km/h", "1,200 queries per minute"]),
        ("The frame is 20 x 30 cm, the crate 2x3x4 m.", ["20 x 30 cm", "2x3x4 m"]),
        ("Thirty-five guests, two hundred dollars.", ["Thirty-five guests", "two hundred dollars"]),
        ("10-15 boxes", ["10-15 boxes"]),
        ("只有12公顷,重3.5吨,跑了800毫升。", ["12公顷", "3.5吨", "800毫升"]),
        ("预算三十五万元,占百分之二十八,来了四百多人", ["三十五万元", "百分之二十八", "四百多人"]),
        ("5kg的米,3百万美元", ["5kg", "3百万美元"]),
        ("十分高兴,万一不行,千万别去,一个人", []),
        ("I paid 300 a night in room 12.", ["300", "12"]),
    ],
)
def test_amounts(text: str, values: list[str]) -> None:
    assert whole(text) == values


@pytest.mark.parametrize(
    "text",
    [
        *("2031-02-03T04:05:06Z", "2031-02-03 04:05:06.250+02:00", "07:15 CET", "9 am PST", "23:10 UTC+8"),
        *("Q2 2031", "2031 Q2", "second quarter of 2031", "H1 2031", "2031年第一季度", "2031年下半年"),
        *("March 3 to 9", "March 3 to April 9", "3-9 March 2031", "March 3-9, 2031", "2031-03-03 to 2031-03-09", "8:30-17:00"),
        *("3月2日到9日", "3月2日至4月9日", "四月二十一日", "二\u3007三一年十月一日"),
        *(
            "Tuesday at 8:05",
            "Sunday, June 7",
            "Sunday June 7",
            "Tuesday 4pm",
            "4 pm on Sunday",
            "星期二下午3点",
            "周日晚上8点半",
        ),
    ],
)
def test_one_date(text: str) -> None:
    assert whole(f"We said {text}, then no more.") == [text]
    assert whole(f"我们说{text}。") == [text]


def test_dates_apart_stay_apart() -> None:
    assert whole("May 5, May 9 and Monday, Tuesday") == ["May 5", "May 9", "Monday", "Tuesday"]
    assert whole("March 3 to 24 people") == ["March 3", "24 people"]
    assert whole("March 3 - 10:30") == ["March 3 - 10:30"]


@pytest.mark.parametrize(
    "text",
    [
        *(
            "\\\\files-2\\team\\plan_b.docx",
            "C:\\Program Files (x86)\\Some Tool\\run.exe",
            "D:\\项目\\报价\\a_1.txt",
            "D:\\项目\\报价.xlsx",
        ),
        *("/srv/文档/报价单_7.pdf", "~/资料/a.md", "src/web/app.ts:41", "lib/x_y.py:12-40", "/var/log/a.log:7:3"),
        *("git@code.example.org:team/tool.git", "deploy@web1:/srv/app/x.log", "a/b/c.tar.gz"),
    ],
)
def test_one_path(text: str) -> None:
    assert whole(f"It is in {text}, look.") == [text]
    assert whole(f"放在 {text}\uff0c请看") == [text]


def test_files_in_running_chinese() -> None:
    assert whole("请看客户名单12.xlsx,再看《周报.docx》") == ["客户名单12.xlsx", "周报.docx"]
    assert whole("在/srv/a_1和/srv/b_2里,/srv/c1.txt文件") == ["/srv/a_1", "/srv/b_2", "/srv/c1.txt"]


@pytest.mark.parametrize(
    "text",
    [
        *(
            "GB29 1234 5678 9012 3456 78",
            "4000 1234 5678 9010",
            "+33 140 205 317",
            "(030) 1234 5678",
            "555 123 4567",
            "021-87654321",
        ),
        *("沪B·K8123", "粤A12345", "C座1206室", "5号楼3单元402室", "KX100/B-7"),
    ],
)
def test_one_identifier(text: str) -> None:
    assert whole(f"It is {text}, I think.") == [text]
    facts = extract_facts([Message.user(f"是{text}\uff0c对。", id="m")])
    assert [fact.text for fact in facts if fact.kind is FactKind.IDENTIFIER] == [text]


@pytest.mark.parametrize("piece", HOSTILE)
def test_hostile_text_is_read_in_linear_time(piece: str) -> None:
    """A pattern that reads any of it again from every place would not come to an end."""
    text = piece * (40_000 // len(piece))
    assert all(value.start < value.end <= len(text) for value in whole_values(text, found_values(text), names_in(text)))


def test_a_long_text_of_everything() -> None:
    text = "".join([piece * 20 for piece in HOSTILE])
    text *= 300_000 // len(text)
    values = whole_values(text, found_values(text), names_in(text))
    assert values
    assert all(first.start < second.start and first.end < second.end for first, second in pairwise(values))
