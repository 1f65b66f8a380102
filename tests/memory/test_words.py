"""What facts are found by."""

from __future__ import annotations

import pytest

from contextport.adapters.memory.words import words_of, words_sought


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Use tabs, not spaces.", {"use", "tabs", "not", "spaces"}),
        ("contract AB-2024-001.", {"contract", "ab-2024-001", "ab", "2024", "001"}),
        ("reservation.user_id", {"reservation.user_id", "reservation", "user_id", "user", "id"}),
        ("see https://x.io/a", {"see", "https://x.io/a", "https", "x", "io", "a"}),
        ("\uff33traße", {"strasse"}),
        ("e\u0301te\u0301", {"été"}),
        ("नमस्ते दुनिया", {"नमस्ते", "दुनिया"}),
        ("预算一万", {"预", "算", "一", "万", "预算", "算一", "一万"}),
        ("订单AB-7号", {"订", "单", "订单", "ab-7", "ab", "7", "号"}),
        ("예산은 높다", {"예", "산", "은", "예산", "산은", "높", "다", "높다"}),
        ("a\u0000b \ud800c", {"a", "b", "c"}),
        ("__init__", {"__init__", "init"}),
        ("...!? \u0000\ud800", set[str]()),
    ],
)
def test_words_of_a_fact(text: str, words: set[str]) -> None:
    assert words_of([text]) == words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Contract", {"contract"}),
        ("is AB-2024-001 signed?", {"is", "ab-2024-001", "signed"}),  # not 2024: that would bring all of the year
        ("预算是多少", {"预算", "算是", "是多", "多少"}),
        ("钱", {"钱"}),
        ("?!", set[str]()),
    ],
)
def test_words_that_are_sought(text: str, words: set[str]) -> None:
    assert words_sought([text]) == words


@pytest.mark.parametrize(
    ("fact", "question"),
    [
        ("The contract number is AB-2024-001.", "(ab-2024-001)?"),
        ("The contract number is AB-2024-001.", "AB-2024-001's"),
        ("预算上限为10000元", "预算"),
        ("预算上限为10000元", "元"),
        ("예산은 만원이다", "예산을"),
        ("edit src/app/main.py first", "main"),
        ("edit src/app/main.py first", "src/app/main.py"),
    ],
)
def test_a_fact_is_found_by_what_is_in_it(fact: str, question: str) -> None:
    assert words_of([fact]) & words_sought([question])


def test_a_long_text_is_cut_in_linear_time() -> None:
    for text in ("a" * 200_000, "a-" * 100_000, "-" * 200_000, "预" * 200_000, "a_" * 100_000):
        assert words_of([text]) or set(text) == {"-"}
