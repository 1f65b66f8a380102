"""How users word what a profile tells and what they prefer, in English and Chinese, and the commonest ways of other languages."""

from __future__ import annotations

import re
from re import Pattern

from .memory_people import JOBS, JOBS_ZH, KIN, KIN_ZH, any_of

__all__ = ["FAVOURITE", "KIN_NAMED", "LASTING", "LIKES", "OF_ONE_MATTER", "PROFILE", "SETTLED", "STANDING", "TOLD"]

_LANGUAGES = (
    "english|german|french|spanish|portuguese|italian|russian|japanese|korean|chinese|mandarin|dutch|polish|turkish|arabic|hindi"
)

#: What is written like a name after "I'm", and is none: peoples, faiths, moods.
_NO_NAME = (
    r"(?!(?:[a-z]+(?:ese|ish|ist|ian|ans?)|german|french|greek|czech|swiss|dutch|thai|iraqi|arab|catholic|muslim|hindu|jew|"
    r"ok|okay|done|back|sorry|sure|fine|happy|sad|not|so|very|just|here|new|from|at|in|on|now|back|also|still|i)\b)"
)
_SURNAMES = (
    "王李张刘陈杨赵黄周吴徐孙胡朱高林何郭马罗梁宋郑谢韩唐冯董程曹袁邓许傅沈曾彭吕苏卢蒋蔡贾丁魏薛叶余"
    "潘杜戴夏钟汪田任姜范方石姚谭廖邹熊陆郝孔白崔康毛邱秦江史顾侯邵孟段雷钱汤尹黎"
)
_FROM_NOW = r"(?: (?:just|recently|now|finally|have|already)){0,2}"
_LATELY = "(?:(?:现在|目前|刚刚?|已经|最近|上周|上个?月|去年|今年|昨天|前天|们|一家|全家|也|又|都|还|主要|一直)){0,3}"

