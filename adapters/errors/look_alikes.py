"""Errors that share their words with a full window, and other mistakes. Data: one row per family of wordings.

Rows are tried from the top; the first that matches decides. The patterns see the text as `message_text` leaves it: lower case, no
quotes, `_` and camel case as spaces, `#` for each number.
"""

from __future__ import annotations

from typing import Final

from contextport.contracts.provider_error import ErrorKind as K
from contextport.contracts.provider_error import Remedy as R

from .text_rule import TextRule

__all__ = ["LOOK_ALIKES", "OTHERS", "SETTLED_BY_WORDS"]

_OUTPUT: Final = (
    r"(?:max(?:imum)? ?(?:completion |output |new |generation |generated |response |reply )?tokens?(?! limit| count)"
    r"(?: to (?:sample|generate))?"
    r"|max(?:imum)? (?:number of )?(?:output |new |completion )?tokens (?:to (?:sample|generate)|you requested)|num predict"
    r"|(?:requested |number of )?(?:output|completion|response) (?:tokens?|length)(?: requested)?|max(?:imum)? output)"
)
_BETWEEN: Final = r"(?:(?!prompt|input|message|context|total)[^.;]){0,45}?"
_LIMITING: Final = (
    r"(?:too (?:large|high|big|many|long)|exceed\w*|must (?:not exceed|be)|should (?:not exceed|be)|can ?not|can't|may not"
    r"|greater|larger|higher|more than|less than"
    r"|fewer|at most|limited|supports?\b|out of range|above|over|> #|> the|<= #|超过|超出|大于|范围|不能|限制|非法)"
)
#: The input is part of what is compared.
_SUM: Final = (
    r"(?:\binputs?\b|\bprompt\b|\bmessages\b|\bcontext\b)[^.;]{0,40}(?:\band\b|\+|\bplus\b)[^.;]{0,30}(?:output|completion"
    r"|generat|response|prediction|new tokens|max tokens)"
    r"|(?:output|completion|new|max) tokens[^.;]{0,30}(?:\band\b|\+|\bplus\b)[^.;]{0,20}(?:input|prompt)|> context window"
    r"|- input tokens|sum of|max tokens of # exceeded|max tokens[^.;]{0,30}(?:for|of|in) (?:the )?(?:model )?(?:input|prompt)"
    r"|\b(?:prompts?|inputs?|conversation|messages|history) (?:is|are|was|were) too (?:long|large|big|many)"
)
_MEDIA: Final = (
    r"(?:images?|data[ -]uris?|pictures?|photos?|pdfs?|pages?|videos?|audio|attachments?|media|files?|documents?"
    r"|图片|图像|文件|视频|音频)"
)

#: These are so plain that not even a code for an overflow beside them counts.
SETTLED_BY_WORDS: Final = (
    TextRule(
        "id too long",
        K.FIELD_LENGTH,
        r"\b(?:id|ids)\b[^.;]{0,20}(?:string too long|at most # char|too long|longer than # char)",
        remedy=R.MAP_IDS,
    ),
    TextRule(
        "string too long",
        K.FIELD_LENGTH,
        r"string too long|expected a string with maximum length|(?:string|value|name|description|id) (?:should|must) (?:have"
        r"|be) (?:at most|no longer than|less than)"
        r" # char|invalid (?:function|tool) name|# or fewer in length|member must have length|failed to satisfy constraint"
        r"|\b(?:key|metadata"
        r"|stop sequence|title|name|description|ur[il]|header|label|schema"
        r"|value)\b[^.;]{0,24}(?:too (?:long|large)|exceeds (?:the )?(?:maximum|max)(?: allowed)? length|exceed\w* # char"
        r"|at most # char)",
    ),
    TextRule(
        "too many tools",
        K.COUNT_LIMIT,
        r"(?:tools|functions)\W*(?:: )?array too long|too many (?:tools|functions)|number of (?:tools|functions)[^.;]{0,30}"
        r"(?:exceed|limit|max)|(?:at most|maximum of|more than) # (?:tools|functions)",
        remedy=R.DROP_TOOLS,
    ),
    TextRule(
        "too many messages",
        K.COUNT_LIMIT,
        r"messages\W*(?:: )?array too long|too many messages|number of messages[^.;]{0,30}(?:exceed|limit|max)"
        r"|(?:at most|maximum of|more than|exceeds) # messages|消息(?:数量|条数)[^.;]{0,10}超",
        remedy=R.REDUCE_MESSAGE_COUNT,
    ),
    TextRule(
        "too many items",
        K.COUNT_LIMIT,
        r"array too long|\bgot # (?:items|elements|entries)|too many properties"
        r"|request count exceeds|batch size[^.;]{0,30}(?:exceed|too large|larger|greater|limit is|limit of|> max)|(?:at most"
        r"|maximum of|up to|at most,) # (?:\w+ )?(?:blocks|items|elements|parts|requests|properties"
        r"|entries|inputs|contents|stop|sequences|examples)|数组[^.;]{0,8}(?:超过|大于|最大|不得)"
        r"|stop sequences[^.;]{0,20}(?:exceed"
        r"|limit|max)|too many (?:parts|parallel|properties"
        r"|items|blocks|inputs|elements|stop sequences|cache control|tool calls)|number of (?:requests|parts|items|blocks"
        r"|texts|documents|chunks|strings|turns|rounds|steps"
        r"|inputs) [^.;]{0,20}(?:exceed|must be at most|at most|limited)",
        remedy=R.FIX_PARAMS,
    ),
)

