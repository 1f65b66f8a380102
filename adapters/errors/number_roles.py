"""What each number of an error is: the limit, the input, the output, the sum, the excess, or nothing of the kind.

A number has a role by the words next to it and by comparison signs, whatever the order in which a provider names them. Words far
from it, and numbers that are indices, ids, times or sizes of media, give it none.
"""

from __future__ import annotations

import re
from typing import Final, Literal

from attrs import define, field

from .message_text import ReadText

__all__ = ["Numbers", "numbers_of"]

Role = Literal["limit", "input", "output", "total", "excess", "requested", "part", ""]
Unit = Literal["tokens", "characters", "bytes"]

_MOST_TOKENS: Final = 1_000_000_000
_LEFT: Final = 110  # characters before a number that can give it a role
_RIGHT: Final = 40


@define
class Numbers:
    """Roles that were found: per unit, role -> number. `lower_bound`: the counted number is at least that."""

    by_unit: dict[Unit, dict[Role, int]] = field(factory=lambda: {"tokens": {}, "characters": {}, "bytes": {}})
    lower_bound: bool = False
    limits: list[int] = field(factory=list)  # every number of tokens that reads like a limit

    @property
    def tokens(self) -> dict[Role, int]:
        """Roles of numbers that count tokens."""
        return self.by_unit["tokens"]

    def give(self, role: Role, number: int, unit: Unit) -> None:
        """The first number of a role stays; parts of the input are summed."""
        roles = self.by_unit[unit]
        if role == "limit" and unit == "tokens":
            self.limits.append(number)
        if role == "part":
            roles[role] = roles.get(role, 0) + number
        elif role:
            roles.setdefault(role, number)


def _comparisons(rows: tuple[tuple[str, tuple[Role, ...]], ...]) -> tuple[tuple[re.Pattern[str], tuple[Role, ...]], ...]:
    return tuple((re.compile(pattern), roles) for pattern, roles in rows)


def _places(rows: tuple[tuple[str, Role], ...]) -> tuple[tuple[re.Pattern[str], Role], ...]:
    return tuple((re.compile(pattern), role) for pattern, role in rows)


#: Comparisons, with what each number in them is. The gaps hold no other number.
_GAP: Final = r"[^#>=+;.]{0,48}"
_COMPARISONS: Final = _comparisons(
    (
        (rf"#{_GAP}> {_GAP}# ?- {_GAP}#(?:{_GAP}= {_GAP}#)?", ("output", "limit", "input", "")),
        (rf"#{_GAP}\+ {_GAP}#{_GAP}(?:>|exceed\w*|not (?:less|smaller) than) {_GAP}#", ("input", "output", "limit")),
        (r"# #(?= ?= ?#)", ("", "")),
        (rf"#{_GAP}\+ {_GAP}# ?= ?#{_GAP}> {_GAP}#", ("input", "output", "total", "limit")),
        (r"# ?/ ?# ?> ?#", ("", "requested", "limit")),
        (rf"#{_GAP}> ?=? ?#", ("requested", "limit")),
        (r"\b(?:got|given|received|have|sent|was|were|is) \(?# ?\+ ?#", ("input", "output")),
        (r"\[ ?# ?[,-] ?#", ("", "limit")),
        (r"# (?:(?:\w+ )?tokens? (?:over|above|beyond|past|more than)|more than) (?:the|its|your|this)\b", ("excess",)),
        (r"\bbetween # and #", ("", "limit")),
        (r"\bfrom # (?:\(\w+\) )?to #", ("", "limit")),
        (r"\(# (?:of|/|out of) # ?(?:tokens)?", ("requested", "limit")),
        (r"# ?/ ?# tokens", ("requested", "limit")),
        (r"# ?(?:vs|versus)\b\.? ?#", ("requested", "limit")),
    )
)

