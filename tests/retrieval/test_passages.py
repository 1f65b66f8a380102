"""How long texts are cut."""

from __future__ import annotations

import pytest

from contextport.strategies.retrieval.passages import LONGEST_PASSAGE, MOST_PASSAGES, passages_of


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


SENTENCES = " ".join(f"Sentence number {n} is about the garden and its {n} trees." for n in range(200))
PARAGRAPHS = "\n\n".join(f"Paragraph {n}. " + "It goes on for some time, line after line. " * 8 for n in range(20))
CHINESE = "".join(f"第{n}句话说的是花园里的树和花。" for n in range(200))
JSON = "{" + ",".join(f'"field{n}":{n}' for n in range(400)) + "}"
UNBROKEN = "x" * 5_000
ROWS = "\U0001f600" * 2_000
HALVES = "\ud83d" * 2_000
LONG = {
    "sentences": SENTENCES,
    "paragraphs": PARAGRAPHS,
    "chinese": CHINESE,
    "json": JSON,
    "unbroken": UNBROKEN,
    "emoji": ROWS,
    "halves": HALVES,
}


def test_a_short_text_is_one_passage_without_its_outer_blanks() -> None:
    assert passages_of("  The key is  under the mat.\n") == ["The key is  under the mat."]


@pytest.mark.parametrize("text", ["", "  \n\t ", " " * 5_000])
def test_a_blank_text_has_none(text: str) -> None:
    assert passages_of(text) == []


@pytest.mark.parametrize("name", LONG)
def test_every_part_of_a_long_text_is_in_a_passage_of_bounded_size(name: str) -> None:
    passages = passages_of(LONG[name])
    assert "".join("".join(passages).split()) == "".join(LONG[name].split())
    assert max(map(_size, passages)) <= LONGEST_PASSAGE
    assert min(map(_size, passages[:-1])) >= LONGEST_PASSAGE // 2 - 4


@pytest.mark.parametrize(("name", "ends"), [("sentences", "."), ("paragraphs", "."), ("chinese", "。"), ("json", "{},:\"'")])
def test_it_is_cut_where_something_ends(name: str, ends: str) -> None:
    assert all(passage[-1] in ends for passage in passages_of(LONG[name]))


def test_a_paragraph_comes_before_a_sentence() -> None:
    assert all(passage.startswith("Paragraph") for passage in passages_of(PARAGRAPHS))


@pytest.mark.parametrize("text", ["word " * 1_000_000, "字" * 700_000, "x" * 3_000_000])
def test_a_huge_text_has_a_bounded_number(text: str) -> None:
    passages = passages_of(text)
    assert len(passages) <= MOST_PASSAGES
    assert sum(map(_size, passages)) >= _size(text.replace(" ", ""))
