"""What a fact is for a later conversation, whose word it is, and what it is about: by its kind, its role and its wording.

Wordings of English and Chinese, and the commonest ones of German, French, Spanish, Portuguese, Italian, Russian, Japanese and
Korean. What is not worded so stays in its session.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from re import Pattern

from contextport.contracts.facts import Fact, FactKind
from contextport.contracts.memory import MemoryKind, MemoryOrigin, normal_form
from contextport.contracts.messages import Message, Refusal, Text

from .facts.labels import GAP
from .facts.ledger import STATEMENTS
from .facts.own_sentences import LONGEST_MESSAGE
from .facts.statements import clipped, is_question, sentences
from .facts.words import content_words

__all__ = ["about_of", "is_lasting", "kind_of", "origin_of", "own_statements"]

_ORIGINS = {"user": MemoryOrigin.USER, "assistant": MemoryOrigin.ASSISTANT, "tool": MemoryOrigin.TOOL}
_FENCE = "```"
_VALUES = (FactKind.NUMBER, FactKind.DATE)
_NAMED = frozenset([FactKind.IDENTIFIER, FactKind.PATH, FactKind.ENTITY])


def _any(*alternatives: str) -> Pattern[str]:
    return re.compile("|".join(alternatives), re.IGNORECASE)


_JOBS = (
    "engineer|developer|programmer|teacher|nurse|doctor|student|lawyer|designer|manager|writer|journalist|researcher|scientist|"
    "analyst|consultant|accountant|architect|chef|cook|pilot|driver|artist|musician|freelancer|founder|professor|carpenter|plumber|"
    "electrician|therapist|pharmacist|dentist|translator|photographer|salesperson|mechanic|farmer"
)
_KIN = "wife|husband|partner|son|daughter|mother|father|brother|sister|boss|dog|cat|girlfriend|boyfriend|child"
_LANGUAGES = (
    "english|german|french|spanish|portuguese|italian|russian|japanese|korean|chinese|mandarin|dutch|polish|turkish|arabic|hindi"
)

#: What a profile tells, by what: one answer at a time.
_PROFILE: tuple[tuple[str, Pattern[str]], ...] = (
    (
        "name",
        _any(
            r"\bmy (?:full |first |last |real )?name(?: is|'s)\b",
            r"\b(?:i am|i'm) (?:called|named)\b",
            r"\bcall me (?-i:[A-Z])",
            r"我叫(?![他她你它人])|我的名字|请叫我|我姓[\u4e00-\u9fff]",
            r"\bich heiße\b|\bmein name ist\b|\bje m'appelle\b|\bme llamo\b",
            r"\bmi nombre es\b|\bmeu nome é\b|\bmi chiamo\b|меня зовут",
            r"私の名前は|と申します|제 이름은|내 이름은",
        ),
    ),
    (
        "home",
        _any(
            r"\bi (?:currently |now |still )?(?:live|reside) (?:in|at|near)\b|\bi moved to\b",
            r"\b(?:i'm|i am) (?:living|based) in\b",
            r"\bmy (?:home |postal )?address is\b|\b(?:i'm|i am) from (?-i:[A-Z])",
            r"(?:我|[\uff0c,、]\s?)(?:现在|目前)?住在|我家在|我搬到|我来自",
            r"\bich (?:wohne|lebe) in\b|\bj'habite\b|\b(?:vivo|resido) en\b",
            r"\bmoro em\b|\b(?:abito|vivo) a\b|я живу|に住んで|에 살(?:아|고)",
        ),
    ),
    (
        "work",
        _any(
            r"\bi work (?:as|at|for)\b|\bmy (?:job|profession|occupation|employer) is\b",
            rf"\b(?:i'm|i am) an? (?:[\w-]+ ){{0,3}}(?:{_JOBS})\b",
            r"我在(?!思考|考虑|想|找|寻找|准备|换)[^\uff0c,\u3002换找]{1,15}(?:工作|上班)|我的(?:职业|工作)是",
            r"我是(?:一[名个位]|[名个])?[\u4e00-\u9fff]{0,8}(?:工程师|老师|教师|医生|护士|学生|律师|设计师|经理|程序员|会计|作家|研究员|司机|厨师)",
            r"\bich arbeite (?:als|bei)\b|\bje travaille\b|\btrabajo (?:como|en)\b",
            r"\blavoro (?:come|per)\b|я работаю|として働いて|에서 일(?:해|하고)",
        ),
    ),
    (
        "age",
        _any(
            r"\bmy birthday is\b|\bi was born (?:on|in)\b|\b(?:i'm|i am) \d{1,3} years old\b",
            r"我的生日|我今年[0-9一二三四五六七八九十]+岁|我出生",
            r"\bmein geburtstag\b|\bich bin \d{1,3} jahre alt\b|\bmon anniversaire\b|\bmi cumpleaños\b",
        ),
    ),
    ("e-mail", _any(r"\bmy e-?mail(?: address)? is\b|我的(?:邮箱|电子邮件)|\bmeine e-?mail")),
    (
        "phone",
        _any(r"\bmy (?:phone|mobile|cell)(?: phone)?(?: number)? is\b|我的(?:电话|手机)|\bmeine (?:telefon|handy)nummer\b"),
    ),
    ("time zone", _any(r"\bmy time ?zone is\b|我的时区")),
    ("pronouns", _any(r"\bmy pronouns are\b")),
    (
        "languages",
        _any(r"\bi speak\b|\bmy (?:native|first) language is\b|我会说|我的母语|\bich spreche\b|\bje parle\b|\bhablo\b"),
    ),
)
_KIN_NAMED = re.compile(
    rf"\bmy ({_KIN})(?:'s name)? is (?:called |named )?(?-i:[A-Z])|我的?(老婆|妻子|丈夫|老公|儿子|女儿)(?:名?叫)", re.I
)

#: What a preference settles, where there is one answer at a time.
_SETTLED: tuple[tuple[str, Pattern[str]], ...] = (
    (
        "language of answers",
        _any(
            rf"\b(?:answer|reply|respond|speak|talk)(?: me| to me| back)?(?: always| only)? in (?:{_LANGUAGES})\b",
            r"用[\u4e00-\u9fff]{1,3}[文语](?:来)?(?:回答|回复|交流|对话|说)",
            r"\bantworte[nt]?\b.{0,20}\bauf (?:deutsch|englisch|französisch)|\brépond\w*\b.{0,20}\ben (?:français|anglais)",
            r"\brespond\w*\b.{0,20}\ben (?:español|inglés)|日本語で(?:答|回答|返)|한국어로 (?:답|대답)",
        ),
    ),
    (
        "length of answers",
        _any(
            r"\b(?:keep|make) (?:your |all |the )*(?:answers?|replies|responses)\b.{0,20}\b(?:short|brief|concise|long|detailed)",
            r"\b(?:short|brief|concise|long|detailed) (?:answers|replies|responses)\b",
            r"(?:回答|回复).{0,8}(?:简短|简洁|简要|详细)",
        ),
    ),
    ("units", _any(r"\b(?:metric|imperial) (?:units?|system)\b|公制|英制")),
)
_FAVOURITE = re.compile(r"\bmy favou?rite ([a-z ]{2,24}?) (?:is|are)\b|我最喜欢的([\u4e00-\u9fff]{1,6}?)是", re.IGNORECASE)

_LIKES = _any(
    r"\bi (?:really |always |usually |generally |strongly )?(?:prefer|like|love|enjoy|hate|dislike)\b"
    r"(?! (?:it|this|that|your|the|to know|you|how)\b)",
    r"\bi (?:don't|do not) (?:like|eat|drink|want you)\b|\bi(?:'d| would) rather\b",
    r"\ballergic\b|\b(?:i'm|i am) (?:a )?(?:vegan|vegetarian)\b",
    r"我[^\uff0c,\u3002;\uff1b你他她]{0,8}(?:喜欢|偏好|偏爱|爱[吃喝看听])|过敏|忌口|我不[吃喝]|吃素",
    r"\bich (?:mag|bevorzuge|hasse)\b|\bje préfère\b|\bj'aime\b",
    r"\bprefiero\b|\bme gustan?\b|\bprefiro\b|\beu gosto\b|\bpreferisco\b|\bmi piace\b",
    r"мне нравится|я предпочитаю|が好き|を好み|를? ?(?:좋아|선호)",
)
#: In a sentence that says what has to hold.
_STANDING = _any(
    r"(?:^|[,;:.!\u2014]\s*|\b(?:please|should|must|to|can|will) )(?:always|never)\b",
    r"\b(?:from now on|every time|whenever)\b",
    r"\b(?:don't|do not) (?:ever|use|call|write|add|mention|speak|answer|reply|format|put)\b",
    r"(?:总是|始终|每次|永远|一律)都?(?:请|想?要(?!求)|用|只|不要|别)|以后(?:请|都|别|不|只)|从不|一律|不要再|别再",
)
#: In any sentence of the user's own.
_TOLD = _any(
    r"\bi (?:always|never|usually) (?!feel|felt|forget|seem|have|had|am|was|get|wonder|thought|kn[eo]w|wanted|end up)",
    r"(?:^|\bplease |\byou should )(?:always|never)\b|\bfrom now on\b",
    r"请.{0,6}(?:始终|总是|永远|一律|每次都)|(?:总是|始终|每次|永远)都?(?:请|想?要(?!求)|用|只|不要)|我从不|以后(?:请|都|别|不要)",
    r"\b(?:bitte|ich|antworte|schreib\w*|verwende|nutze|nenn\w*)\b.{0,40}\b(?:immer|nie|niemals|künftig)\b|\bab jetzt\b",
    r"\b(?:je|répond\w*|utilise\w*|écri\w*)\b.{0,40}\b(?:toujours|jamais)\b|\bdésormais\b|\b(?:toujours|jamais)\b.{0,20}\b(?:répond|utilis|écri)\w*",
    r"\b(?:siempre|nunca)\b.{0,20}\b(?:respond|us|escrib)\w*|\b(?:respond\w*|usa|escrib\w*)\b.{0,40}\b(?:siempre|nunca|sempre|mai)\b",
    r"(?:всегда|никогда).{0,30}(?:отвеч|пиш|использ)|(?:いつも|必ず|常に).{0,30}(?:ください|して)|(?:항상|절대).{0,30}(?:주세요|마세요|줘)",
)
#: Requests for later, which an answer does not fulfil.
_LASTING = _any(
    r"\b(?:remind|to-?do|later|tomorrow|next (?:week|month|year|time)|remember to|don't forget)\b",
    r"\bby (?:mon|tues|wednes|thurs|fri|satur|sun)day\b",
    r"\b(?:i|we)(?: still)? (?:have|need|got) to\b|\b(?:i|we)'ve got to\b",
    r"待办|提醒|记得|下周|下个?月|明天|后天|之后|还要|还需要|别忘|到时",
    r"\berinner\w*\b|\bmorgen\b|\bspäter\b|\brappel\w*\b|\bdemain\b|\brecu[eé]rda\w*\b|\bmañana\b|напомни|завтра|リマインド|明日|내일",
)


def origin_of(fact: Fact) -> MemoryOrigin:
    """Whose word it is, by the role; of none of a conversation's, the host's."""
    return _ORIGINS.get(fact.role, MemoryOrigin.HOST)


def kind_of(fact: Fact) -> MemoryKind:
    """What it is for a later conversation. Only what a user says themselves is profile or preference."""
    if fact.role == "user" and fact.kind in STATEMENTS and fact.kind not in (FactKind.DECISION, FactKind.CONCLUSION):
        slots = _slots(fact.text)
        if fact.kind is FactKind.TASK:  # a request, unless it is one about how to be spoken to
            slots = [slot for slot in slots if slot[0] is MemoryKind.PREFERENCE or slot[1] == "name"]
        if slots:
            return slots[0][0]
        if fact.kind is not FactKind.TASK and _is_preference(fact):
            return MemoryKind.PREFERENCE
    return MemoryKind.TASK if fact.kind is FactKind.TASK else MemoryKind.FACT


def _is_preference(fact: Fact) -> bool:
    if _LIKES.search(fact.text) or _TOLD.search(fact.text):
        return True
    return fact.kind is FactKind.CONSTRAINT and _STANDING.search(fact.text) is not None


def _slots(text: str) -> list[tuple[MemoryKind, str]]:
    """What a sentence settles of which there is one answer at a time."""
    found = [(MemoryKind.PROFILE, name) for name, wording in _PROFILE if wording.search(text)]
    found += [(MemoryKind.PROFILE, kin[1] or kin[2]) for kin in _KIN_NAMED.finditer(text)]
    found += [(MemoryKind.PREFERENCE, name) for name, wording in _SETTLED if wording.search(text)]
    found += [(MemoryKind.PREFERENCE, f"favourite {what[1] or what[2]}") for what in _FAVOURITE.finditer(text)]
    return found


def about_of(fact: Fact, beside: Iterable[Fact]) -> str:
    """What it is about, so that a later one takes its place; `beside` are the facts of the same message.

    A profile or a preference tells one thing, such as `profile home`; a sentence with a named number or date what is left of it
    without these; a name itself, below its label. Any other sentence takes the place of none but its own repetitions.
    """
    if fact.kind in _NAMED:
        return f"{fact.label}={fact.text}"
    slots = _slots(fact.text) if fact.role == "user" else []
    if len(slots) == 1 and kind_of(fact) is slots[0][0]:
        return f"{slots[0][0]} {slots[0][1].lower()}"
    named = [one for one in beside if one.kind in _VALUES and one.label and not one.label.endswith(GAP) and one.text in fact.text]
    if fact.kind is not FactKind.TASK and named:
        rest = fact.text
        for one in sorted(named, key=lambda one: -len(one.text)):
            rest = rest.replace(one.text, " ")
        words = sorted(word for word in content_words(rest) if not word.isdigit())
        if words:
            return f"value of {' '.join(words)}"
    return normal_form(fact.text)


def is_lasting(text: str) -> bool:
    """Whether a request is for later, so that it stays open though it was answered."""
    return _LASTING.search(text) is not None


def own_statements(message: Message) -> Iterator[Fact]:
    """Sentences in which a user tells of themselves or of what they like; nothing of code, nor of long messages."""
    text = "\n".join([part.text for part in message.parts if isinstance(part, Text | Refusal)])
    if message.role != "user" or not 0 < len(text) <= LONGEST_MESSAGE:  # what is longer was pasted
        return
    for start, end in sentences(text):
        sentence = clipped(text[start:end])
        if len(sentence) < 3 or is_question(sentence) or text.count(_FENCE, 0, start) % 2:
            continue
        fact = Fact(kind=FactKind.STATEMENT, text=sentence, sources=(message.id,))
        if kind_of(fact) is not MemoryKind.FACT:
            yield fact
