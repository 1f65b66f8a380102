"""Sentences that have to be kept as they are: constraints, decisions, tasks and what was found. English and Chinese."""

from __future__ import annotations

import re
from collections.abc import Iterator
from re import Pattern

from attrs import frozen

from contextport.contracts.facts import FactKind, FactState

__all__ = ["MARKS_CHANGE", "MARKS_END", "Statement", "clipped", "is_question", "sentences", "statement_in"]


@frozen
class Statement:
    """What kind of sentence it is."""

    kind: FactKind
    state: FactState = FactState.CURRENT


_END = re.compile(r"(?<=[.!?])[\"')\]*]{0,3}\s+|[\u3002\uff01\uff1f\uff1b!?]+[\u201d\u2019\u300d\u300f\uff09]?|\n+")
_LONGEST = 400  # characters of a sentence


def _any(english: str, chinese: str) -> Pattern[str]:
    return re.compile(rf"\b(?:{english})\b|{chinese}", re.IGNORECASE)


_DO = (
    "use|reply|answer|write|add|put|call|include|start|end|send|ask|show|format|keep|give|book|choose|pick|prefer|touch|change|delete|"
    "remove|push|commit|deploy|mention|share|tell|say|email|make|run|merge|buy|order|sit|fly|eat|round|translate|sign|speak|work|open"
)
_CONSTRAINT = _any(
    rf"must(?! have\b|'ve| feel\b| be (?:so|a|nice|very|hard|great|fun|tough|[a-z]+ing)\b)|(?:never|always) (?:{_DO}|be)|"
    r"(?:please|you|should|to|can|and|but) (?:never|always)|"
    r"only|at (?:most|least)|(?:no|not) (?:more|less|later|earlier|fewer|longer|other) than|maximum|minimum|budget|deadline|"
    rf"(?:don't|do not) (?:want|like|need|ever|{_DO})|"
    rf"can(?:'t|not) (?:{_DO}|be|have|go over|exceed|take|leave|miss|cost|afford)|"
    r"(?:i|we)(?:'d| would)? (?:prefer|rather)|(?:make|be) sure|ensure|avoid|without (?:any|using|asking)|from now on|as long as|"
    r"(?:has|have|needs?) to (?:be|fit|have|work|run|support|cost|stay|include|contain|match|pass|end|start|look|use)|"
    r"(?:i|we) (?:want|need|require) (?!(?:you )?to\b)|i(?:'d| would) like (?!(?:you )?to\b)|allowed|"
    r"(?:nobody|no one|none) (?:but|except|other|else)|"
    r"no (?![a-z -]{1,24} (?:was|were|is|are|has|had)\b)[a-z -]{2,24} "
    r"(?:before|after|on|in|during|without|with|over|under|above|below)|"
    r"should(?:n't| not| be| only| have| use| include| contain| return| never| always)|required?|allergic|limit(?:ed)? to",
    r"必须|以后.{0,8}(?:都|请|只|不)|不要|不能|不可以|不许|不准|不得|禁止|务必|一定要|千万|别(?![人的墅处])|(?<![一两二三四五六七八九十几0-9])只(?![狗猫鸟鸡])|仅|"
    r"最多|最少|至少|不超过|不低于|不少于|预算|以后都|以后请|一律|总是|从不|每次都|要求|限制|尽量|截止|过敏|希望|喜欢|偏好|"
    r"之前不|控制在|以内|谁都|忌口",
)
_IMPERATIVE_NOT = re.compile(
    r"(?:^|[,;:\u2014-]\s?|\b(?:please|and|but|so)\s)(?:do not|don't)\s(?!worr|forget|know|think|mind|remember|give up)",
    re.IGNORECASE,
)
_NOT_MEANT = r"mind|thought|heard|had|seen|knew|been|happy|nice|good|great|fun|wanted|a|the|my|so"
_ELLIPTIC = re.compile(
    rf"(?:^|[,;:\u2014]\s?)(?:(?:and|but|also|plus|please|ok|okay)[, ]+){{0,2}}(?:(?:never|always) (?!(?:{_NOT_MEANT})\b)[a-z]+|"
    r"no (?!(?:problems?|worries|worry|idea|longer|one|need|thanks?|wonder|doubt|rush|hurry|way|clue|matter|reason|issues?|luck|"
    r"further|more|less|questions?|"
    r"big|i|it|that|this|we|you|they|not|sorry|please)\b)[a-z][\w-]*+(?! (?:was|is|were|are|has|have|had|came)\b))|"
    r"(?:^|[\uff0c,\u3002;\uff1b])(?:另外|也|还有)?不用(?![谢了客担])|(?:周|星期)[一二三四五六日天](?:都|也)?不",
    re.IGNORECASE,
)
_DECISION = _any(
    r"decided?|decision|let'?s (?!see|hope|talk|catch|get|say|chat|keep (?:in touch|going|motivating))[a-z]+|"
    r"(?:we|i)(?:'ll| will| shall) (?:go with|use|choose|keep|take|go for|pick|have|stick)|"
    r"going (?:with|for|to (?:cancel|use|drop|keep|sell|buy))|"
    r"go with|choose|chose|chosen|agreed|settled|confirm(?:ed)?|approved?|opt(?:ed)? for|switch(?:ed|ing)? to|"
    r"went with|stick with|voted|"
    r"(?:cancel|drop|scrap|forget about|call off) (?:everything|all|the whole)|"
    r"made up (?:my|our) minds?|final answer|picked (?!up)[a-z]+|sign(?:ed)? with|"
    r"(?:i'm|i am|we're|we are) (?:dropping|taking|moving|switching|keeping|skipping|selling|buying|using|choosing)|"
    r"(?:use|take|make|do|try|go|book|send|give|put) .{1,60} instead|instead,? (?:use|take|make|do|go)|use .{1,40} instead of",
    r"决定|定了|定下|[就还]是?(?:用|选|按|定|这样|要|这么|不)|选择|选(?:用|了|定)|采用|[改换][成为用到走]|确认|同意|敲定|说好|最终|那就|"
    r"不再|投票|签了|退掉",
)
_ASKED = _any(
    r"please|can you|could you|would you|i(?:'d| would) like (?:you )?to|(?:i|we) (?:want|need) (?:you )?to|todo|"
    r"to-do|next(?: step)?[,:]|"
    r"remind me|(?:i|we) (?:have|got) to|go ahead",
    r"待办|接下来|下一步|请(?!问)|提醒我|叫我|帮我|帮忙|记得|还需要|还要|需要你|我想|我要",
)
_PROMISED = _any(
    r"(?:i|we)(?:'ll| will|'m going to| am going to|'re going to)|next (?:step|up|i)|next[,:]|todo|to-do|remaining|"
    r"pending|still (?:need|have) to",
    r"待办|接下来|下一步|我(?:会|将|马上|这就)|稍后|还需要|还要|准备",
)
_DONE = _any(
    r"done|finished|completed?|fixed|resolved|implemented|"
    r"(?:has|have|had|is|are|was|were) (?:now |been |successfully |already ){0,3}(?!(?:"
    r"closed|delayed|interested|worried|tired|excited|supposed|confused|needed|required|located|based|called|named|married|"
    r"impressed|concerned|disappointed|damaged|expected|planned|overwhelmed)\b)[a-z]{3,}ed|"
    r"(?:has|have) been (?![a-z]+ing\b)[a-z]+|i(?:'ve| have) (?:now |successfully |already |also ){0,3}[a-z]+(?:ed|t|n|d)|"
    r"successfully [a-z]+",
    r"完成(?!不)|已(?:经)?[\u4e00-\u9fff]|搞定|做好|做完|修好|解决了|办好|弄好",
)
_NOT_YET = re.compile(r"\bnot\b|n't\b|\bunable\b|\bfailed\b|\bonce\b|\bwhen\b|\bif\b|没|未|尚|不能|无法|如果", re.IGNORECASE)
_FOUND = _any(
    r"root cause|the (?:problem|issue|cause|reason|result|total|answer) (?:is|was)|found (?:that|out)|turns out|"
    r"in conclusion|conclusion|therefore|"
    r"tests? (?:pass|fail)(?:ed)?|passed|failed",
    r"结论|原因是|结果是|发现|查明|总共|合计|因此|测试(?:通过|失败)",
)
#: Words by which a statement says that it takes the place of an earlier one.
MARKS_CHANGE = _any(
    r"instead|actually|change[ds]? (?:it|that|this|the|my|our|to)|changed|rather than|no longer|"
    r"switch(?:ed|ing)? (?:to|from)|revise[ds]?|"
    r"not .{1,40} (?:but|any ?more)|now (?:use|be|is)|increase[ds]?|raise[ds]?|lower(?:ed)?|reduce[ds]?|forget|"
    r"drop(?:ped)?|on second thought|make it",
    r"改成|改为|改用|换成|换到|换为|不再|取消|算了|还是(?:用|选|按|要)|提高到|降到|增加到|减到|调整|调到|不是.{1,20}而是|其实",
)
#: Words by which a statement ends what was decided before.
MARKS_END = _any(
    r"cancel(?:l?ed|l?ing)?|(?:drop(?:ped|ping)?|scrap(?:ped|ping)?) (?:the|our|all|everything)|call(?:ed|ing)? off|"
    r"(?:gave|give|giving) up (?:on )?",
    r"取消|作废|不做了|不要了|放弃",
)
_QUESTION = re.compile(r"[?\uff1f][\"')\]\s]*\Z|[吗呢][\s\u3002]*\Z")


