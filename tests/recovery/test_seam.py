"""What a continuation says again is left out, and nothing else is."""

import pytest

from contextport.strategies.recovery.seam import Seam, in_code_block

REPEATED = [
    ("The quick brown fox jumps over", "fox jumps over the lazy dog", " the lazy dog"),
    ("The quick brown fox jumps over", " fox jumps over the lazy dog", " the lazy dog"),
    ("The quick brown fox jumps over", "...jumps over the lazy dog", " the lazy dog"),
    ("The quick brown fox jumps over ", "jumps over the lazy dog", "the lazy dog"),
    ("one two three four", "three four five", " five"),
    ("One line.\nThe second li", "The second line.", "ne."),
    ("Once upon a time", "Once upon a time there was", " there was"),  # begun anew
    ("Sun", "Sunday", "day"),
    ("我们今天讨论的是上下文窗口", "讨论的是上下文窗口的管理", "的管理"),
    ("The quick brown fox jumps over the", "Here is the rest:\n\nThe quick brown fox jumps over the lazy dog", " lazy dog"),
    ("```python\nx = 1\ny = ", "```python\ny = 2\n```", "2\n```"),
    ("```python\nx = 1\n", "```python\ny = 2\n```", "y = 2\n```"),
    ("A 👩‍💻 writes code all day long", "code all day long 🎉", " 🎉"),
]


@pytest.mark.parametrize(("written", "more", "new"), REPEATED)
def test_what_was_said_is_not_said_again(written: str, more: str, new: str) -> None:
    assert joint(written, more) == new


KEPT = [
    ("The total is ", "42 euros"),
    ("hel", "lo"),
    ("Il prend du cous", "cous"),
    ("100", "000"),
    ("It is very ", "very good"),
    ("| --- | --- | --- |\n", "| --- | --- | --- |\n| a | b | c |"),
    ("=" * 12, "=" * 12),
    ("na na na na na ", "na na na na na batman"),
    ("row one two\nrow one two\n", "row one two\nrow three"),
    ("x = 1\n", "x = 1\n"),
    ("```\ncode\n", "```\nText after the block"),  # the closing fence of the block
    ("Text.\n\n", "```python\nx = 1\n```"),
    ("First paragraph.", "\n\nSecond paragraph."),
    ("First paragraph.\n", "\nSecond paragraph."),
    ("A long first sentence of some words.", "Notes:\nother words than before"),
    ("```\nassert_equal(result, expected)", "\nfor x in y:\nassert_equal(result, expected)\n"),
    ("assert_equal(result, expected)", "\nx = 2\nassert_equal(result, expected)\n"),
    ("yes", "yes"),
    ("word", "word\n"),
    ("no no", "no no no"),
    ("1, 2, 3, ", "1, 2, 3, "),
    ("    return x\n", "    return x\n"),
    ("", "begins"),
    ("ends", ""),
]


@pytest.mark.parametrize(("written", "more"), KEPT)
def test_what_is_new_is_kept(written: str, more: str) -> None:
    assert joint(written, more) == more


@pytest.mark.parametrize("step", [1, 2, 5, 1_000])
@pytest.mark.parametrize(("written", "more"), [*((one, two) for one, two, _ in REPEATED), *KEPT])
def test_the_size_of_the_pieces_changes_nothing(written: str, more: str, step: int) -> None:
    assert joint(written, more, step=step) == joint(written, more)


def test_a_piece_of_what_stands_there_adds_nothing_if_it_is_cut_as_well() -> None:
    written = "A fairly long beginning of an answer that goes on for a while and is then cut"
    piece = "A fairly long beginning of an answer that"
    assert joint(written, piece, cut=True) == ""
    assert joint(written, piece, cut=False) == piece
    assert joint("ha " * 60, "ha " * 50, cut=True) == "ha " * 50
    line = "        raise InvalidArgument(name, value)\n"
    assert joint("if not name:\n" + line + "if not value:\n", line, cut=True) == line
    long = " ".join(f"word{n}" for n in range(60))
    assert joint("An introduction. " + long + " and more", long, cut=True) == ""
    assert joint("row one two three four five six\n" * 9, "row one two three four five six\n" * 3, cut=True) != ""


@pytest.mark.parametrize(
    ("trimmed", "more", "new"),
    [(" ", " 42", "42"), (" ", "42", "42"), ("\n", "\n\nNext", "\nNext"), ("\n\n", "\n\nNext", "Next"), (" ", "", "")],
)
def test_white_space_that_was_not_shown_is_not_doubled(trimmed: str, more: str, new: str) -> None:
    seam = Seam("The total is" + trimmed, trimmed)
    assert "".join([*map(seam.feed, more), seam.close(cut=False)]) == new
    assert seam.dropped == len(more) - len(new)


def test_text_is_handed_on_as_soon_as_it_is_known_to_be_new() -> None:
    seam = Seam("The answer is written down here.")
    assert seam.feed(" And then") == ""
    rest = seam.feed(" something happened that nobody had expected.\nIt")
    assert rest.startswith(" And then")
    assert seam.feed(" w") == " w"


@pytest.mark.parametrize(
    ("text", "inside"),
    [
        ("```py\nx", True),
        ("```py\nx\n```", False),
        ("~~~\n```\n", True),
        ("````\n```\nx", True),
        ("`inline`", False),
        ("", False),
        ("```\na\n```\n```js\nb", True),
    ],
)
def test_open_code_block(text: str, inside: bool) -> None:
    assert in_code_block(text) is inside


def joint(written: str, more: str, *, step: int | None = None, cut: bool = False) -> str:
    seam = Seam(written)
    size = step or max(1, len(more))
    pieces = [seam.feed(more[n : n + size]) for n in range(0, len(more), size)]
    new = "".join(pieces) + seam.close(cut=cut)
    assert seam.dropped == len(more) - len(new)
    return new
