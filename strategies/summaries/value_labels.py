"""What exact values are called: a value under the name of another is a fault that no look-up of values finds.

The source says "contract AB-2024-001" and "a budget of 10000", the summary "the contract number is 10000": every value in it is
right, and the sentence is wrong.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from attrs import field, frozen

from contextport.strategies.facts.found_values import FoundValue, as_ascii, found_values

from .words import words_of

__all__ = ["LabelledValues", "relabelled"]

_SENTENCE = re.compile(r"[\n。\uff01\uff1f\uff1b!?;]+|(?<!\bno)(?<!\bnr)\.(?=\s|$)", re.IGNORECASE)
_CLAUSE = re.compile(r"\uff0c|,(?=\s)")
_NO_NAMES = """
a an the is are was were be been being it its of to at on in for from with by as and or no nr not number numbers id ids code value
amount total about only exactly has have had will would shall should can that this these those than then now also user assistant
tool found must open done decided
"""
_EMPTY = frozenset(_NO_NAMES.split())
_WIDE = re.compile(r"[\u3400-\u9fff]+")
_WIDE_EMPTY = re.compile(r"编号|号码|代码|数量|金额|总共|一共|大约|等于|设为|改为|[是为的号约共了在有至到和与]")
_BINDS = re.compile(
    r"[\s\"'`*_]*(?:(?:number|no\.?|nr\.?|id|code|value)[\s\"'`*_]*)?(?:is|was|are|:|=|\uff1a|是|为|#)[\s\"'`*_#$€£¥]*$",
    re.IGNORECASE,
)
_AMOUNT = re.compile(
    r"[\s-]?(?:%|\$|€|£|¥|[元块人天个米次年月周]|公里|(?:usd|eur|gbp|rmb|cny|dollars?|euros?|pounds?|k?g|[kcm]?m|[kmgt]i?b|m?s|h|min|"
    r"seconds?|minutes?|hours?|days?|weeks?|months?|years?|people|persons?|tokens?|words?)\b)",
    re.IGNORECASE,
)
_AS_NAME = re.compile(
    r"(?:\b(?:number|no\.?|nr\.?|id|code)(?: of (?:(?:the|our|his|her|their) )?[a-z]{1,20})?[\s\"'`*_]*(?:is|was|are|:|=|#)?"
    r"|(?:编号|号码|代码|单号|号)(?:是|为|\uff1a|:)?)[\s\"'`*_#]*$",
    re.IGNORECASE,
)
_NAMED_AFTER = re.compile(r"[\s\"'`*_]{0,9}(?:(?:is|was)\b|[是为(\uff08])", re.IGNORECASE)
_CODE_AFTER = re.compile(r"\b(?:number|id|code)\b|编号|号码|代码", re.IGNORECASE)
_LONGEST_AFTER = 2  # words after a value that are its name; more are a sentence on it
_OF_AMOUNTS = frozenset(["budget", "price", "cost", "fee", "salary", "rent", "预算", "经费", "价格", "费用"])
_CURRENCY = frozenset("$€£¥")

_DIGIT = re.compile(r"\d")
_NEAR = 8  # words on either side of a value that can name it
_REACH = 240  # characters on either side in which they are looked for
_TIE = 40  # characters before a value in which a word that ties it to its name stands


@frozen(kw_only=True)
class _Named:
    """A value in its sentence: the nearest word before it, the nearest words around it, and how they are tied.

    `bound`: by "is" or a colon. `as_name`: as the number or code of something. `is_amount`: with a unit or currency.
    """

    value: FoundValue
    label: str
    around: frozenset[str]
    after: frozenset[str]
    bound: bool
    as_name: bool
    is_amount: bool


@frozen
class LabelledValues:
    """By value, the nearest words around it; by word, the values that it stands right before; values that are amounts."""

    around: dict[str, set[str]] = field(factory=dict[str, set[str]])
    labelled: dict[str, set[str]] = field(factory=dict[str, set[str]])
    amounts: set[str] = field(factory=set[str])

    @classmethod
    def of(cls, texts: Iterable[str]) -> LabelledValues:
        """What the values of the texts are called."""
        found = cls()
        for text in texts:
            for named in _named_values(text):
                for form in named.value.forms:
                    found.around.setdefault(form, set()).update(named.around)
                if named.is_amount or named.label in _OF_AMOUNTS:
                    found.amounts.add(named.value.forms[0])
                if named.label:
                    found.labelled.setdefault(named.label, set()).add(named.value.forms[0])
        return found


def relabelled(summary: str, source: LabelledValues) -> Iterator[tuple[str, str]]:
    """Values of the summary with the name they are given there, where the source gives that name to others only.

    Also amounts of the source that became the number or code of something.
    """
    for named in _named_values(summary):
        value = named.value.forms[0]
        around = source.around.get(value)
        if around is None or not named.label or (named.is_amount and not named.bound):
            continue
        owners = source.labelled.get(named.label, set())
        agrees = named.label in around or (not named.bound and bool(named.after & around))
        taken = bool(owners) and not owners & set(named.value.forms)
        if not agrees and (taken or (named.as_name and value in source.amounts)):
            yield value, named.label


def _named_values(text: str) -> Iterator[_Named]:
    for sentence in _SENTENCE.split(as_ascii(text)):
        if not _DIGIT.search(sentence):
            continue
        values = [value for value in found_values(sentence) if _DIGIT.search(sentence, value.start, value.end)]
        gaps = [_Gap.of(sentence, *bounds) for bounds in zip(_starts(values), _ends(values, len(sentence)), strict=True)]
        words = [word for gap in gaps for word in gap.words]
        place = 0
        for value, before, after in zip(values, gaps, gaps[1:], strict=False):
            place += len(before.words)
            names = before.last_clause
            is_after = not names and _is_name(after)
            yield _Named(
                value=value,
                label=names[-1] if names else after.first_clause[-1] if is_after else "",
                around=frozenset(
                    (*before.words[-_NEAR:], *after.first_clause) if names else words[max(0, place - _NEAR) : place + _NEAR]
                ),
                after=frozenset(after.first_clause),
                bound=is_after or bool(_BINDS.search(before.end)),
                as_name=bool(_CODE_AFTER.search(after.beginning) if is_after else _AS_NAME.search(before.end)),
                is_amount=before.end.rstrip()[-1:] in _CURRENCY or bool(_AMOUNT.match(after.beginning)),
            )


def _is_name(after: _Gap) -> bool:
    """Whether the words after a value are its name, as in `10000 is the budget` and `10000 (budget)`."""
    return 0 < len(after.first_clause) <= _LONGEST_AFTER and bool(_NAMED_AFTER.match(after.beginning))


@frozen
class _Gap:
    """What stands between two values of a sentence: its text near either value, and the words in it that are nearest to one."""

    beginning: str
    end: str
    words: tuple[str, ...]
    first_clause: tuple[str, ...]
    last_clause: tuple[str, ...]

    @classmethod
    def of(cls, sentence: str, start: int, end: int) -> _Gap:
        if end - start < 2 and not sentence[start:end].isalnum():
            return cls(sentence[start:end], sentence[start:end], (), (), ())
        head, tail = sentence[start : min(end, start + _REACH)], sentence[max(start, end - _REACH) : end]
        if end - start <= _REACH:
            words = tuple(_content(head))
            words = words if len(words) <= 2 * _NEAR else (*words[:_NEAR], *words[-_NEAR:])
        else:
            words = (*tuple(_content(head))[:_NEAR], *tuple(_content(tail))[-_NEAR:])
        first, last = _CLAUSE.split(head, maxsplit=1)[0], _CLAUSE.split(tail)[-1]
        return cls(head, tail[-_TIE:], words, tuple(_content(first))[:_NEAR], tuple(_content(last))[-_NEAR:])


def _starts(values: list[FoundValue]) -> list[int]:
    return [0, *[value.end for value in values]]


def _ends(values: list[FoundValue], end: int) -> list[int]:
    return [*[value.start for value in values], end]


def _content(text: str) -> Iterator[str]:
    """The words that can name a value, without what stands between any name and any value; parts of `contract_id` alone."""
    spread = re.sub(r"(?<=[a-z])(?=[A-Z])|[_./-]", " ", text)
    spread = _WIDE.sub(lambda run: f" {_WIDE_EMPTY.sub(' ', run[0])} ", spread)
    for word in words_of(spread):
        if word not in _EMPTY and not word[0].isdigit():
            yield word[:-1] if len(word) > 3 and word.endswith("s") and word.isascii() else word