_OUTPUT_NAME: Final = re.compile(r"\b(?:output|completion|max (?:new |completion )?tokens|generat\w+|prediction)\b")
_INPUT_NAME: Final = re.compile(r"\b(?:inputs?|prompt|messages)\b")
#: After the number: other things than tokens.
_OTHER_UNIT: Final = re.compile(
    r" ?(?:seconds?|secs?|s|ms|minutes?|hours?|days?|images?|pages?|pixels?|px|messages?|blocks?|tools?|files?|items?|requests?"
    r"|api calls|calls|times|mib|gib|retries|attempts|docs|documents|秒|张|次)\b"
)
_CHARACTERS: Final = re.compile(r" ?(?:(?:input|prompt|text) )?(?:characters?|chars?)\b|[个]?字符")
_BYTES: Final = re.compile(r" ?(?:bytes?|kb|mb|gb|kib|字节)\b")
_CHARACTERS_BEFORE: Final = re.compile(
    r"\b(?:characters?|chars?|expected max ?length)\b[^#]{0,24}(?:#(?:(?!token)[^#;]){0,24})?\Z|字符[^#]{0,8}\Z"
)
_BYTES_BEFORE: Final = re.compile(
    r"\b(?:bytes|message size|payload size|body size|larger than max)[^#.]{0,20}(?:#[^#;]{0,24})?\Z"
)
_NO_COUNT_BEFORE: Final = re.compile(
    r"(?:(?:status|error|failed|returned|http|api error|code|status code|error code|\bid|index|port|version|tier|value ?="
    r"|retry after|wait"
    r"|try again in|position|(?<!input )line|column|"
    r"at|used|minimum is|minimum token count[^#]{0,30}is|prefix length|quota|upper bound for"
    r"|resulting in a max\w* \w+ \w+ of|available tokens"
    r"|batch of|budget(?: tokens)?)[ :(=]*)\Z"
)
#: A number in brackets has the unit of the one before them: `34 pages (only 12 available)`.
_BRACKET_AFTER: Final = re.compile(r"[^#(]{0,20}\((?:only |max |limit )?\Z")
_LOWER_BOUND: Final = re.compile(r"(?:at least|more than|over|above) (?:of )?\(?\Z")