def sentences(text: str) -> Iterator[tuple[int, int]]:
    """Where the sentences of a text begin and end, their closing sign included; line ends close one, too."""
    start = 0
    for match in _END.finditer(text):
        yield start, match.end()
        start = match.end()
    if start < len(text):
        yield start, len(text)


def clipped(sentence: str) -> str:
    """A verbatim piece of at most 400 characters, ended at a space if there is one."""
    sentence = sentence.strip()
    if len(sentence) <= _LONGEST:
        return sentence
    cut = sentence.rfind(" ", _LONGEST // 2, _LONGEST)
    return sentence[: cut if cut > 0 else _LONGEST]


def is_question(sentence: str) -> bool:
    """Whether it ends as a question does."""
    return _QUESTION.search(sentence) is not None


def statement_in(sentence: str, role: str) -> Statement | None:
    """What a sentence of a user or an assistant states; None if it is none of what is kept."""
    asks = is_question(sentence)
    return _of_user(sentence, asks) if role == "user" else None if asks else _of_assistant(sentence)


def _of_user(sentence: str, asks: bool) -> Statement | None:
    if not asks:
        if any(rule.search(sentence) for rule in (_CONSTRAINT, _IMPERATIVE_NOT, _ELLIPTIC)):
            return Statement(FactKind.CONSTRAINT)
        if _DECISION.search(sentence):
            return Statement(FactKind.DECISION)
    if _ASKED.search(sentence):
        return Statement(FactKind.TASK)
    if not asks and _DONE.search(sentence) and not _NOT_YET.search(sentence):
        return Statement(FactKind.TASK, FactState.DONE)
    return None


def _of_assistant(sentence: str) -> Statement | None:
    if _FOUND.search(sentence):
        return Statement(FactKind.CONCLUSION)
    if _DONE.search(sentence) and not _NOT_YET.search(sentence):
        return Statement(FactKind.TASK, FactState.DONE)
    if _PROMISED.search(sentence):
        return Statement(FactKind.TASK)
    return Statement(FactKind.DECISION) if _DECISION.search(sentence) else None