LOOK_ALIKES: Final = (
    TextRule(
        "a tool's failure",
        K.USER_TEXT,
        r"\btool ?error: |\A(?:error )?(?:executing|running|calling|in) (?:the )?tool\b|\Atool(?: \w+)? (?:error|failed"
        r"|errored|execution"
        r"|crashed|raised)|\A(?:sub)?agent (?:said|failed)"
        r"|\A(?!no )(?:\w+ ){0,2}tool(?: \w+){0,3} (?:response|result|output)\b[^.;]{0,16}(?:\(|exceed|too )"
        r"|\buse (?:pagination|offset|the offset)\b|offset and limit",
    ),
    TextRule(
        "bad key or token",
        K.AUTH,
        r"\bapi[ -]?(?:key|token)s?\b|\b(?:access|auth\w*|bearer|security|session|refresh|csrf|id|oauth) tokens?\b"
        r"|\b(?:invalid|expired|revoked|missing|malformed) (?:access |auth\w* |bearer |security |session )?(?:token|key"
        r"|credentials?)\b(?! (?:count|limit))"
        r"|\bno token provided|(?:organization|account) has been disabled|token (?:has |is |was )?(?:expired|revoked"
        r"|invalid)|\bunauthori[sz]ed\b|\bauthentication\b|\bcredentials?\b"
        r"|\bjwt\b|\bbearer\b|security token|permission denied"
        r"|access denied|forbidden|鉴权|令牌(?:无效|过期)|密钥",
        unless=r"context (?:window|length)",
    ),
    TextRule(
        "answer cut at its limit",
        K.OUTPUT_TRUNCATED,
        r"length limit was reached|output limit (?:was |is |has been )?(?:reached|hit|exceeded)"
        r"|(?:incomplete|cut short|truncated|stopped) (?:due to|because of|by|at) (?:a "
        r"|the )?(?:\w+ )?max(?:imum)? ?(?:\w+ )?tokens"
        r"|before (?:any|a|the) (?:response|answer|output) (?:was|is|could be)|response exceeded the #"
        r"|(?:output|response|answer|generation) (?:has )?exceeded|reached (?:the "
        r"|its )?max(?:imum)? (?:output |completion )?tokens|(?:output|response|answer|generation|completion) (?:was |is "
        r"|got )?(?:truncated|cut off)|(?:max(?:imum)? )?(?:output|completion) tokens? (?:limit )?(?:was |is "
        r"|has been )?reached"
        r"|\bmax tokens (?:limit )?(?:was |is |has been )?reached",
        unless=r"context (?:window|length|size)",
    ),
    TextRule(
        "plan does not include it",
        K.ENTITLEMENT,
        r"(?:long context|1m context|context window)[^.;]{0,40}(?:not (?:yet )?available|not (?:enabled|supported|included"
        r"|allowed)|requires? (?:extra|a|an|tier)"
        r"|is only available|beta)|extra usage is required|(?:plan|subscription|account|tier)[^.;]{0,30}(?:does not|doesn't"
        r"|not) (?:include|support|have access|allow)|\b(?:need|needs|requires?) (?:a |an )?(?:\w+ )?(?:tier|plan"
        r"|subscription)\b|in your (?:current )?plan|not available (?:for|in|on) your",
        remedy=R.DISABLE_BETA,
    ),
    TextRule("queue of batches", K.RATE_LIMIT, r"\benqueued tokens?\b|in progress batch"),
    TextRule(
        "one request over a minute's quota",
        K.TPM_SINGLE_REQUEST,
        r"request too large[^;]{0,200}(?:per min|\btpm\b)|(?:per min|\btpm\b)[^;]{0,120}must be reduced in order"
        r"|single request[^.;]{0,60}(?:per min|\btpm\b)",
    ),
    TextRule(
        "overloaded",
        K.OVERLOAD,
        r"\boverloaded\b|\bat capacity\b|queue is full|负载|饱和|high demand|peak load|peak hours|(?:currently|temporarily"
        r"|too) busy|server is busy|upstream connect"
        r"|service (?:is )?(?:temporarily )?unavailable|bad gateway"
        r"|no healthy upstream|繁忙|服务不可用|过载",
        unless=r"maximum context length|context (?:window|length|size) (?:exceed|of #|is #)|prompt is too long",
    ),
    TextRule(
        "rate limit",
        K.RATE_LIMIT,
        r"\brate[ -]?limit|\brate (?:exceeded|increased)|\bper-(?:model|project|user|key) limit|\b(?:token|request"
        r"|input) rate\b|token bucket"
        r"|\bper[ -]?min(?:ute)?\b|/ ?min(?:ute)?\b|per second|per hour|\b[tr]p[mdsh]\b|too many requests|\bthrottl\w*"
        r"|concurren\w+"
        r"|tier capacity exceeded|频率|速率|限流|每分钟|并发|请求过于频繁|qps",
    ),
    TextRule(
        "quota or credit",
        K.QUOTA,
        r"\bquota\w*|\bkey limit\b|exceeded your (?:\w+ )?token usage|exceed the \w+ tokens limit of #|\b(?:session|hour"
        r"|hourly) limit\b|\bresets? (?:at |in |after )?[#\d]|\bwill reset\b|重置"
        r"|\bcredits?\b|\bbalance\b|\bbilling\b|current plan limits?|\bplan limits?\b|recharge|\bpayment\b"
        r"|paid account|per day|per month|/ month|/ ?day\b|daily|monthly|weekly"
        r"|\bspend(?:ing)?\b|\bused up\b|allowance|\btoday\b|free trial|usage limit|\bbudget has been exceeded"
        r"|exceeded budget|insufficient funds|account is suspended|余额|额度|配额|欠费|充值|套餐",
    ),
    TextRule(
        "wait and retry",
        K.RATE_LIMIT,
        r"please wait|retry after|retry in \S|try again in #|try again (?:later|shortly)|slow down|稍后(?:再试|重试)",
        unless=r"context (?:window|length|size)|prompt is too long",
    ),
    TextRule(
        "timeout",
        K.TIMEOUT,
        r"deadline exceeded|within the deadline|processed in time|exceeded (?:\w+ )?deadline|time(?:d)?[ -]?out\b"
        r"|context cancel\w+|request cancel\w+"
        r"|connection (?:reset|refused|error"
        r"|aborted|closed)|idle time|超时",
    ),
    TextRule(
        "content filter",
        K.CONTENT_FILTER,
        r"content (?:filter|management policy|policy)|\bsafety\b|\bunsafe\b|sensitive (?:content|words|information)"
        r"|or sensitive content|moderation|was (?:blocked|flagged|filtered)"
        r"|exists risk|high risk|compliance requirement|inappropriate content|usage polic(?:y|ies)|acceptable use"
        r"|prohibited content|敏感|违规|不合规|安全审核",
    ),
    TextRule(
        "broken history",
        K.INVARIANT,
        r"tool (?:use|result|call)s?\b[^.;]{0,80}(?:without|must|following|immediately|found|missing|correspond|not have"
        r"|unexpected|no matching)|tool calls must be followed"
        r"|role (?:tool|user|assistant|system)[^.;]{0,40}(?:must|should|cannot)|roles? (?:must|should) alternate"
        r"|must alternate|function (?:call|response)[^.;]{0,50}(?:turn|parts?|must|number)"
        r"|(?:assistant|response|message) (?:message |response )?prefill|expected thinking|toolresult|tool result blocks"
        r"|tool config field"
        r"|required following item|role (?:is )?not supported|while a run\b|previous response[^.;]{0,30}not found"
        r"|items are not persisted|has an active run|must end with a user message|(?:first|last) (?:message|turn"
        r"|role)[^.;]{0,30}(?:must"
        r"|should|user|cannot)|expected last role|after (?:a )?user turn"
        r"|must be non[ -]?empty|(?:empty|blank) (?:content|text)|thinking blocks?[^.;]{0,60}(?:must|cannot|signature"
        r"|expected)|thought signature|invalid signature|duplicate (?:tool|id)"
        r"|no tool (?:output|call) found|tool call id[^.;]{0,30}(?:not found|did not|without)|reasoning (?:item"
        r"|content)[^.;]{0,50}(?:without|must|missing)",
    ),
    TextRule(
        "the model's own configuration",
        K.CONFIG,
        r"window too small|context (?:window|length|size) (?:is )?too small|minimum is #|gpu memory utilization"
        r"|failed to load model|\bn ctx train\b|trained context|requested context size"
        r"|(?:max model len|max seq len|max num batched tokens|n ctx(?: \w+){0,2}) (?:\(?#\)? )?(?:is )?(?:larger|greater"
        r"|smaller|less|<|>)"
        r"(?: than)? (?:the )?(?:derived |maximum )?(?:max |n ctx|number of tokens that)|model[^.;]{0,60}(?:not found"
        r"|does not exist|not exist|unknown|is not a valid)|no such model|unknown model|decommissioned|模型不存在"
        r"|requested model is not"
        r"|no models? loaded",
    ),
    TextRule(
        "media size or count",
        K.MEDIA_LIMIT,
        rf"\b{_MEDIA}\b[^.;]{{0,60}}(?:exceed|too (?:large|big|long|many)|larger than|at most|limit|dimension|maximum"
        rf"|duration|do(?:es)? not meet|超)|\b(?:max\w*|limit) (?:\w+ ){{0,3}}(?:per|of|for) {_MEDIA}\b|too much media"
        rf"|(?:too many|number of|maximum of #|at most #|more than #) (?:\w+ )?{_MEDIA}\b"
        r"|(?:图片|图像|文件|视频|音频)[^.;]{0,12}(?:过大|过长|超)",
        unless=(
            r"\btokens?\b|context (?:window|length|limit|size)|(?:exceeds?|over) (?:the )?(?:model )?context"
            r"|request size exceeds|cached"
        ),
        remedy=R.DROP_MEDIA,
    ),
    TextRule(
        "schema too complex",
        K.PARAMETER,
        r"\b(?:grammar|schemas?)\b[^.;]{0,60}(?:too (?:large|complex|many|deep|long)|exceed)|too many states",
        unless=r"context (?:window|length|limit|size)|# ?(?:bytes|kb|mb)\b|\btokens\b",
    ),
    TextRule(
        "text bytes",
        K.INPUT_BYTES,
        r"text bytes|bytes of text|(?:prompt|input text|text)[^.;]{0,30}(?:too (?:many|long)|exceeds?)[^.;]{0,30}bytes",
    ),
    TextRule("size of all messages", K.PAYLOAD_BYTES, r"message size # (?:exceeds|>)", remedy=R.COMPACT_BY_BYTES),
    TextRule(
        "size of the body",
        K.PAYLOAD_BYTES,
        r"entity too large|payload (?:is |was )?(?:too|size|exceed\w*|larger|limit)|(?:request "
        r"|http )?body (?:is )?(?:too large|size|exceed|larger)|exceeds the maximum size|upload (?:size )?limit"
        r"|request size exceeds|larger than max \(?#"
        r"|(?:request|buffer the) (?:\w+ )?body: length limit|# ?(?:bytes|kb|mb|mib|gb|kib)\b"
        r"|content length[^.;]{0,20}(?:exceed|too)|message larger than max"
        r"|(?<!context )size limit(?: of)? #|request too large\W*\Z|request too large(?! for)"
        r"|请求体",
        unless=r"# tokens|context (?:window|length|limit|size)|token (?:limit|count)|too many tokens",
        remedy=R.DROP_MEDIA,
    ),
    TextRule(
        "characters of the input",
        K.INPUT_CHARS,
        r"expected max ?length ?: ?#, actual ?: ?#|max(?:imum)? (?:\w+ )?(?:input |prompt )?char(?:acter)?s (?:is|of|are) #"
        r"|(?:prompt|input|text|message|query|question)[^.;]{0,50}(?:exceed\w*|longer than"
        r"|at most|no more than|limit(?:ed)?|over|more than|>)[^.;]{0,30}# char|# characters?[^.;]{0,30}(?:exceed|over|above"
        r"|>)|(?:输入|内容|文本|长度)[^.;]{0,20}(?:超过|超出|不能超过|最多)[^.;]{0,12}(?:字符|个字)"
        r"|max length of current question",
        unless=r"\btokens?\b",
    ),
    TextRule(
        "a limit of the parameter itself",
        K.PARAMETER,
        r"\binput should be (?:an? |one of|(?:greater|less) than or equal|greater than)|\b(?:best of|top [nkp]|temperature"
        r"|(?:top |sample )?logprobs|\w+ penalty)\b[^.;]{0,30}(?:must|should|cannot|exceed|above|greater|only|of #|>)"
        r"|\bmin(?:imum)? ?(?:new |output )?tokens must|\btruncat\w+ (?:prompt tokens |tokens )?(?:value|must)"
        r"|truncation size|must be greater than thinking|thinking[. ]budget|reasoning tokens # exceeds|below minimum"
        r"|not supported with this model|cached content|context caching|start caching"
        r"|is too long for this field|must be (?:a )?(?:positive|non negative)",
    ),
    TextRule(
        "no room left for output",
        K.INPUT,
        r"tokens must be (?:at least|greater than|>=?|positive)[^.;]{0,20}(?:got|given|received|was)[: ]+-\d"
        r"|available context (?:size|length|window) -\d",
    ),
    TextRule(
        "cap of the output",
        K.OUTPUT_CAP,
        rf"\b{_OUTPUT}\b{_BETWEEN}{_LIMITING}|range of (?:\w+ )?max ?(?:\w+ )?tokens"
        rf"|max(?:imum)? (?:allowed )?(?:number of )?(?:output|completion) tokens (?:\(|is|of|for|allowed)"
        r"|max tokens: range|max(?:imum)? output (?:length|tokens?|size)(?: is| of|:) #|(?:at most|maximum of"
        r"|up to) # (?:output|completion"
        r"|new) tokens"
        r"|# (?:output|completion|new) tokens?\b(?:(?!prompt|input|context|total)[^.]){0,50}(?:at most|\bmax|limit|\bcap\b"
        r"|only)"
        r"|max ?(?:\w+ )?tokens[^.;]{0,60}(?:integer|value) above max"
        r"|(?:invalid max ?(?:\w+ )?tokens value|max ?(?:\w+ )?tokens value of)"
        r"|(?:输出|生成)[^.;]{0,20}(?:超过|超出|大于|上限)|最大输出"
        r"|max tokens[^.;]{0,20}(?:超过|超出|大于|取值|范围|限制|非法|不能|最大|必须)",
        unless=_SUM,
    ),
)

