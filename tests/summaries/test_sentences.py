from __future__ import annotations

import json

import pytest

from contextport.strategies.summaries.sentences import pieces_of
from contextport.strategies.summaries.words import words_of


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("It works. Ship it! Really?", ["It works.", "Ship it!", "Really?"]),
        ("Dr. Lee paid 3.50 at no. 5 today.", ["Dr. Lee paid 3.50 at no. 5 today."]),
        ("合同已签。预算10000元\uff01可以吗\uff1f", ["合同已签。", "预算10000元\uff01", "可以吗\uff1f"]),
        ("他说\uff1a“好。”然后走了。", ["他说\uff1a“好。”", "然后走了。"]),
        ("First line\n\n  second line  \n", ["First line", "second line"]),
        ("| a | b. c |\n|---|---|\n| 1. | 2. |", ["| a | b. c |", "|---|---|", "| 1. | 2. |"]),
        ("Run:\n```\na = 1. ; b\nprint(a). x\n```\nDone. Good.", ["Run:", "a = 1. ; b", "print(a). x", "Done.", "Good."]),
        ('{"id": "A-1", "n": 2, "at": {"city": "Rome", "tags": ["x", "y"]}}', ["id: A-1, n: 2", "at: city: Rome", "tags: x, y"]),
        ("[not json. at all]", ["[not json.", "at all]"]),
        ("", []),
    ],
)
def test_pieces(text: str, pieces: list[str]) -> None:
    assert list(pieces_of(text)) == pieces


def test_a_tool_names_its_arguments() -> None:
    assert list(pieces_of('{"order": "A-1"}', "find_order")) == ["find_order: order: A-1"]


def test_encoded_data_is_no_piece() -> None:
    assert list(pieces_of("aGVsbG8" * 100 + "\nThe end.")) == ["The end."]


def test_a_long_sentence_is_cut_at_clauses() -> None:
    text = ", ".join(f"the number {n} comes after the one before it" for n in range(20)) + "."
    pieces = list(pieces_of(text))
    assert " ".join(pieces) == text
    assert max(map(len, pieces)) <= 320
    assert all(piece.endswith((",", ".")) for piece in pieces)


def test_words_of_two_scripts() -> None:
    assert list(words_of("Anna's AB-2024-001 在北京 x")) == ["anna", "ab-2024-001", "在北", "北京", "x"]


@pytest.mark.parametrize("unit", [".", '."', ".!", "A. ", "no. ", "a. ", "[", '"', "\n", "。", "中", "a, ", "x ", "1"])
def test_much_of_one_sign_is_read_at_once(unit: str) -> None:
    text = unit * (400_000 // len(unit))
    pieces = list(pieces_of(f"{text}x"))
    assert sum(map(len, pieces)) <= len(text) + 1


def test_a_run_of_full_stops_ends_a_sentence_only_at_its_end() -> None:
    assert list(pieces_of("Wait... what?! No.1 is... ok... fine.")) == ["Wait...", "what?!", "No.1 is...", "ok...", "fine."]
    assert list(pieces_of('He said "go!?" Then: see No. 7 and Dr. B. Lee. End')) == [
        'He said "go!?"',
        "Then: see No. 7 and Dr. B. Lee.",
        "End",
    ]


def test_a_very_long_key_is_not_repeated_before_its_values() -> None:
    pieces = list(pieces_of(json.dumps({"k" * 10_000: list(range(2_000))})))
    assert sum(map(len, pieces)) < 20_000
