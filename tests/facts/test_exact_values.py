"""Exact values, checked by hand."""

from __future__ import annotations

import pytest

from contextport.contracts.facts import FactKind
from contextport.strategies.facts.exact_values import exact_values
from contextport.strategies.facts.found_values import found_values

HOSTILE = [
    *("a", "1", "0", "/", "@", ".", "_", " ", "\n", "%", "\\", "年", "\u0301", "\uff11", "#"),
    *("a.", "a-", "a@", "1,", "1.", "1:", "1 ", "/a", "~/", "a+", "aB", "1年", "上午", "May ", "www.", "http://", "a://", "a:\\"),
    *("a@b.", "1,000", ",000", "\n 1. ", "1-a-", "1-1-", "2024-", "2024/1/", "1月", "\uff0c\uff11", "-1-aaa", "12:30"),
]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("contract AB-2024-001, budget 10,000.", {"AB-2024-001", "10000"}),
        ("合同编号AB-2024-001,预算1.5万元", {"AB-2024-001", "15000"}),
        ("约2亿人,共\uff13\uff10\uff10个,\uff11\uff10\uff0c\uff10\uff10\uff10元", {"200000000", "300", "10000"}),
        ("flight HAT136 for mia_li_3668, order #W4923227", {"HAT136", "mia_li_3668", "W4923227"}),
        ("$1,234.50 or $255.00, 5k, 500ms, 3.2 s", {"1234.50", "255", "5000", "500", "3.2"}),
        ("15% off, 20 percent, 30\uff05", {"15%", "15", "20%", "20", "30%", "30"}),
        ("a 3-day trip, 24-hour notice, well-known follow-ups, the 2nd", {"3", "24", "2"}),
        ("10-15 items, 42/42 tests", {"10", "15", "42"}),
        (
            "id 007, commit 3f2a9bc, 123e4567-e89b-12d3-a456-426614174000",
            {"007", "3f2a9bc", "123e4567-e89b-12d3-a456-426614174000"},
        ),
        ("version 3.10 and v1.2.3, host 10.0.0.1:8080", {"3.10", "v1.2.3", "10.0.0.1", "8080"}),
        ("Write to Mia.Li@Example.com!", {"mia.li@example.com"}),
        ("call getUserName, numpy.array, foo_bar or __init__", {"getUserName", "numpy.array", "foo_bar", "__init__"}),
        ("and/or TCP/IP 24/7 km/s, e.g. this, i.e. that, U.S.", {"24", "7"}),
        ("see src/app/main.py and /etc/hosts.", {"src/app/main.py", "main.py", "/etc/hosts"}),
        ("C:\\new\\a.txt, ~/notes.md and ./run.sh", {"C:\\new\\a.txt", "a.txt", "~/notes.md", "notes.md", "./run.sh", "run.sh"}),
        ("(https://example.com/a?b=c). www.example.org/", {"https://example.com/a?b=c", "www.example.org"}),
        ("请看/srv/a1.txt文件", {"/srv/a1.txt", "a1.txt"}),
        ("1. first\n2) second\n 3、第三\n4 eggs", {"4"}),
        ("ticket12번, заказ A-17", {"ticket12", "A-17"}),
        ("الرقم ٣٥", {"35"}),
        ("Only words. No values at all, not one.", set[str]()),
        ("", set[str]()),
    ],
)
def test_values(text: str, values: set[str]) -> None:
    assert exact_values(text) == values


@pytest.mark.parametrize(
    "text",
    [
        "2024-03-05",
        "2024/3/5",
        "2024.03.05",
        "2024年3月5日",
        "2024 年 3 月 5 号",
        "5 March 2024",
        "March 5th, 2024",
        "Mar 5 2024",
        "5th of March 2024",
    ],
)
def test_a_full_date_has_one_form(text: str) -> None:
    assert exact_values(f"on {text}, then") == {"2024-03-05", "03-05", "2024-03", "2024"}


@pytest.mark.parametrize(
    ("text", "form"),
    [
        *(("3月5日", "03-05"), ("March 5", "03-05"), ("5 Mar", "03-05"), ("06/12/2024", "06/12/2024")),
        *(("15:30", "15:30"), ("3:30 pm", "15:30"), ("下午3点半", "15:30"), ("下午3点30分", "15:30"), ("3 p.m.", "15:00")),
        *(("12am", "00:00"), ("12pm", "12:00"), ("晚上8点", "20:00"), ("9点整", "09:00"), ("08:15:30", "08:15:30")),
    ],
)
def test_parts_of_dates_and_times(text: str, form: str) -> None:
    assert exact_values(text) == {form}


def test_a_moment_is_a_date_and_a_time() -> None:
    assert {"2024-05-15", "15:00"} <= exact_values("at 2024-05-15T15:00:00")


def test_what_is_no_date_or_time_is_numbers() -> None:
    assert exact_values("13月40日") == {"13", "40"}
    assert exact_values("May I have 20?") == {"20"}


def test_a_value_made_up_is_not_in_the_source() -> None:
    source = "合同编号 AB-2024-001,预算 10000 元"
    assert exact_values("The contract AB-2024-001 has a budget of 10,000.") <= exact_values(source)
    assert not exact_values("The contract number is AB-10000.") <= exact_values(source)
    assert not exact_values("signed on March 5, 2024") <= exact_values("signed on March 5")


def test_places_are_those_of_the_text_as_it_is() -> None:
    text = "订单\uff21\uff22-\uff12\uff10号,2024年3月5日付了1万元给 mia_li_3668"
    found = [(value.kind, text[value.start : value.end]) for value in found_values(text)]
    assert found == [
        (FactKind.IDENTIFIER, "\uff21\uff22-\uff12\uff10"),
        (FactKind.DATE, "2024年3月5日"),
        (FactKind.NUMBER, "1万"),
        (FactKind.IDENTIFIER, "mia_li_3668"),
    ]


@pytest.mark.parametrize("piece", HOSTILE)
def test_hostile_text_is_read_in_linear_time(piece: str) -> None:
    """A pattern that reads any of it twice from every place would not come to an end."""
    assert len(exact_values(piece * (100_000 // len(piece)))) < 10


def test_a_megabyte_of_everything() -> None:
    mixed = "".join([piece * 50 for piece in HOSTILE])
    assert exact_values(mixed * (1_000_000 // len(mixed))) >= exact_values(mixed)
