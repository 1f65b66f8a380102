"""What codes, types, class names and HTTP statuses mean. Data: one row per fact.

Numeric codes mean something only at their own provider. Words are compared without case, `_`, `-` and `.`.
"""

from __future__ import annotations

import re
from typing import Final

from contextport.contracts.provider_error import ErrorKind as K

__all__ = ["OVERFLOW_CLASS", "OVERFLOW_CODE", "kind_of_class", "kind_of_code", "kind_of_status", "plain_code"]

#: (provider, code) -> kind.
_OF_PROVIDER: Final = {
    ("mistral", "3051"): K.INPUT,
    ("mistral", "3505"): K.RATE_LIMIT,
    ("zhipu", "1261"): K.INPUT,
    ("zhipu", "1113"): K.QUOTA,
    ("zhipu", "1301"): K.CONTENT_FILTER,
    ("zhipu", "1302"): K.RATE_LIMIT,
    ("zhipu", "1303"): K.RATE_LIMIT,
    ("zhipu", "1304"): K.QUOTA,
    ("zhipu", "1305"): K.OVERLOAD,
    ("minimax", "1039"): K.INPUT,
    ("minimax", "1002"): K.RATE_LIMIT,
    ("minimax", "1004"): K.AUTH,
    ("minimax", "1008"): K.QUOTA,
    ("minimax", "1026"): K.CONTENT_FILTER,
    ("minimax", "1027"): K.CONTENT_FILTER,
    ("iflytek", "10907"): K.INPUT,
    ("iflytek", "10013"): K.CONTENT_FILTER,
    ("iflytek", "11200"): K.AUTH,
    ("iflytek", "11202"): K.RATE_LIMIT,
    ("qianfan", "336103"): K.INPUT,
    ("qianfan", "336007"): K.INPUT_CHARS,
    ("qianfan", "18"): K.RATE_LIMIT,
    ("qianfan", "17"): K.QUOTA,
}
#: Codes and types of any provider that are no overflow, whatever the text says.
_WORDS: Final = {
    "stringabovemaxlength": K.FIELD_LENGTH,
    "stringtoolong": K.FIELD_LENGTH,
    "arrayabovemaxlength": K.COUNT_LIMIT,
    "toomanymessages": K.COUNT_LIMIT,
    "toomanytools": K.COUNT_LIMIT,
    "ratelimiterror": K.RATE_LIMIT,
    "ratelimitexceeded": K.RATE_LIMIT,
    "ratelimitreached": K.RATE_LIMIT,
    "ratelimitreachederror": K.RATE_LIMIT,
    "ratelimited": K.RATE_LIMIT,
    "tokens": K.RATE_LIMIT,
    "requests": K.RATE_LIMIT,
    "throttlingexception": K.RATE_LIMIT,
    "throttling": K.RATE_LIMIT,
    "throttlingratequota": K.RATE_LIMIT,
    "throttledexception": K.RATE_LIMIT,
    "toomanyrequestsexception": K.RATE_LIMIT,
    "toomanyrequests": K.RATE_LIMIT,
    "servicetiercapacityexceeded": K.RATE_LIMIT,
    "resourceexhausted": K.RATE_LIMIT,
    "insufficientquota": K.QUOTA,
    "exceededcurrentquotaerror": K.QUOTA,
    "quotaexceeded": K.QUOTA,
    "servicequotaexceededexception": K.QUOTA,
    "throttlingallocationquota": K.QUOTA,
    "setlimitexceeded": K.QUOTA,
    "accountoverdueerror": K.QUOTA,
    "billinghardlimitreached": K.QUOTA,
    "billingerror": K.QUOTA,
    "insufficientbalance": K.QUOTA,
    "insufficientcredits": K.QUOTA,
    "arrearage": K.QUOTA,
    "paymentrequired": K.QUOTA,
    "overloadederror": K.OVERLOAD,
    "overloaded": K.OVERLOAD,
    "modelnotreadyexception": K.OVERLOAD,
    "serviceunavailableexception": K.OVERLOAD,
    "serviceunavailable": K.OVERLOAD,
    "unavailable": K.OVERLOAD,
    "modeltimeoutexception": K.TIMEOUT,
    "deadlineexceeded": K.TIMEOUT,
    "timeouterror": K.TIMEOUT,
    "invalidapikey": K.AUTH,
    "authenticationerror": K.AUTH,
    "unauthenticated": K.AUTH,
    "unauthorized": K.AUTH,
    "accessdeniedexception": K.AUTH,
    "unrecognizedclientexception": K.AUTH,
    "expiredtokenexception": K.AUTH,
    "invalidsignatureexception": K.AUTH,
    "contentfilter": K.CONTENT_FILTER,
    "contentpolicyviolation": K.CONTENT_FILTER,
    "datainspectionfailed": K.CONTENT_FILTER,
    "moderationblocked": K.CONTENT_FILTER,
    "unsupportedparameter": K.PARAMETER,
    "unsupportedvalue": K.PARAMETER,
    "integerbelowminvalue": K.PARAMETER,
    "decimalbelowminvalue": K.PARAMETER,
    "decimalabovemaxvalue": K.PARAMETER,
    "missingrequiredparameter": K.PARAMETER,
    "unknownparameter": K.PARAMETER,
    "modelnotfound": K.CONFIG,
    "notfounderror": K.CONFIG,
    "maxoutputtokensexceeded": K.OUTPUT_CAP,
    "requesttoolarge": K.PAYLOAD_BYTES,
    "payloadtoolarge": K.PAYLOAD_BYTES,
    "requestentitytoolarge": K.PAYLOAD_BYTES,
    "imagetoolarge": K.MEDIA_LIMIT,
}
_SIZE: Final = r"(?:exceed\w*|toolong|toolarge|toobig|toomany|overflow\w*|reached|overlimit|overthelimit|outofrange)"
#: A code is an overflow if it says that context, prompt or input tokens are too many, in either order.
OVERFLOW_CODE: Final = re.compile(
    rf"(?:context|prompt|input(?:token|length|text|size)|input(?=too)|tokens?limit|tokenlimit|maxtokenslimit|modelmaxprompt"
    rf"|conversation(?:too)?)\w*?{_SIZE}"
    r"|exceed(?:s|ed|ing)?\w{0,12}(?:context|prompt|inputtoken)|toomany(?:input|prompt)?tokens(?!per)|contextlengtherror"
)
_NO_OVERFLOW_CODE: Final = re.compile(r"perminute|perday|rate|quota|timeout|deadline|output|completion|media|image|file")
#: Names of exception classes that stand for an overflow, in code of any framework.
OVERFLOW_CLASS: Final = re.compile(
    r"context(?:window|length|size|limit|token)?\w{0,12}(?:exceed|overflow|toolong)|prompttoolong|inputtoolong"
    r"|tokenlimitexceeded|toomanytokens"
)
_CLASSES: Final = (
    ("lengthfinishreason", K.OUTPUT_TRUNCATED),
    ("contentfilterfinishreason", K.CONTENT_FILTER),
    ("contentpolicyviolation", K.CONTENT_FILTER),
    ("usagelimit", K.QUOTA),
    ("ratelimit", K.RATE_LIMIT),
    ("toomanyrequests", K.RATE_LIMIT),
    ("apitimeout", K.TIMEOUT),
    ("timeouterror", K.TIMEOUT),
    ("timeoutexception", K.TIMEOUT),
    ("readtimeout", K.TIMEOUT),
    ("connecttimeout", K.TIMEOUT),
    ("authenticationerror", K.AUTH),
    ("overloadederror", K.OVERLOAD),
    ("serviceunavailable", K.OVERLOAD),
    ("apiconnectionerror", K.TIMEOUT),
)
_STATUSES: Final = {
    401: K.AUTH,
    402: K.QUOTA,
    403: K.AUTH,
    404: K.CONFIG,
    408: K.TIMEOUT,
    429: K.RATE_LIMIT,
    502: K.OVERLOAD,
    503: K.OVERLOAD,
    504: K.TIMEOUT,
    529: K.OVERLOAD,
}
_MARKS: Final = re.compile(r"[^a-z0-9]+")


def plain_code(code: str) -> str:
    """A code in lower case without marks: `Context-Length.Exceeded` -> `contextlengthexceeded`."""
    return _MARKS.sub("", code[:80].lower())


def kind_of_code(code: str, provider: str) -> K | None:
    """The kind that a code or type means at that provider, or None."""
    found = _OF_PROVIDER.get((provider, code.strip()))
    if found is not None:
        return found
    plain = plain_code(code)
    if plain in _WORDS:
        return _WORDS[plain]
    return K.INPUT if OVERFLOW_CODE.search(plain) and not _NO_OVERFLOW_CODE.search(plain) else None


def kind_of_class(names: str) -> K | None:
    """The kind that the names of an exception's classes mean, or None."""
    plain = " ".join(_MARKS.sub("", name.rpartition(".")[2].lower()) for name in names.split()[:4])
    if OVERFLOW_CLASS.search(plain):
        return K.INPUT
    return next((kind for part, kind in _CLASSES if part in plain), None)


def kind_of_status(status: int | None) -> K | None:
    """The kind that an HTTP status means if nothing else is known."""
    return _STATUSES.get(status or 0)