#: Before the number, in the same clause. The first that matches wins.
_BEFORE: Final = _places(
    (
        (r"\badds? up to\Z|\bcomes to\Z|\btotall?ing\Z", "input"),
        (r"\bonly\Z", "limit"),
        (r"\bby(?: about| approximately| at least)?\Z", "excess"),
        (
            r"(?:[<≤]=?|less than|fewer than|less than or equal to|at most|no more than|(?:not|cannot|can't|never"
            r"|n't) (?:exceed|be (?:greater|more|larger|longer)"
            r" than)|up to|limited to(?: only)?|max(?:imum)? of|limit(?: of|:)?|(?:window|context|cache) of"
            r"|configured (?:with|for)|\b(?:slot|available|configured) context:?)\Z",
            "limit",
        ),
        (
            r"\bmax total tokens\Z|\btotal(?: token count| tokens?| length| number of tokens)?(?: is| of| was| would be|:"
            r"| =)*(?: at least| about)?\Z",
            "total",
        ),
        (r"\b(?:smaller|lower|shorter|less) than (?:the |your )?(?:\w+ )?(?:prompt|input|request|sequence)\b.*\Z", "input"),
        (r"\brequires a (?:\w+ ){0,2}(?:length|size|window|context) of\Z", "total"),
        (
            r"\b(?:input|inputs|prompt|messages)\b.*(?:\band\b|\+|\bplus\b).*\b(?:output|completion|max|new|generated"
            r"|prediction)(?: tokens?| budget| length)?(?: of)?\Z",
            "total",
        ),
        (
            r"\b(?:maximum|max) (?:number of )?(?:context|prompt|input|sequence|model|position|seq|token)\b.*\Z"
            r"|\bmaximum output\b.*\Z",
            "limit",
        ),
        (
            r"\b(?:exceed\w*|surpass\w*|greater than|larger than|longer than|more than|less than|higher than|than|over|above"
            r"|beyond|below|must be|should be"
            r"|cannot be|can't be|supports?|accepts?|can (?:only )?(?:read|handle|process|take|accept|hold)|holds|allowed"
            r"|allows|limit"
            r"|limits|limited|cap|capacity|range)\b(?!.*\b(?:received|got|given|requested|has|actual|used|passed|contains)\b)",
            "limit",
        ),
        (
            r"\bmax (?:completion |output |new |generation )?tokens?(?: or max completion tokens)?(?: value)?(?: of"
            r"| is too large|:| is)?\Z",
            "output",
        ),
        (
            r"\b(?:(?:output|completion|generation|generated)(?: tokens?| length)?|(?:answer|reply|response) (?:tokens|length))"
            r"(?: is| of|:| =)?\Z|\bgenerating\Z",
            "output",
        ),
        (r"(?:prompt|input) tokens? ?=\Z", "input"),
        (
            r"\b(?:(?:context|model) (?:window|length|size|limit)|batch size|n ctx|max(?:imum)?|capacity|(?:model|seq"
            r"|session|max) len)\b",
            "limit",
        ),
        (
            r"上限|最大|限制|最多|不超过|超过|超出|大于|以内"
            r"|limite|límite|máxim|massim|grenze|maximal|höchstens|au plus|лимит|максим|최대",
            "limit",
        ),
        (
            r"\b(?:will (?:take|need|require|use)|requested|requesting|request(?:ed)? about"
            r"|current(?:ly)?(?: length)?(?: is)?|asked for|received|got|given"
            r"|used|sent)(?: at least| about| a)?:?\Z",
            "requested",
        ),
        (
            r"\b(?:input|inputs|prompts?|messages?|request|requested|conversation|text|query|contains?|has|have|had|got"
            r"|given|received|passed|provided|resulted in"
            r"|sequence|history|payload|body|file|too (?:large|long)|number of tokens|token count|tokens?|keep the first"
            r"|estimated|actual|length|size)\b",
            "input",
        ),
        (r"输入|请求|提示|当前|数量|token|入力|現在|実際|입력|현재|요청|запрос|токен|entrada|eingabe|entrée", "input"),
    )
)
#: Right after the number.
_AFTER: Final = _places(
    (
        (r"\A draft\b", ""),
        (r"\A (?:requested )?(?:output|completion|new|generated|max new|max output|max) tokens?\b", "output"),
        (r"\A (?:tokens? )?(?:\w+ ){0,2}?(?:in|for|of) (?:the |your )?(?:completion|output|response|generation)\b", "output"),
        (
            r"\A (?:tokens? )?(?:from|in|of|for) (?:the |your )?(?:input |system )?(?:messages?|prompt|functions?|tools?|text"
            r"|tool input|text input|image input)\b",
            "part",
        ),
        (r"\A (?:inputs?|prompt|context) tokens?\b", "input"),
        (r"\A (?:tokens? )?(?:maximum|max|limit|allowed|context (?:length|window|limit|size)|exceeded)\b", "limit"),
        (r"\A ?(?:tokens? )?(?:requested|used|sent|angefragt)\b", "requested"),
        (r"\A ?(?:tokens? )?(?:at most|at maximum|(?:are|is) (?:available|allowed)|erlaubt|max\b)", "limit"),
        (r"\A ?(?:tokens? )?were (?:given|sent|passed|provided|requested)", "requested"),
        (r"\A tokens? long\b", "input"),
    )
)
#: Right after the number, and so plain that the clause before it does not count.
_SAID_AFTER: Final = _places(
    (
        (r"\A (?:tokens? |bytes )?(?:requested|given|provided|supplied|received|sent|read)\b", "requested"),
        (r"\A (?:tokens? )?(?:are |is )?(?:available|allowed|permitted)\b", "limit"),
    )
)
_TOKENS: Final = re.compile(r" ?(?:tokens?\b|токен|トークン|토큰|jetons|令牌)")
_OPENINGS: Final = " (:[=<,"
_CLAUSE: Final = re.compile(r"[.;,():]| - |\b(?:but|however|while|whereas|although)\b")