#: What a profile tells, by what: one answer at a time.
PROFILE: tuple[tuple[str, Pattern[str]], ...] = (
    (
        "name",
        any_of(
            r"\bmy (?:full |first |last |real )?name(?: is|'s)\b",
            r"\b(?:i am|i'm) (?:called|named)\b",
            r"\bcall me (?-i:[A-Z])",
            rf"(?:\A|[.!,;:]\s{{0,2}}|\band )(?:i'm|i am|"
            rf"this is) {_NO_NAME}(?-i:[A-Z][\w']*(?:-[A-Z]\w+)?(?: [A-Z][\w'.-]*){{0,3}})"
            r"(?=[.!,;]|\s*\Z| and | from | here\b)",
            r"\A(?:(?:hi|hey|hello)[,! ]\s?)?(?!same|and|right|over|up|out|everyone|nobody|new|still|"
            r"also)(?-i:[A-Z][a-z]+(?: [A-Z][a-z]+)?) here(?:[,.!]|\s*\Z)",
            rf"(?:\A|[\uff0c,\u3002!\uff01\s])我是[{_SURNAMES}][\u4e00-\u9fff]{{1,2}}(?<![生员师人者家手工民迷客父母])"
            rf"(?=[\uff0c,\u3002!\uff01\s]|\Z)",
            r"我叫(?![他她你它人了车外醒])|我的名字|请叫我|我姓[\u4e00-\u9fff]",
            r"\bich heiße\b|\bmein name ist\b|\bje m'appelle\b|\bme llamo\b",
            r"\bmi nombre es\b|\bmeu nome é\b|\bmi chiamo\b|меня зовут",
            r"私の名前は|と申します|제 이름은|내 이름은",
        ),
    ),
    (
        "home",
        any_of(
            r"\b(?:i|we) (?:currently |now |still |both )?(?:live|reside) (?:in|at|near)\b",
            rf"\b(?:i|we)(?:'ve)?{_FROM_NOW} (?:moved|relocated) (?:back )?(?:into an? |to )(?!the |an? |use\b|us(?:e|ing) )",
            r"\b(?:i'm|i am|we're|we are) (?:now )?(?:living|based) in\b|\bi'm in (?-i:[A-Z])[\w -]{1,30}(?: now)?[.!]?\Z",
            r"\b(?:my|our) (?:new |home |postal |current )*address is\b|\b(?:i'm|i am) (?:originally )?from (?-i:[A-Z])",
            rf"我(?:[^\u3002]{{0,40}}[\uff0c,、]\s?)?{_LATELY}(?:住在(?!的)|搬[到去来](?!别处|哪))|我(?:们|"
            rf"[^\u3002]{{0,40}}[\uff0c,、]\s?老?)?家(?:现在|目前)?在(?!装修|吃|看|做|办|等|搬|忙)|我来自",
            r"\bich (?:wohne|lebe) in\b|\bj'habite\b|\b(?:vivo|resido) en\b",
            r"\bmoro em\b|\b(?:abito|vivo) a\b|я живу|に住んで|에 살(?:아|고)",
        ),
    ),
    (
        "work",
        any_of(
            r"\bi (?:now |currently |still |also |mainly )?work (?:as|at|for)\b(?! (?:least|night))|\bmy (?:job|profession|"
            r"occupation|employer) is\b",
            rf"\b(?:i'm|i am) (?:now |also |still )?an? (?:[\w-]+ ){{0,3}}(?:{JOBS})\b",
            rf"\bi(?:'ve)?{_FROM_NOW} (?:quit|left|lost|changed|switched|started) (?:my |a |an )?(?:old |new |other )?jobs?\b|"
            rf"\bi(?:'ve)?{_FROM_NOW} (?:got|found|took) a (?:new )?job\b",
            rf"\bi(?:'ve)?{_FROM_NOW} (?:retired|quit (?-i:[a-z]+ing)|(?:got|been|was) (?:promoted to|laid off|fired))\b",
            r"\bi(?:'m| am|'ve been| have been) (?:now |currently )?working (?:as|at|for)\b(?! (?:the|it|this|that|my|"
            r"a company|years|about)\b)",
            r"\b(?:i'm|i am) (?:now |already )?(?:retired|unemployed|self-employed|between jobs)\b|\bi became an? ",
            rf"我{_LATELY}在(?!当前|这|那|目前|公司|思考|考虑|想|找|寻找|准备|换)[^\uff0c,\u3002换找]{{1,15}}(?:工作|上班|[做当](?:{JOBS_ZH}))|我的(?:职业|工作)是",
            rf"我{_LATELY}(?:是|当上?了?)(?:一?[名个位])?[\u4e00-\u9fff]{{0,8}}(?:{JOBS_ZH})",
            rf"我{_LATELY}(?:换了?工作|辞职|退休|跳槽|失业|被裁|升职|升为|升任|创业|转行|改行|入职|不(?:再)?[当做干][\u4e00-\u9fff]{{1,8}}了)",
            r"\bich arbeite (?:als|bei)\b|\bje travaille\b|\btrabajo (?:como|en)\b",
            r"\blavoro (?:come|per)\b|я работаю|として働いて|에서 일(?:해|하고)",
        ),
    ),
    (
        "age",
        any_of(
            r"\bmy birthday is\b|\bi was born (?:on|in)\b|\b(?:i'm|i am) \d{1,3} years old\b",
            r"我的生日|我今年[0-9一二三四五六七八九十]+岁|我出生",
            r"\bmein geburtstag\b|\bich bin \d{1,3} jahre alt\b|\bmon anniversaire\b|\bmi cumpleaños\b",
        ),
    ),
    ("e-mail", any_of(r"\bmy e-?mail(?: address)? is\b|我的(?:邮箱|电子邮件)|\bmeine e-?mail")),
    (
        "phone",
        any_of(r"\bmy (?:phone|mobile|cell)(?: phone)?(?: number)? is\b|我的(?:电话|手机)|\bmeine (?:telefon|handy)nummer\b"),
    ),
    ("time zone", any_of(r"\bmy time ?zone is\b|我的时区")),
    ("pronouns", any_of(r"\bmy pronouns are\b")),
    (
        "languages",
        any_of(r"\bi speak\b|\bmy (?:native|first) language is\b|我会说|我的母语|\bich spreche\b|\bje parle\b|\bhablo\b"),
    ),
)
KIN_NAMED = any_of(
    rf"\b(?:my|our) ({KIN})(?:'s name)?(?:'s| is) (?:called |named )?(?-i:[A-Z])",
    rf"我(?:们|家|们家)?(?:的|家的)?[大小]?({KIN_ZH})(?:的名字)?(?:名?叫|是叫)(?!我|你|他|她|什么|啥)",
)

#: What limits a wish to one matter, so that it settles nothing for all answers.
OF_ONE_MATTER = any_of(
    r"\b(?:about|regarding|concerning) (?!\d|half|one|two|three|four|five|a |an )|\b(?:for|in|to|on) (?:this|that|these|those)\b",
    rf"\bin (?:{_LANGUAGES}),? (?:the|this|that|these|those|my|his|her|to|when|if|where|on)\b|\bthis (?:time|question|one)\b",
    r"关于|有关|下面|以下|上面|上述|刚才|这[个道段篇封次一]|那[个道段篇封]|第[一二三四五0-9]|(?<![我有])的(?:问题|内容|邮件|段落)",
)

