"""The exact values of a text, in one form each, so that two texts can be compared (a summary and what it was made of)."""

from __future__ import annotations

from functools import lru_cache

from .found_values import found_values

__all__ = ["exact_values"]

_SHORT = 256  # characters; the facts of a ledger are no longer, and are read again at every fold
_REMEMBERED = 16_384


def exact_values(text: str) -> frozenset[str]:
    """Identifiers, numbers, dates, times, paths, addresses and symbols of programs in a text, normalised.

    Every value of a faithful summary is in the set of its source: `exact_values(summary) <= exact_values(source)`.

    - Numbers are without separators of thousands, currency, sign and unit: `$10,000.00`, `10000 EUR` and `1万` are `10000`,
      `5k` is `5000`; a percentage is `15%` and `15`. Digits of any script are ASCII digits.
    - Dates are `2024-03-05` with the parts that can be said alone (`03-05`, `2024-03`, `2024`), in English and Chinese; a date in
      all figures such as `03/05/2024` stays as it is, since its order is not known. Quarters and halves of years are `2024-Q3`
      and `2024-H1`. Times are `15:30`.
    - Identifiers are as written, without a leading `#`: what has a digit or an underscore within, e-mail addresses (in small
      letters), dotted and camel-case names. Paths are whole, and the file's name besides; URLs are whole.
    - Numbers of lists at the beginning of a line are left out. Words, however rare, and numbers in words are no exact values.

    Time grows with the length of the text. JSON should be decoded first: in `"\\nAB-1"` the escape would be read as a letter.
    """
    return _of_short(text) if len(text) <= _SHORT else _of(text)


def _of(text: str) -> frozenset[str]:
    return frozenset([form for value in found_values(text) for form in value.forms])


_of_short = lru_cache(_REMEMBERED)(_of)
