"""How a text becomes terms: what is counted in an index of words, and what a question is looked up by.

Case, accents and the forms of a character (full width, ligatures) make no difference. What holds together, such as
`AB-2024-001`, `file_name.py`, `fileName` or `e-mail`, is a term as a whole, written without its signs, and so is each of its
parts: it is found by either, and by both if the whole is asked for. Words are cut off no ending here: stemming is the index's.

Scripts that set no spaces cannot be cut into words without a dictionary. Chinese, Japanese and Korean are taken as single
characters and as pairs of neighbours; Thai, Lao, Burmese and Khmer, whose letters say little alone, as pairs.
"""

from __future__ import annotations

import re
import unicodedata
from itertools import pairwise

__all__ = ["LONGEST_TERM", "STOP_WORDS", "terms_of"]

LONGEST_TERM = 64
"""Characters of a term; of what is longer, such as an encoded picture, the first ones count."""

_ENGLISH = """
a an the this that these those
i me my mine myself you your yours yourself he him his himself she her hers herself it its itself we us our ours ourselves
they them their theirs themselves
am is are was were be been being do does did doing have has had having can could will would shall should might must
and or but nor if because as so than then though although while until
of at by for with about against between into through during before after to from in out on off over under up down upon within
what when where which who whom whose why how
not no any some such only own same too very just also there here again both each few more most other all please
s t d m ll ve re don doesn didn isn aren wasn weren won wouldn couldn shouldn hasn haven hadn ain
dont doesnt didnt isnt arent wasnt werent wont wouldnt couldnt shouldnt hasnt havent hadnt im ive youre youve theyre thats whats
st nd rd th
"""

STOP_WORDS = frozenset(_ENGLISH.split())
"""English words that stand in every text, what contractions leave (`don't`), and the endings of ordinal numbers."""

_PARTICLES = frozenset("的了是在我你他她它们吗呢吧啊呀のはをにがでともやかるたてすしいー은는이가을를의에도")
"""Signs that stand in every text of their language; their pairs say something, they themselves do not."""

_CHARACTERS = (
    "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3038-\u303b\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003fffd"  # Han
    "\u3031-\u3035\u3041-\u3096\u3099\u309a\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\U0001aff0-\U0001b16f"  # kana
    "\u3105-\u312f\u31a0-\u31bf"  # Bopomofo
    "\u1100-\u11ff\ua960-\ua97c\uac00-\ud7a3\ud7b0-\ud7fb"  # Hangul
)
_LETTERS = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ece\u0edc-\u0edf"  # Thai, Lao
    "\u1000-\u103f\u1050-\u109d\ua9e0-\ua9ef\uaa60-\uaa7f\u1780-\u17d3"  # Burmese, Khmer
)
# Signs that are part of a word and no letters for Python: vowels of the scripts of India, Tibetan, Thaana, N'Ko.
_VOWELS = "\u0900-\u0963\u0966-\u0dff\u0f18\u0f19\u0f35\u0f37\u0f39\u0f71-\u0f84\u0f8d-\u0fbc\u07a6-\u07b0\u07eb-\u07f3"
_WORD = rf"[^\W_{_CHARACTERS}{_LETTERS}]++(?:[{_VOWELS}]++[^\W_{_CHARACTERS}{_LETTERS}]*+)*+"
_UNIT = re.compile(
    rf"(?P<word>{_WORD})(?P<more>(?:(?:[-_.@]|(?<=\d)[:/](?=\d)){_WORD})++)?"
    rf"|(?P<characters>[{_CHARACTERS}]++)|(?P<letters>[{_LETTERS}]++)"
)
_JOINT = re.compile(r"[-_.@:/]")
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_NUMBER_AND_WORD = re.compile(r"(\d+)([^\W\d]+)|([^\W\d]{2,})(\d+)")

# Left out before comparing: accents, points of Hebrew and Arabic, signs that are not seen.
_UNSEEN = re.compile(
    "[\u00ad\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06dc"
    "\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u1ab0-\u1aff\u1dc0-\u1dff\u200b-\u200f\u2060\u20d0-\u20f0\ufe00-\ufe0f\ufe20-\ufe2f"
    "\ufeff]+"
)
_LATIN = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "\u0131": "i", "ħ": "h"})
# Unicode sorts the accents of a letter, which takes the square of their number: no letter has as many as these.
_PILE = re.compile(r"((?:[^\w\s\x00-\x7f]|[\uff9e\uff9f]){32})(?:[^\w\s\x00-\x7f]|[\uff9e\uff9f])++")


def terms_of(text: str) -> list[str]:
    """The terms of a text in order, as often as they stand in it.

    A term has letters, digits and, in a number, points: no spaces, no other signs, no lone surrogates. Time and memory grow
    with the length of the text.
    """
    found: list[str] = []
    for unit in _UNIT.finditer(_folded(text)):
        word, more, characters, letters = unit.groups()
        if more is not None:
            _add_joined(found, word + more)
        elif word is not None:
            _add_word(found, word)
        elif characters is not None:
            found.extend([sign for sign in characters if sign not in _PARTICLES])
            found.extend(map("".join, pairwise(characters)))
        elif len(letters) > 1:
            found.extend(map("".join, pairwise(letters)))
        else:
            found.append(letters)
    return found


def _folded(text: str) -> str:
    """The text in small letters without accents, with humps as `_` and thousands without commas."""
    text = _THOUSANDS.sub("", _HUMP.sub("_", text))
    if text.isascii():
        return text.lower()
    apart = unicodedata.normalize("NFKD", _PILE.sub(r"\1", text)).casefold()
    return unicodedata.normalize("NFC", _UNSEEN.sub("", apart)).translate(_LATIN)


def _add_joined(found: list[str], joined: str) -> None:
    """The parts, and the whole: of numbers with points, so that 1.5 is not 15, and of anything else without signs."""
    parts = _JOINT.split(joined)
    for part in parts:
        _add_word(found, part)
    sign = "." if all(part.isdigit() for part in parts) else ""
    found.append(sign.join(parts)[:LONGEST_TERM])


def _add_word(found: list[str], word: str) -> None:
    """The word if it says something; a number that stands with a word, such as 10am or 7th, apart as well."""
    if word in STOP_WORDS:
        return
    found.append(word[:LONGEST_TERM])
    if not word.isalpha() and (split := _NUMBER_AND_WORD.fullmatch(word)):
        found.extend([part[:LONGEST_TERM] for part in split.groups() if part and part not in STOP_WORDS])
