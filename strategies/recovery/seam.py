"""Where a cut answer and its continuation meet: what the continuation says again is told from what is new (R172).

A model that is asked to go on often repeats the end of what it wrote, opens a code block again, or begins anew. Text is dropped
only on evidence: what is repeated must be long enough, must stand once in what was written, and must not be a repetition of its
own, such as a row of dashes. Otherwise everything is kept, since a repeated line does less harm than a lost one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from attrs import define

__all__ = ["Seam", "in_code_block"]

_AT_WORD = 8  # letters and digits that a repetition has at least when it begins with a word: two or three words
_INSIDE_WORD = 16  # and when it begins inside one, unless it is longer than this:
_LONG = 32
_ALL = 3  # and when it is all that was written, and more follows
_AFTER_PREAMBLE = 16  # and when it follows a line that announces it: "Here is the rest:"
_PREAMBLE = 120  # characters of such a line at most
_PIECE = 24  # letters and digits of a continuation that is the beginning of the answer, and nothing else
_ANY_PIECE = 200  # and of one that is any other piece of it: lines of code may well come twice
_COLONS = ":\uff1a"  # the second is that of Chinese and Japanese
_LEAD_IN = re.compile(r"[\s.…]*")  # what often stands before a repetition
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})[ \t]*([^\s`]*)[^`\n]*")


def in_code_block(text: str) -> bool:
    """Whether the text ends inside a fenced code block (Markdown)."""
    opened = ""
    for line in text.splitlines():
        found = _FENCE.fullmatch(line)
        if found is None:
            continue
        fence, language = found[1], found[2]
        if not opened:
            opened = fence
        elif fence.startswith(opened) and not language:
            opened = ""
    return bool(opened)


@define
class Seam:
    """Takes the text of a continuation as it arrives, and gives back what is new.

    `written` is the answer so far. `trimmed` is the white space at its end that the model was not shown: a prefill must not end
    in white space, so the model may write it again. `dropped` says how much of the continuation was said before.
    """

    written: str
    trimmed: str = ""
    dropped: int = 0
    _held: str = ""
    _open: bool = True

    def feed(self, text: str) -> str:
        """What can be told to be new; the rest is held until more arrives."""
        if not self._open:
            return text
        self._held += text
        return "" if _undecided(self.written, self._held, self.trimmed) else self._decide(cut=False)

    def close(self, *, cut: bool) -> str:
        """What is left when the continuation ended; `cut`: it was cut as well."""
        return self._decide(cut=cut) if self._open else ""

    def _decide(self, *, cut: bool) -> str:
        self._open = False
        held = self._held
        anew = cut and _begun_anew(self.written, held)
        self.dropped = len(held) if anew else _repeated(self.written, held, self.trimmed)
        return held[self.dropped :]


def _undecided(written: str, held: str, trimmed: str) -> bool:
    """Whether more text could still make a repetition of what is held."""
    if trimmed and trimmed.startswith(held):
        return True
    if "\n" not in held and len(held) <= _PREAMBLE:
        return True
    fence = _reopened_fence(written, held)
    starts = [fence] if fence else [start for start, _ in _starts(written, held)]
    return any(held[start:] in written for start in starts)


def _starts(written: str, more: str) -> Iterator[tuple[int, int]]:
    """Where in `more` a repetition may begin, and how many letters it must have more than the least."""
    yield 0, 0
    lead_in = _LEAD_IN.match(more)
    after = lead_in.end() if lead_in else 0
    if after:
        yield after, 0
    line = more.find("\n", after)
    if 0 < line - after <= _PREAMBLE and more[line - 1] in _COLONS and not in_code_block(written):
        yield line + len(more[line:]) - len(more[line:].lstrip("\n")), _AFTER_PREAMBLE


def _repeated(written: str, more: str, trimmed: str) -> int:
    """How many characters at the start of `more` were said before."""
    fence = _reopened_fence(written, more)
    if fence:
        return fence + _restarted_line(written, more[fence:])
    for start, least in _starts(written, more):
        length = _repetition(written, more[start:], least)
        if length:
            return start + length
        bare = written.rstrip()
        length = _repetition(bare, more[start:], least) if bare != written else 0
        if length:  # the white space after it was written before, whichever it was
            rest = more[start + length :]
            return len(more) - len(rest.lstrip())
    return _overlap(trimmed, more) if trimmed else 0


def _repetition(written: str, more: str, least: int) -> int:
    """The length of the longest start of `more` with which `written` ends, if it is a repetition by evidence; else 0."""
    length = _overlap(written, more)
    if not length:
        return 0
    at = len(written) - length
    text = written[at:]
    inside_word = at > 0 and written[at - 1].isalnum() and text[0].isalnum()
    anew = at == 0 and bool(more[length:].strip())  # "yes" after "yes" may well be meant
    enough = _ALL if anew else _INSIDE_WORD if inside_word and length < _LONG else _AT_WORD
    if _letters(text) < max(least, enough):
        return 0
    return 0 if _is_periodic(text) or written.find(text) < at else length


def _is_periodic(text: str) -> bool:
    """Whether a text is a repetition of its own, such as `no no`, where what stands between is there once less."""
    return 2 * _borders(text)[-1] >= len(text) - 1


def _letters(text: str) -> int:
    """How much a text says: its letters and digits, twice those outside ASCII, which are often whole syllables or words."""
    return sum([1 + (character > "\x7f") for character in text if character.isalnum()])


def _overlap(written: str, more: str) -> int:
    """The length of the longest start of `more` with which `written` ends (Knuth, Morris, Pratt): linear in `more`."""
    if not more:
        return 0
    borders = _borders(more)
    length = 0
    for character in written[-len(more) :]:
        while length and (length == len(more) or character != more[length]):
            length = borders[length - 1]
        if character == more[length]:
            length += 1
    return length


def _borders(text: str) -> list[int]:
    """For each start of `text`, the length of its longest proper start that is also its end."""
    borders = [0]
    length = 0
    for character in text[1:]:
        while length and character != text[length]:
            length = borders[length - 1]
        if character == text[length]:
            length += 1
        borders.append(length)
    return borders


def _begun_anew(written: str, held: str) -> bool:
    """Whether a continuation that was cut as well said nothing but the beginning, or a long piece, of what stands there once."""
    said = held.strip()
    least = _PIECE if written.lstrip().startswith(said) else _ANY_PIECE
    return _letters(said) >= least and written.count(said) == 1 and not _is_periodic(said)


def _reopened_fence(written: str, more: str) -> int:
    """The length of a line that opens a code block, at the start of `more`, where one is open already; else 0."""
    first, line_end, _ = more.lstrip("\n").partition("\n")
    found = _FENCE.fullmatch(first)
    if not (line_end and found and found[2] and in_code_block(written)):
        return 0
    return len(more) - len(more.lstrip("\n")) + len(first) + 1


def _restarted_line(written: str, more: str) -> int:
    """The length of the unfinished last line of `written`, if `more` begins with it."""
    length = _repetition(written, more, 0)
    if length:
        return length
    unfinished = written[written.rfind("\n") + 1 :]
    return len(unfinished) if unfinished and more.startswith(unfinished) else 0
