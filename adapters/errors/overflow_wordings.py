"""Wordings that say that the window is full. Data: one row per family of wordings, tried after the look-alikes, from the top.

The patterns see the text as `message_text` leaves it: lower case, no quotes, `_` and camel case as spaces, `#` for each number.
"""

from __future__ import annotations

import re
from typing import Final

from contextport.contracts.provider_error import ErrorKind as K

from .text_rule import TextRule

__all__ = ["OVERFLOWS", "says_output_too", "weak"]

_NEAR: Final = r"[^.;]{0,60}?"
_OVER: Final = (
    r"(?:exceed(?:s|ed|ing)?|overflows|overflowed|surpass(?:es|ed)?|outgrew|overran|(?:is |are |was |were )?(?:much |far "
    r"|way )?(?:longer|larger|greater|bigger"
    r"|higher|more) than|(?:is|are|was|were|goes|went|go) (?:\w+ )?(?:over|above|beyond|past)|over (?:the|its|your)"
    r"|above the|beyond the|(?:>=?|≥)(?! ?#))"
)
#: What holds tokens: a window, or a maximum that is said of context, prompt, input, sequence, tokens or the model.
_WINDOW: Final = (
    r"(?:context(?: window| length| size| limit| budget| capacity)?|tokens?|token (?:limit|count|budget)|prompt (?:length"
    r"|limit|size|tokens?)"
    r"|input (?:length|limit|size|tokens?)|sequence (?:length|len)|seq len|model(?:'s)? (?:len|length|limit|capacity"
    r"|max(?:imum)?)|max model len|session len|n ctx|position embeddings)"
)
#: Holds tokens if it is said of something that has them.
_HOLDS: Final = r"(?:window|max(?:imum)? (?:\w+ )?len(?:gth)?|kv \w+|(?:kv )?cache(?: size)?|batch size)"
_HELD: Final = r"(?:prompt|inputs?|context|conversation|dialog(?:ue)?|chat|history|sequence|tokens?|messages|generation call)"
_SUBJECT: Final = (
    r"(?:prompt|inputs?|context|conversation|dialog(?:ue)?|chat|history|messages?|thread|query|question|request|sequence"
    r"|transcript|text|content"
    r"|instructions?|documents?)"
)

#: The limit is one of something else.
_OTHER_LIMIT: Final = (
    r"\b(?:max\w*|limit)(?: (?:allowed|supported|permitted|number|amount|count|total|of|for|the))*"
    r" (?:file|image|item|page|document|row|column|field|tool|function|turn|step|round|element|record|retr|call|user"
    r"|participant"
    r"|concurren|batch(?! size)|byte|character|word|upload|attachment|duration|age|lifetime|time|depth|dimension)"
    r"|exceed\w* (?:its|the) (?:ttl|lifetime|duration)"
    r"|\b(?:max\w*|limit|exceed\w*)(?: (?:the|of|maximum|limit|allowed))* # (?:row|item|column|field|page|file|image|turn|step"
    r"|record|element|entr|question|attachment|user|participant|variable|parameter|second|minute|hour)"
)

