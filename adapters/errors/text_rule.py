"""One family of wordings of an error."""

from __future__ import annotations

import re

from attrs import field, frozen

from contextport.contracts.provider_error import ErrorKind as K
from contextport.contracts.provider_error import Remedy as R

__all__ = ["TextRule", "first_match"]


def _pattern(source: str) -> re.Pattern[str]:
    return re.compile(source)


def _optional(source: str | None) -> re.Pattern[str] | None:
    return None if source is None else re.compile(source)


@frozen
class TextRule:
    """A family of wordings. `unless` is what takes it back; `remedy` None is the usual one of the kind."""

    name: str
    kind: K
    pattern: re.Pattern[str] = field(converter=_pattern)
    unless: re.Pattern[str] | None = field(default=None, converter=_optional, kw_only=True)
    remedy: R | None = field(default=None, kw_only=True)

    def matches(self, words: str) -> bool:
        """Whether the text is of this family."""
        return self.pattern.search(words) is not None and (self.unless is None or self.unless.search(words) is None)


def first_match(rules: tuple[TextRule, ...], words: str) -> TextRule | None:
    """The first rule whose family the text is of."""
    return next((rule for rule in rules if rule.matches(words)), None)