#: What a preference settles, where there is one answer at a time.
SETTLED: tuple[tuple[str, Pattern[str]], ...] = (
    (
        "language of answers",
        any_of(
            rf"\b(?:answer|reply|respond|speak|talk)(?: me| to me| back)?(?: always| only)? in (?:{_LANGUAGES})\b",
            r"用[\u4e00-\u9fff]{1,3}[文语](?:来)?(?:回答|回复|交流|对话|说)",
            r"\bantworte[nt]?\b.{0,20}\bauf (?:deutsch|englisch|französisch)|\brépond\w*\b.{0,20}\ben (?:français|anglais)",
            r"\brespond\w*\b.{0,20}\ben (?:español|inglés)|日本語で(?:答|回答|返)|한국어로 (?:답|대답)",
        ),
    ),
    (
        "length of answers",
        any_of(
            r"\b(?:keep|make) (?:your |all |the )*(?:answers?|replies|responses)\b.{0,20}\b(?:short|brief|concise|long|detailed)",
            r"\b(?:short|brief|concise|long|detailed) (?:answers|replies|responses)\b",
            r"(?:回答|回复).{0,8}(?:简短|简洁|简要|详细)",
        ),
    ),
    ("units", any_of(r"\b(?:metric|imperial) (?:units?|system)\b|公制|英制")),
)
FAVOURITE = re.compile(r"\bmy favou?rite ([a-z ]{2,24}?) (?:is|are)\b|我最喜欢的([\u4e00-\u9fff]{1,6}?)是", re.IGNORECASE)

LIKES = any_of(
    r"(?<!that )(?<!which )(?<!what )(?<!things )\bi (?:really |always |usually |generally |strongly )?(?:prefer|like|love|"
    r"enjoy|hate|dislike)\b"
    r"(?! (?:it|this|that|your|the|to know|you|how)\b)",
    r"\bi (?:don't|do not) (?:like|want you)\b|\bi(?:'d| would) rather\b",
    r"我[^\uff0c,\u3002;\uff1b你他她]{0,8}(?:喜欢|偏好|偏爱|爱[吃喝看听])|忌口",
    r"\bich (?:mag|bevorzuge|hasse)\b|\bje préfère\b|\bj'aime\b",
    r"\bprefiero\b|\bme gustan?\b|\bprefiro\b|\beu gosto\b|\bpreferisco\b|\bmi piace\b",
    r"мне нравится|я предпочитаю|が好き|を好み|를? ?(?:좋아|선호)",
)
#: In a sentence that says what has to hold.
STANDING = any_of(
    r"(?:^|[,;:.!\u2014]\s*|\b(?:please|should|must|to|can|will) )(?:always|never)\b",
    r"\b(?:from now on|every time|whenever)\b",
    r"\b(?:don't|do not) (?:ever|use|call|write|add|mention|speak|answer|reply|format|put)\b",
    r"(?:总是|始终|每次|永远|一律)都?(?:请|想?要(?!求)|用|只|不要|别)|以后(?:请|都|别|不|只)|从不|一律|不要再|别再",
)
#: In any sentence of the user's own.
TOLD = any_of(
    r"\bi (?:always|never|usually) (?!feel|felt|forget|seem|have|had|am|was|get|wonder|thought|kn[eo]w|wanted|end up|lose|win|"
    r"fail|struggle)",
    r"(?:^|\bplease |\byou should )(?:always|never)\b|\bfrom now on\b",
    r"请.{0,6}(?:始终|总是|永远|一律|每次都)|(?:总是|始终|每次|永远)都?(?:请|想?要(?!求)|用|只|不要)|我从不|以后(?:请|都|别|不要)",
    r"\b(?:bitte|ich|antworte|schreib\w*|verwende|nutze|nenn\w*)\b.{0,40}\b(?:immer|nie|niemals|künftig)\b|\bab jetzt\b",
    r"\b(?:je|répond\w*|utilise\w*|écri\w*)\b.{0,40}\b(?:toujours|jamais)\b|\bdésormais\b|\b(?:toujours|"
    r"jamais)\b.{0,20}\b(?:répond|utilis|écri)\w*",
    r"\b(?:siempre|nunca)\b.{0,20}\b(?:respond|us|escrib)\w*|\b(?:respond\w*|usa|escrib\w*)\b.{0,40}\b(?:siempre|nunca|sempre|"
    r"mai)\b",
    r"(?:всегда|никогда).{0,30}(?:отвеч|пиш|использ)|(?:いつも|必ず|常に).{0,30}(?:ください|して)|(?:항상|절대).{0,30}(?:주세요|마세요|줘)",
)
#: Requests for later, which an answer does not fulfil.
LASTING = any_of(
    r"\b(?:remind|to-?do|later|tomorrow|next (?:week|month|year|time)|remember to|don't forget)\b",
    r"\bby (?:mon|tues|wednes|thurs|fri|satur|sun)day\b",
    r"\b(?:i|we)(?: still)? (?:have|need|got) to\b|\b(?:i|we)'ve got to\b",
    r"待办|提醒|记得|下周|下个?月|明天|后天|之后|还要|还需要|别忘|到时",
    r"\berinner\w*\b|\bmorgen\b|\bspäter\b|\brappel\w*\b|\bdemain\b|\brecu[eé]rda\w*\b|\bmañana\b|напомни|завтра|リマインド|明日|내일",
)