_OTHER_LANGUAGES: Final = (
    r"(?:输入|提示词?|上下文|请求|消息|内容|对话|文本|会话|tokens?|prompt|长度)[^.;]{0,24}(?:超过|超出|过长|太长|超长|超限|大于|过多|太多|溢出|不足|不够|达到上限)"
    r"|(?:达到|已达)[^.;]{0,6}(?:对话|上下文|会话|长度|tokens?)[^.;]{0,8}(?:上限|限制)"
    r"|(?:超过|超出)[^.;]{0,24}(?:上下文|最大(?:输入)?长度|tokens?|token 限制|长度限制|模型限制)"
    r"|(?:入力|プロンプト|コンテキスト|トークン|文脈|会話)[^.]{0,30}(?:超え|超過|長すぎ|多すぎ|上限)"
    r"|(?:입력|프롬프트|컨텍스트|토큰|문맥|대화)[^.]{0,30}(?:초과|너무 길|너무 많|넘)"
    r"|(?:контекст\w*|токен\w*|запрос\w*|промпт\w*|сообщени\w*)[^.;]{0,60}(?:превы\w+|слишком (?:длин\w+|больш\w+|много))"
    r"|(?:превы\w+|слишком длин\w+)[^.;]{0,60}(?:контекст\w*|токен\w*|запрос|промпт)"
    r"|(?:contexto?e?|kontext\w*|tokens?|jetons|prompt|entrada|eingabe|entrée|mensaje|mensagem|nachricht|requête"
    r"|solicitud)[^.;]{0,50}(?:super[ao]\b|exced\w+|dépasse\w*|überschr\w+|überstei\w+"
    r"|trop long\w*|zu lang|zu groß|demasiado larg[oa]|muito long[oa]|ultrapass\w+|supera)|(?:excede|supera|dépasse"
    r"|überschreitet|ultrapassa)[^.;]{0,50}(?:contexto?e?|kontext\w*|tokens|jetons)"
    r"|(?:trop long\w*|zu lang|zu groß|demasiado larg[oa]|muito long[oa]|troppo lung\w*)[^.;]{0,40}(?:contex?to?e?"
    r"|kontext\w*|tokens?|jetons|modell?o?)"
)