def numbers_of(read: ReadText) -> Numbers:
    """The roles of the numbers in a text."""
    words, found = read.words, Numbers()
    places = [one.start() for one in re.finditer("#", words)]
    given = _compared(words, places)
    unnamed: list[int] = []
    for index, (place, number) in enumerate(zip(places, read.numbers, strict=False)):
        start = places[index - 1] + 1 if index else 0
        end = places[index + 1] if index + 1 < len(places) else len(words)
        left, right = words[max(start, place - _LEFT) : place], words[place + 1 : min(end, place + _RIGHT)]
        before = words[max(0, place - _LEFT) : place]
        if number is None or number > _MOST_TOKENS or _OTHER_UNIT.match(right):
            continue
        if _OTHER_UNIT.match(left) and _BRACKET_AFTER.search(left) and not _TOKENS.match(right):
            continue
        unit = _unit(before, right)
        if index in given:
            role = given[index]
        elif _NO_COUNT_BEFORE.search(left) and not right.startswith(" tokens"):
            continue
        else:
            role = _role(left, right)
        found.give(role, number, unit)
        if not role and unit == "tokens" and _TOKENS.match(right):
            unnamed.append(number)
        if role in ("input", "total", "requested") and _LOWER_BOUND.search(left):
            found.lower_bound = True
    _name_the_rest(found, unnamed)
    return found


def _compared(words: str, places: list[int]) -> dict[int, Role]:
    """Roles by comparison signs: index of the number -> role. Longer comparisons come first."""
    roles: dict[int, Role] = {}
    for pattern, named in _COMPARISONS:
        for match in pattern.finditer(words):
            inside = [index for index, place in enumerate(places) if match.start() <= place < match.end()]
            if not any(index in roles for index in inside):
                swapped = named[:2] == ("input", "output") and _output_first(words, places[inside[0]], places[inside[1]])
                roles.update(zip(inside, ("output", "input", *named[2:]) if swapped else named, strict=False))
    return roles


def _output_first(words: str, first: int, second: int) -> bool:
    """Whether a sum names the output before the input."""
    one = words[max(0, first - 25) : first].rpartition("#")[2]
    between, _, two = words[first + 1 : second].rpartition("+")
    one += between
    two += words[second + 1 : second + 15].partition(">")[0]
    if _OUTPUT_NAME.search(one):
        return not _INPUT_NAME.search(one)
    return bool(_INPUT_NAME.search(two)) and not _OUTPUT_NAME.search(two)


def _unit(before: str, right: str) -> Unit:
    """By the word after the number, else by the nearest one before it."""
    if right.startswith((" token", " input token", " output token")):
        return "tokens"
    if _CHARACTERS.match(right):
        return "characters"
    if _BYTES.match(right):
        return "bytes"
    characters, octets = _CHARACTERS_BEFORE.search(before), _BYTES_BEFORE.search(before)
    if octets and (not characters or octets.start() > characters.start()):
        return "bytes"
    return "characters" if characters else "tokens"


def _role(left: str, right: str) -> Role:
    """By the clause before the number, by what follows it, then by all that stands before it."""
    said = _role_by(_SAID_AFTER, right)
    if said is not None:
        return said
    wide = left.rstrip(_OPENINGS)
    clause = _CLAUSE.split(wide)[-1].strip()
    after = _role_by(_AFTER, right)
    before = _role_by(_BEFORE, clause) if clause else None
    if before in ("limit", "excess", "total"):
        return before
    if after is not None:
        return after
    return before or _role_by(_BEFORE, wide) or ""


def _role_by(rows: tuple[tuple[re.Pattern[str], Role], ...], words: str) -> Role | None:
    """The role of the first row that matches; the rows for what follows a number begin with `\\A`."""
    return next((role for pattern, role in rows if pattern.search(words)), None)


def _name_the_rest(found: Numbers, unnamed: list[int]) -> None:
    """If no number was named as the counted one: the only other number, or the larger of two that read like limits."""
    roles, limits = found.tokens, set(found.limits)
    if "limit" not in roles or roles.keys() & {"input", "total", "requested", "part", "output"}:
        return
    if len(limits) == 2:
        roles["limit"], roles["input"] = min(limits), max(limits)
    elif len(unnamed) == 1 and unnamed[0] > roles["limit"]:
        roles["input"] = unnamed[0]
