"""Signs that a text is no summary: an apology, a refusal, an answer, an error, an echo of the instruction, noise.

A summarizer can be talked into any of these by what it reads. A sentence that stands in the conversation in the same words is a
quotation, and no sign of anything, as long as the summary says more than that.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence

from .sentences import pieces_of

__all__ = ["noise_in", "talk_in"]

_TAG = re.compile(r"^\s*(?:\[\w+\]\s*)?(?:(?:user|assistant|tool):\s*)?")
_ABOUT = r"summar|recap|digest|overview|摘要|总结|概括|小结|要約"

#: What a sentence begins with that is said to somebody.
_OPENINGS = {
    "apology": (
        r"(?:i(?:['\u2019]m| am) (?:very |so |really |truly )?sorry|sorry\b|i apologi[sz]e|(?:my )?apologies\b|(?:非常|很"
        r"|十分)?(?:抱歉|对不起)|不好意思"
        r"|申し訳|すみません|ごめん|죄송|lo siento\b|disculp|(?:je suis )?désolé|es tut mir leid|tut mir leid|entschuldig"
        r"|sinto muito|desculp|mi dispiace|извините|простите|к сожалению|(?:lo )?lamento\b|regrettably\b|leider\b|infelizmente\b"
        r"|ขอโทษ|ขออภัย|xin lỗi)"
    ),
    "refusal": (
        r"(?:(?:unfortunately,? )?i (?:can(?:no|['\u2019])t|can not|am (?:not able|unable) to|won['\u2019]t|will not"
        r"|could not|couldn['\u2019]t|must decline"
        r"|do not feel) ?(?:help|assist|summari|comply|provide|do (?:that|this)|process|complete|continue|answer|access"
        r"|fulfil|engage|create"
        r"|generate|share|see|find|to\b|$|[.,!])"
        r"|i['\u2019]m (?:not able|unable) to|i (?:don['\u2019]t|do not) have (?:access|enough|any)|as an? (?:ai"
        r"|language model|large language model)\b"
        r"|there is (?:nothing|no (?:conversation|text|content)) to summari|(?:很遗憾|遗憾的是)?[\uff0c,]?(?:我"
        r"|本人)?(?:无法|不能"
        r"|没有办法)(?:帮|协助|提供|完成|总结|回答|处理|满足|继续)"
        r"|作为(?:一个|一名|一款)?(?:ai|人工智能|语言模型|大模型)|お手伝い(?:は)?できません|no puedo (?:ayudar|resumir|hacer)"
        r"|恕难|恕(?:我)?(?:不能|无法)"
        r"|je ne peux pas (?:vous|aider|résumer)|ich kann (?:das|dies|ihnen|dir) .{0,40}nicht|não posso (?:ajudar"
        r"|resumir)|я не могу (?:помочь|вам))"
    ),
    "answer": (
        rf"(?!.{{0,60}}(?:{_ABOUT}))(?:sure[,!.]|of course[,!.]|certainly[,!.]|absolutely[,!.]|great question"
        rf"|good question|you['\u2019]re (?:very )?welcome"
        r"|here(?:['\u2019]s| is| are) (?:the|a|an|your|my|some) |(?:i['\u2019]m )?happy to help|thank you for|thanks for"
        r"|hello[,!.]|hi there|好的[\uff0c,。\uff01!]|当然[\uff0c,。\uff01!可]"
        r"|没问题[\uff0c,。\uff01!]|不客气|您好|你好|以下是|感谢您|かしこまりました|承知(?:しま|いた)|¡?claro[,.!]"
        r"|por supuesto|bien sûr|natürlich[,.!]"
        r"|gerne[,.!]|конечно[,.!])"
    ),
    "promise": (
        r"(?:i['\u2019]ll\b|i will\b|i can (?:help|do that|certainly)|i['\u2019]d be (?:happy|glad)|i would be (?:happy"
        r"|glad)|let me\b|allow me\b"
        r"|我(?:会|来|将|可以|这就|马上)(?:帮|为您|为你|给您|给你|尽快|立即|继续|处理)|让我(?:来|们)?|請稍|请稍"
        r"|ich werde\b|je vais\b|voy a\b)"
    ),
    "instruction": (
        r"(?:please )?(?:summari[sz]e|write a (?:concise |short |brief )?summary of|condense|compress) (?:the|this|all"
        r"|these|our|everything)\b"
        r"|(?:your|the) (?:task|job|goal) is to\b|you are (?:a|an|the) (?:[\w-]+ ){0,3}(?:assistant|summari[sz]er|expert"
        r"|ai|model|agent|bot)\b"
        r"|(?:请|請)(?:你|您)?(?:总结|概括|摘要|归纳|總結)(?:以下|上述|下面|这段|上面)?|你是一(?:个|名|位)"
        r"|#{1,4} ?(?:instructions?|system|prompt)\b"
        r"|(?:output|answer|respond|reply|return) (?:only|just|in json|with (?:only )?(?:a |valid )?json)\b"
    ),
}
#: What may be anywhere in a sentence.
_ANYWHERE = {
    "question": (
        r"(?:would you like|do you want|shall i\b|should i\b|can i help|how (?:can|may) i (?:help|assist)"
        r"|is there anything else|anything else i can"
        r"|let me know (?:if|how|what|whether)|feel free to\b|(?:i )?hope (?:this|that) helps|(?:您|你)(?:需要|想|想要"
        r"|希望)(?:我"
        r"|了解|知道).*[?\uff1f吗]"
        r"|还有(?:什么|其他|别的).{0,12}(?:帮|需要|问题)|请(?:随时)?告诉我|请问您|如(?:果)?(?:您)?(?:有|还有)(?:任何"
        r"|其他)?(?:问题|疑问|需要)|希望(?:这|对您"
        r"|对你).{0,8}帮助)"
    ),
    "instruction": (
        r"(?:system prompt|<\|[a-z_]{2,20}\|>|\[/?INST\]|<</?SYS>>|(?:within|at most|no more than|under|fewer than"
        r"|maximum of|max) \d+ (?:tokens|words|characters)"
        r"|(?:不超过|最多|限制在)\s?\d+\s?(?:个)?(?:tokens?|字|词))"
    ),
    "scratchpad": (
        r"(?:</?(?:think|thinking|scratchpad|analysis|reasoning)\b|let['\u2019]?s think\b|think step by step|^thought: "
        r"|^(?:okay|ok|alright|so),? the user (?:wants|asks|asked) me to\b)"
    ),
}
_ERROR = (
    r"(?:(?:[\w.]+)?(?:error|exception)\b\s?[:(\d]|traceback \(most|http(?:/\d|s?error|\s?status|\s?\d{3})|<!doctype"
    r"|<html|<\?xml|\{\s*\"?(?:error|detail|code|message|type)\"?\s*:"
    r"|error code|(?:4\d\d|5\d\d) (?:bad|unauthori|payment|forbidden|not found|request|too many|internal|service|gateway"
    r"|client|server)|rate limit|request timed out|timed? ?out\b"
    r"|connection (?:error|refused|reset|aborted)|internal server error|service unavailable|bad gateway|upstream"
    r"|an (?:unexpected )?error (?:has )?occurred|failed to (?:generate|summari|call|connect|fetch)"
    r"|(?:the |this )?(?:model|server|service)(?: is)?(?: currently)? (?:overloaded|unavailable|busy)|(?:please )?try again later"
    r"|quota exceeded|(?:请)?稍后(?:再|重)试"
    r"|请求(?:失败|超时|过于频繁)|服务(?:器)?(?:错误|繁忙|不可用|异常|内部)|网络(?:错误|异常|连接)|系统(?:错误|繁忙"
    r"|异常)|生成失败|调用失败)"
)


def _compiled(patterns: dict[str, str]) -> dict[str, re.Pattern[str]]:
    return {sign: re.compile(pattern, re.IGNORECASE) for sign, pattern in patterns.items()}


_OPENING_SIGNS, _OTHER_SIGNS, _ERROR_SIGN = _compiled(_OPENINGS), _compiled(_ANYWHERE), re.compile(_ERROR, re.IGNORECASE)
_ENOUGH_LINES, _ENOUGH_WORDS, _ENOUGH_SIGNS = 4, 40, 80
_SIGN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_WORD = re.compile(rf"{_SIGN.pattern}|[^\W\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
_RUN, _RUN_OF_SIGNS = 7, 14  # words of an instruction in a row, or signs of scripts without spaces
_NEW_SHARE = 0.35  # of groups of three words, or of six signs, in text that does not go round in circles
_READABLE_SHARE = 0.35  # of letters and digits among all signs but white space
_BROKEN_SHARE = 0.02


def talk_in(summary: str, said: str, instructions: Sequence[str] = ()) -> tuple[str, ...]:
    """Why the text is something said to somebody, and no summary; empty if it may be one.

    `said` is the conversation in one text, white space as single spaces. `instructions` are texts that must not come out.
    """
    sentences = [piece for line in summary.splitlines() for piece in pieces_of(_TAG.sub("", line))]
    own = [sentence for sentence in sentences if " ".join(sentence.split()) not in said]
    by_sentence = [_signs_of(sentence) for sentence in own or sentences]
    if not own and 2 * sum(map(bool, by_sentence)) < len(sentences):
        by_sentence = []  # quotations, of which most are no such thing
    signs = [sign for of_sentence in by_sentence for sign in of_sentence]
    if sentences and (sentences[0] in own or len(sentences) == 1) and _ERROR_SIGN.match(sentences[0]):
        signs.append("error_text")
    if any(_leaks(summary, instruction, said) for instruction in instructions):
        signs.append("instruction")
    return tuple(dict.fromkeys(signs))


def _signs_of(sentence: str) -> list[str]:
    opening = [sign for sign, pattern in _OPENING_SIGNS.items() if pattern.match(sentence)]
    return opening + [sign for sign, pattern in _OTHER_SIGNS.items() if pattern.search(sentence)]


def _leaks(summary: str, instruction: str, said: str) -> bool:
    """Whether a run of words that is long enough to be no coincidence stands in both, and not in the conversation."""
    size = _RUN_OF_SIGNS if _SIGN.search(instruction) else _RUN
    shared = _runs(summary, size) & _runs(instruction, size)
    return bool(shared) and not shared <= _runs(said, size)


def _runs(text: str, size: int) -> set[tuple[str, ...]]:
    words = _WORD.findall(text.lower())
    return set(zip(*[words[at:] for at in range(size)], strict=False))


def noise_in(summary: str, quotes: bool = False) -> tuple[str, ...]:
    """Why the text is noise: the same over and over, bytes that are no text, signs without words.

    With `quotes`, neither repetition nor signs that are no text are looked for: they stand in what was quoted.
    """
    return tuple(_noise(summary, quotes))


def _noise(summary: str, quotes: bool) -> Iterator[str]:
    kinds = Counter(map(unicodedata.category, summary))
    signs = [sign for sign in summary if not sign.isspace()]
    readable = sum(count for kind, count in kinds.items() if kind[0] in "LNM")
    all_signs = len(signs) - kinds["Cf"]  # joiners and marks of direction, which are part of words and of emoji
    if signs and readable < _READABLE_SHARE * all_signs:
        yield f"junk: {readable} letters and digits in {all_signs} signs"
    space = sum(summary.count(sign) for sign in "\t\n\r\v\f\x1c\x1d\x1e\x1f\x85")
    broken = summary.count("\ufffd") + kinds["Cc"] + kinds["Cs"] + kinds["Cn"] - space
    if quotes:
        return
    if broken > _BROKEN_SHARE * len(summary):
        yield f"junk: {broken} signs of {len(summary)} are no text"
    lines = [line.strip() for line in summary.splitlines() if line.strip()]
    different = len(set(lines))
    if len(lines) >= _ENOUGH_LINES and 2 * different <= len(lines):
        yield f"repeated: {different} different lines of {len(lines)}"
    elif _circles(tuple(summary.split()), 3, _ENOUGH_WORDS) or _circles("".join(signs), 6, _ENOUGH_SIGNS):
        yield "repeated: the same words over and over"


def _circles(pieces: tuple[str, ...] | str, size: int, enough: int) -> bool:
    if len(pieces) < enough:
        return False
    starts = range(len(pieces) - size + 1)
    groups = {hash(pieces[at : at + size]) for at in starts}
    return len(groups) < _NEW_SHARE * len(starts)