OVERFLOWS: Final = (
    TextRule(
        "over the window",
        K.INPUT,
        rf"{_OVER} {_NEAR}\b{_WINDOW}\b|\b{_HELD}\b[^.;]{{0,60}}?{_OVER} {_NEAR}\b{_HOLDS}\b",
        unless=_OTHER_LIMIT,
    ),
    TextRule(
        "window exceeded",
        K.INPUT,
        r"\bcontext(?: (?:window|length|size|limit|budget|capacity|len|#|tokens?|the|is|was|has|have|been|now|already|of|for"
        r"|in|this|model|models)|'s| ?\(#\)?)*[:,]?"
        r" (?:exceed(?:s|ed|ing)?|overflows|overflowed|overflow error|reached|full|exhausted|overrun|too small for)\b"
        r"|\bkv ?cache (?:is |was )?(?:full|exhausted|too small)\b"
        r"|\b(?:token|length|prompt|input) limit (?:was |is |has been )?(?:reached|hit)"
        r"|\b(?:conversation|chat|thread|session) (?:has |is )?(?:reached|hit|at) (?:its|the|a)"
        r" (?:(?!time|idle|usage|rate|spend|turn|age|max)\w+ ){0,2}?(?:limit|length|max\w* (?:length|size|tokens?|context"
        r"|number of tokens)|max\w*\W*\Z)"
        r"|\b(?:reached|hit|exceed\w*) (?:its|the|a|your) (?:max\w* )?(?:length|size|limit|end)? ?(?:for|of|in) (?:this|the"
        r"|your) (?:context|conversation|chat|thread)"
        r"|\b(?:reached|hit) (?:its|the|a|your) (?:context|conversation|prompt) (?:window|length|size|limit)"
        r"|\b(?:ran|run|running|runs) out of (?:\w+ ){0,2}?(?:context|(?:room|space|tokens)[^.;]{0,30}\b(?:context|window"
        r"|prompt))"
        r"|\b(?:input|prompt|context|sequence) (?:length|size|window) error\b",
    ),
    TextRule(
        "named as one",
        K.INPUT,
        r"(?:\A|\b(?:err|error:|model) )context overflow(?: error)? ?:|\bcontext overflow(?: error)? ?: [^.;]{0,40}# tokens",
    ),
    TextRule(
        "input exceeds",
        K.INPUT,
        rf"\b(?:tokens?|{_SUBJECT}|sequence length|length limit|model limit|max(?:imum)? (?:\w+ )?length)\b"
        r"(?:(?!deadline|retr|manager|cache|lifetime|expir|header|filter)[^.;]){0,60}?"
        r"\b(?:exceed(?:s|ed|ing)?|(?:is|are|was|were) (?:\w+ )?(?:longer|larger|greater|more|bigger|higher) than)\b"
        r"(?=\W*\Z| ?[:.,;!(#]"
        r"| (?:(?:the|this|its|our|your|customer|of|allowed|supported|configured) )*"
        r"(?:(?:max\w*|limit\w*)(?! (?:number|amount|count) of (?!tok|input|prompt))|allowed|what|models?|context|length"
        r"|tokens?|size"
        r"|window|capacity|by|#)(?!\w))",
        unless=_OTHER_LIMIT,
    ),
    TextRule(
        "too long",
        K.INPUT,
        r"\b(?:prompt|input|context|conversation): too (?:long|large)|"
        rf"\b{_SUBJECT}\b(?:(?!field|parameter|property|schema)[^.;:]){{0,50}}?\b(?:too|so) (?:long|large|big|lengthy"
        rf"|many tokens)(?! for (?:this|the) (?:field|parameter))"
        rf"|\b{_SUBJECT}\b[^.;]{{0,40}}\b(?:beyond|more than|larger than|bigger than|longer than) (?:what )?(?:the |this "
        rf"|your )?(?:\w+ )?(?:model|can\b)",
        unless=r"too many (?:requests|retries|redirects)|request too large\W*\Z",
    ),
    TextRule(
        "too many tokens",
        K.INPUT,
        r"too many (?:\w+ )?tokens|too much (?:text|content|context|input)\b|tokens? (?:\w+ )?too (?:long|many|large)"
        r"|too large for (?:the |this )?model",
    ),
    TextRule(
        "maximum of the window is said",
        K.INPUT,
        r"max(?:imum)? (?:\w+ ){0,3}?(?:context|prompt|input|sequence|model"
        r"|seq)(?: (?:length|len|tokens?|size|limit|window|count|context|allowed|prompt|input"
        r"|sequence)){0,2}?(?:'s)?(?: \(\w+\))?(?: for [^.;#]{1,50}?)?"
        r"(?: is| of|:| =)+ (?:only |just )?#"
        r"|context (?:window|length|size|limit)(?: of the model)?(?: is| of|:| =)+ (?:only |just )?#"
        r"|#[^#]{0,30}\bcontext (?:window|length|size|limit) #"
        r"|max(?:imum)? size ?:? # tokens|max(?:imum)? (?:is|of) # tokens",
    ),
    TextRule(
        "tokens against a number",
        K.INPUT,
        r"(?:prompt|input|messages) # tokens?, \w+ #"
        r"|\b(?:prompt|input|inputs? (?:tokens?|length|size|ids)|context|sequence|conversation"
        r"|history)\b[^#.;]{0,40}#[^#.;]{0,12}"
        r"(?:\bbut\b|\bwhile\b|\bonly\b|>|≥|\bmax|\blimit)[^#.;]{0,40}#"
        r"|\bmax[^#.;]{0,50}\btokens?\b[^#.;]{0,40}#[^#]{0,30}\b(?:has|have|contains?|had|got|gave|received|sent|supplied)\b"
        r"[^#.;]{0,20}# ?tokens?"
        r"|# ?(?:\w+ )?tokens?\b[^.;]{0,40}\b(?:but|while|only|max(?:imum|imal)?|limit|window|capacity|available|allowed"
        r"|at most|allows"
        r"|supports?|permitted)\b[^.;]{0,40}#"
        r"|\b(?:at most|only|max\w*|limit\w*|up to|supports?|accepts?|allows?"
        r"|allowed)\b[^.;]{0,30}# (?:\w+ )?tokens?\b[^#]{0,40}#"
        r"|(?:최대|最大)[^.;#]{0,14}(?:컨텍스트|토큰|입력|コンテキスト|トークン|入力|上下文|输入|长度|token)[^.;#]{0,10}#"
        r"|(?:最大|最多|支持|上限)[^.;]{0,12}# ?个? ?tokens?[^;]{0,16}#"
        r"|# (?:\w+ )?tokens?\b[^.;]{0,50}(?:>|\bexceed|\bover\b|\babove\b|greater|more than|longer|but (?:the )?(?:limit"
        r"|max|model))|tokens ?\(?#\)?[^.;]{0,50}(?:>|exceed|greater|longer)",
    ),
    TextRule(
        "input must not be longer",
        K.INPUT,
        r"\b(?:inputs?|prompts?|text|tokens?|messages|sequence|context|max total tokens|max seq len)\b[^.;]{0,70}\b(?:must"
        r"|should|can|cannot|can't|may|has to|have to|needs? to)(?: not)?"
        r" (?:not )?(?:exceed|be (?:<=?|≤|less|fewer|at most|no more|no longer|no greater|under|below|within|shorter|smaller"
        r"|greater|longer)|have (?:less|fewer|at most|no more))"
        r"(?=[^.;]{0,50}(?:#|max|limit|context|window|allowed|model|length))",
    ),
    TextRule(
        "range of the input", K.INPUT, r"range of (?:the )?(?:input|prompt)(?: \w+)? (?:length |tokens )?(?:should|must|is)"
    ),
    TextRule(
        "window smaller than the input",
        K.INPUT,
        r"(?:max(?:imum)? (?:model )?len(?:gth)?|context (?:window|length|size)|n ctx|\blimit)\b[^.;]{0,30}(?:smaller|less"
        r"|lower|shorter)"
        r" than (?:the |your )?(?:\w+ )?(?:prompt|input|request|sequence|number of tokens|token)",
    ),
    TextRule(
        "does not fit",
        K.INPUT,
        r"(?:not|n't|cannot|unable to|failed to|no longer|never|too \w+ to) (?:be )?fit(?:s|ted)?\b"
        r"[^.;]{0,40}(?:context|window|model|tokens)"
        r"|\bno position (?:encodings?|embeddings?)\b|(?:not|n't|cannot) be (?:enqueued|scheduled)[^;]{0,60}\b(?:cache"
        r"|tokens)\b|too (?:big|large|long) (?:compared to|for) (?:the )?(?:kv|cache)"
        r"|(?:no|not enough|insufficient) (?:room|space)[^.;]{0,30}(?:context|window|prompt)"
        r"|truncat\w+[^.;]{0,40}context (?:window|length|size)",
    ),
    TextRule(
        "reduce the input",
        K.INPUT,
        r"(?:reduce|shorten|decrease|trim|shrink|lower|cut|compact) (?:down )?(?:the |your )?(?:(?:length|size|number"
        r"|amount) of )?(?:tokens (?:in|of) )?(?:the |your )?(?:\w+ )?"
        r"(?:messages?|prompts?|inputs?|conversation|context|history|chat)\b"
        r"(?! (?:image|file|audio|video|media|document|batch|array|schema|tool|function|item)s?\b)",
    ),
    TextRule(
        "limit the input",
        K.INPUT,
        r"\b(?:limit|keep|restrict) (?:the |your )?(?:inputs?|prompts?|messages?|conversation|context"
        r"|history)\b[^.;]{0,20}(?:to|under|below|within) (?:\w+ )?#"
        r"(?! ?(?:images?|files?|messages?|items?|char\w*|words?|bytes?|[kmg]b|inputs?|per|/)\b)",
    ),
    TextRule("in other languages", K.INPUT, _OTHER_LANGUAGES),
)

#: Output is part of what was too much.
_OUTPUT_TOO: Final = re.compile(
    r"(?<!before )\bcompletion\b|\boutput\b|\bmax ?(?:new |completion |output )?tokens\b(?! of #| allowed)"
    r"|(?<!embedding )(?<!score )(?<!text-)\bgenerat(?:e|ed"
    r"|ing|ion)\b(?! error| content)|\bprediction\b|total token count|\ba total of\b|\bmax total tokens\b"
    r"|\bnew tokens\b|maximum tokens requested|answer length|model token limit: # \(requested"
)
#: Wordings that need a status that does not speak against an overflow.
_STRONG: Final = re.compile(r"context|prompt|too long|input (?:length|tokens?)|上下文|提示|输入")


def says_output_too(words: str) -> bool:
    """Whether the text counts requested output into what was too much."""
    return _OUTPUT_TOO.search(words) is not None


def weak(words: str) -> bool:
    """Whether the text names neither context nor prompt, so that the status has to agree."""
    return _STRONG.search(words) is None