#: Wordings of other mistakes, tried when nothing else matched.
OTHERS: Final = (
    TextRule(
        "a missing message",
        K.INVARIANT,
        r"is blank|must have a message|more than one system|at least one content|at least one message"
        r"|must start with a user|in the same turn"
        r"|no user query|cannot be empty|must not be empty"
        r"|not the same number"
        r"|either content or tool|trailing whitespace|valid role|messages 参数非法|\[\] is too short|messages (?:is|are|must be"
        r"|cannot be) (?:required|empty|non)|no messages",
    ),
    TextRule(
        "the host's settings",
        K.CONFIG,
        r"model identifier is invalid|invalid model\b|model unloaded|operation not allowed|being provisioned|no models match"
        r"|deployment[^.;]{0,40}does not exist",
    ),
    TextRule(
        "time of a session",
        K.TIMEOUT,
        r"maximum duration|maximum allowed time|\btime limit\b",
    ),
    TextRule(
        "media of another form",
        K.MEDIA_LIMIT,
        r"invalid file format|image urls are only allowed|\bpdf page|more than one image|audio file is|maximum file size",
    ),
    TextRule(
        "a parameter's value",
        K.PARAMETER,
        r"invalid schema|any of\b|only one prompt|must contain the word|only one of\b|must come before|must have a\b"
        r"|must use\b|each stop sequence|requires (?:--|at least)|must contain at least|template error|format error"
        r"|(?:this|jinja) template|does not match any|may not be (?:set|enabled)|may only be set|supported only when"
        r"|invalid request error|invalid message|"
        r"must be (?:between|one of|in|less than|greater than|at (?:least|most))\b|should be (?:one of|between|less than"
        r"|greater than|a valid)|input should be|unsupported|must be unique|(?:is|are) (?:missing|required)\b"
        r"|(?:is|are) not supported|must be an? (?:string|list|array|object|number|integer|boolean)|invalid (?:value|type"
        r"|parameter)|(?:isn't|aren't) supported|not (?:less|greater) (?:than )?or equal|unexpected value|unknown variant"
        r"|out of vocabulary|field required|strictly positive|unrecognized (?:request )?argument"
        r"|do(?:es)? not support|invalid arguments?\b|must be set|could not process|is mandatory|invalid params"
        r"|config is set without|参数有误|match(?:es)? (?:the )?pattern"
        r"|(?:prompt|chat|jinja) template|unknown (?:parameter|field|argument)|extra inputs are not permitted|参数(?:错误|无效)",
    ),
)
