"""Shortening one text: legal cuts, sizes, markers."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from typing import SupportsIndex

import pytest

from contextport.contracts import Message, Text, ToolResult
from contextport.strategies import grapheme_cut, shorten_message, shorten_text
from tests.cases.words_counter import WordsCounter

MARKER = re.compile(r"\[…(\d+) characters left out…\]")
CLUSTERS = [
    "e\u0301",  # a letter and a combining accent
    "\U0001f469\u200d\U0001f469\u200d\U0001f467",  # a family: people joined by zero-width joiners
    "\U0001f44d\U0001f3fd",  # thumbs up with a skin tone
    "\U0001f1f3\U0001f1f4",  # a flag: two regional indicators
    "\u0928\u093f",  # Devanagari: consonant and vowel sign
    "\u1112\u1161\u11ab",  # Hangul in parts
    "\u2764\ufe0f",  # a heart with an emoji variation selector
    "\r\n",
]


def at_most(room: int) -> Callable[[str], bool]:
    return lambda candidate: len(candidate) <= room


def split_at_marker(text: str) -> tuple[str, int, str]:
    found = MARKER.search(text)
    assert found is not None
    return text[: found.start()], int(found.group(1)), text[found.end() :]


@pytest.mark.parametrize("cluster", CLUSTERS, ids=lambda c: " ".join(f"{ord(x):X}" for x in c))
def test_a_cut_never_falls_inside_a_cluster(cluster: str) -> None:
    text = f"a{cluster}b{cluster}{cluster}c"
    inside = {n for start in (1, 2 + len(cluster), 2 + 2 * len(cluster)) for n in range(start + 1, start + len(cluster))}
    for at in range(len(text) + 1):
        for direction in (-1, 1):
            assert grapheme_cut(text, at, direction) not in inside


def test_flags_are_cut_between_pairs() -> None:
    flags = "\U0001f1f3\U0001f1f4" * 4
    assert [grapheme_cut(flags, n, -1) for n in range(9)] == [0, 0, 2, 2, 4, 4, 6, 6, 8]


def test_head_and_tail_are_pieces_of_the_original_and_the_marker_says_how_much_is_missing() -> None:
    text = "".join(f"line {n} says something\n" for n in range(300))
    for room in (80, 200, 1000, 3000):
        short = shorten_text(text, at_most(room))
        assert short is not None
        assert len(short) <= room
        head, missing, tail = split_at_marker(short)
        assert text.startswith(head)
        assert text.endswith(tail)
        assert len(head) + missing + len(tail) == len(text)
        assert len(short) > room - 120, "it keeps about what fits"


def test_identifiers_are_kept_whole_or_left_out_whole() -> None:
    text = " ".join(f"contract AB-2024-{n:03d} is due." for n in range(200))
    known = set(re.findall(r"AB-\d{4}-\d{3}", text))
    for room in range(60, 400, 7):
        short = shorten_text(text, at_most(room))
        assert short is not None
        assert set(re.findall(r"AB[-\d]*", short)) <= known


def test_nothing_fits_when_not_even_the_marker_does() -> None:
    assert shorten_text("word " * 100, lambda candidate: len(candidate) < 10) is None


def test_a_counter_that_never_shrinks_ends_the_search() -> None:
    asked: list[int] = []

    def never(candidate: str) -> bool:
        asked.append(len(candidate))
        return False

    assert shorten_text("word " * 100_000, never) is None
    assert len(asked) <= 25


def test_the_search_looks_at_little_more_than_it_keeps() -> None:
    text = "word " * 200_000
    looked_at: list[int] = []

    def fits(candidate: str) -> bool:
        looked_at.append(len(candidate))
        return len(candidate) <= 2_000

    assert shorten_text(text, fits) is not None
    assert max(looked_at) <= 6_000


def test_all_texts_of_a_message_give_way_longest_first() -> None:
    parts = (Text("a " * 50), Text("b " * 10), Text("c " * 80))
    short = shorten_message(Message(role="user", parts=parts), WordsCounter(), 70)
    assert WordsCounter().count_message(short) <= 70
    assert short.parts[1] == parts[1]


def test_results_with_several_parts_are_shortened_inside() -> None:
    result = ToolResult(call_id="c", parts=(Text("small one"), Text("x " * 500)))
    short = shorten_message(Message(role="tool", parts=(result,)), WordsCounter(), 40)
    inner = short.tool_results[0].parts
    assert inner[0] == Text("small one")
    assert WordsCounter().count_message(short) <= 40


def test_shortening_makes_no_new_replacement_characters_in_any_script() -> None:
    rng = random.Random(4)
    alphabet = "aé漢字かな한글ไทยहिंदी👩‍👩‍👧🇳🇴 \n"
    for _ in range(50):
        text = "".join(rng.choice(alphabet) for _ in range(rng.randint(100, 400)))
        short = shorten_text(text, lambda candidate: len(candidate) <= 80)
        assert short is not None
        assert "\ufffd" not in short
        short.encode()


class CountingText(str):
    """A text that counts how many of its characters were looked at one by one."""

    reads = 0

    def __getitem__(self, key: SupportsIndex | slice) -> str:
        self.reads += not isinstance(key, slice)
        return super().__getitem__(key)


@pytest.mark.parametrize(
    "text", ["e" + "\u0301" * 300_000, "\U0001f1f3\U0001f1f4" * 200_000, "a\u200d" * 200_000], ids=["marks", "flags", "joiners"]
)
def test_work_on_endless_clusters_does_not_grow_with_them(text: str) -> None:
    for direction in (-1, 1):
        counted = CountingText(text)
        at = len(text) // 2 + 1
        assert grapheme_cut(counted, at, direction) in (at, at + direction)
        assert counted.reads <= 500
    counted = CountingText(text)
    short = shorten_text(counted, at_most(1_000))
    assert short is not None
    assert len(short) <= 1_000
    assert counted.reads <= 25 * 2 * 700


def test_clusters_up_to_the_reach_are_kept_whole() -> None:
    text = "ab" + "\u0301" * 64 + "c"
    assert [grapheme_cut(text, at, -1) for at in (1, 2, 40, 65, 66)] == [1, 1, 1, 1, 66]


EARLIER = "[…45 lines left out; repeat the call to see them, if it only reads…]"
ANY_MARKER = re.compile(r"\[…\d+ \w+ left out[^…\n]*…\]")


@pytest.mark.parametrize("share", [0.0, 0.3, 0.5, 1.0])
@pytest.mark.parametrize(
    "marker", [EARLIER, "[…900 characters left out…]", "[…1 entry left out; read [id]/page.tsx again from line 7…]"]
)
def test_a_cut_never_falls_inside_an_earlier_marker(marker: str, share: float) -> None:
    for lead in (0, 10, 60):
        text = "x" * lead + marker + "words and more of them " * 6 + marker + "y" * lead
        for room in range(30, len(text)):
            short = shorten_text(text, at_most(room), share)
            if short is not None:
                assert "…" not in ANY_MARKER.sub("", short)


def test_a_marker_counts_the_characters_that_earlier_ones_stand_for() -> None:
    text = "".join(f"line {n} says something\n" for n in range(300))
    short = text
    for room in (3_000, 1_000, 400, 150):
        again = shorten_text(short, at_most(room))
        assert again is not None
        short = again
        head, missing, tail = split_at_marker(short)
        assert len(head) + missing + len(tail) == len(text)
        assert len(ANY_MARKER.findall(short)) == 1


def test_what_a_spared_marker_leaves_goes_to_the_tail() -> None:
    text = f"{EARLIER}\n1 failed, 200 passed in 12.3s"
    assert shorten_text(text, at_most(65)) == f"[…{len(EARLIER)} characters left out…]\n1 failed, 200 passed in 12.3s"


def test_what_only_looks_like_a_marker_is_text() -> None:
    text = "[…" + "9" * 5_000 + " lines left out…]" + "word " * 200
    short = shorten_text(text, at_most(300))
    assert short is not None
    assert len(short) <= 300
