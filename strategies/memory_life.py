"""How users word what is so in their own life: health and diet, family and animals, what they own, their money and their days.

Beside it, what tells that a sentence is no such thing: a question, a condition, a wish, a story, a text to be worked on.
"""

from __future__ import annotations

from contextport.contracts.facts import FactKind

from .facts.found_values import found_values
from .memory_people import JOBS_ZH, KIN, KIN_ZH, any_of

__all__ = ["HANDED_OVER", "HEALTH", "HOUSEHOLD", "NOT_SO", "PASSING", "is_of_life"]

#: Where a clause of English begins.
_HEAD = r"(?:\A|[,;:.!\u2014-]\s{0,2}|\b(?:and|but|so|as|because|since|that) )"
_I, _MY = rf"{_HEAD}(?:i|we)", rf"{_HEAD}(?:my|our)"
_ZH = (
    r"(?:\A|[\uff0c,\u3002\uff1b;\uff01!\uff1a:、\s])(?:另外|还有|对了|因为|所以|但是?|不过|其实|最近|现在|平时)?(?:我(?:们|家|们家)?|家里|咱们?家?)"
    r"(?:现在|目前|也|还|又|新|从小|一直|已经|最近|平时|真的|完全|有点|家里|就|都|晚上|早上|每天|最多){0,3}"
)
_FOODS = (
    "gluten|wheat|dairy|milk|lactose|cheese|yogh?urt|eggs?|nuts?|peanuts?|almonds?|soya?|fish|shellfish|seafood|shrimps?|"
    "prawns?|crab|"
    "meat|pork|beef|lamb|chicken|poultry|sugar|sweets|salt|alcohol|wine|beer|caffeine|coffee|fructose|sesame|garlic|onions?|"
    "mushrooms?|"
    "tomato(?:es)?|citrus|bread|pasta|chocolate|spicy|fried|raw|carbs"
)
_ILLS = (
    r"diabet\w*|asthma|c(?:o)?eliac|allerg\w+|intoleran\w+|high blood pressure|hypertension|high cholesterol|adhd|epilepsy|"
    r"arthritis|"
    r"migraines?|depression|anxiety|ibs|crohn'?s?|gout|cancer|anaemia|anemia|eczema|insomnia|heart (?:condition|disease|"
    r"problems?)|"
    r"(?:bad|weak) (?:back|knees?|heart|stomach)|kidney \w+|thyroid \w+|ulcers?|reflux|tinnitus|sciatica|pacemaker"
)
_STATES = (
    r"vegans?|vegetarians?|pescatarians?|c(?:o)?eliac|diabetic|asthmatic|epileptic|pregnant|breastfeeding|"
    r"(?:[\w-]+[ -])?intolerant|"
    r"allergic|anaemic|anemic|colou?r[- ]?blind|deaf|blind|dyslexic|autistic|hypertensive|sensitive to"
)
_ILLS_ZH = (
    r"[高低]血[压糖脂]|糖尿病|哮喘|痛风|[胃肠肝肾心肺][\u4e00-\u9fff]{0,4}[病炎]|抑郁症?|焦虑症|癫痫|偏头痛|过敏|贫血|失眠|关节炎|"
    r"腰椎间盘突出|不耐受|[\u4e00-\u9fff]{1,4}症(?!状)"
)
_OF_KIN = rf"(?:i|we|my (?:{KIN})|our (?:{KIN}))(?: [A-Z][a-z]+)?"

#: Diet and health of the user and of those they live with.
HEALTH = any_of(
    rf"{_HEAD}(?:i'm|i am|we're|i|we) (?:(?:trying|try|have|need) to )?(?:avoid(?:ing)?|cut(?:ting)? out|off) (?:any |"
    rf"all )?(?:{_FOODS})\b",
    rf"{_HEAD}{_OF_KIN}(?:'m| am|'re| are|'s| is|'ve been| have been| has been)"
    rf"(?! not\b)(?: (?:a|an|also|very|severely|highly|mildly|strict|"
    rf"type \d)){{0,3}} (?:{_STATES})\b",
    r"(?:\A|\b(?:i'm|i am) )(?:also |severely )?allergic to ",
    rf"{_I}(?:'ve| have| suffer from| was diagnosed with| got diagnosed with|'ve been diagnosed with)"
    rf"(?: (?!no |not |an idea)[\w'-]+){{0,3}}? (?:{_ILLS})\b",
    rf"{_HEAD}{_OF_KIN} (?:can't|can ?not|mustn't|must not|shouldn't|don't|doesn't|do not|never|no longer|stopped|quit|gave up)"
    rf" (?:eat|eating|have|having|drink|drinking|tolerate|digest|touch|do|use)?\s?(?:any |too much )?(?:{_FOODS})\b",
    rf"{_I} (?:can't|can ?not|mustn't|must not|never|no longer|stopped|only|don't|do not|am not allowed to) (?:eat|eating|"
    rf"drink|drinking)"
    r" (?!anything|any ?more|another|that|this|it\b|the\b|more|much|now|tonight|today|right|while|before|after|(?:out|with|at|"
    r"in|on|and|or|for|from|when|like|too|so|fast|well|enough|alone|lunch|breakfast|dinner)\b)\w+",
    rf"{_I}(?:'m| am) on an? [\w -]{{2,20}} diet\b",
    rf"{_I} (?:keep|eat|follow|am on|need) (?:a |an |only )?(?:strict )?(?:kosher|halal|vegan|vegetarian|keto|low[- ][\w-]+|"
    r"plant[- ]based|paleo|gluten[- ]free|dairy[- ]free|sugar[- ]free)\b",
    r"\A(?!(?:this|that|these|those|it|he|she|they|you|the|people|such|all|what)\b)[\w -]{2,30} (?:makes? me (?:sick|ill|vomit)|"
    r"gives? me (?:hives|rash\w*|migraines?|cramps|heartburn|stomach)|upsets? my stomach)",
    rf"{_ZH}(?:不能|不可以|不敢|不许|不爱|从不|不再|戒了?|不)(?:再)?(?:吃|喝|碰)(?!饭|了[\u3002\uff01]?\Z|东西|[这那亏])[\u4e00-\u9fff]",
    rf"{_ZH}一?[吃喝碰闻][^\uff0c,\u3002]{{1,8}}(?:就|会)(?:过敏|拉肚子|不舒服|难受|吐|肚子疼|起疹子)",
    rf"{_ZH}(?:戒了?掉?(?![指备心律骄])[\u4e00-\u9fff]|只[吃喝][\u4e00-\u9fff]|吃(?:纯|全)?素|吃清真|怀孕|备孕)",
    rf"{_ZH}是(?:一?[个名位])?(?:纯|严格的?)?(?:素食|吃素|糖尿病|色盲|孕妇|清真)",
    rf"{_ZH}(?:有|患有|得了|得过|查出)(?:轻微|严重|轻度|重度|慢性|先天性)?的?(?:{_ILLS_ZH})",
    rf"{_ZH}(?:对[^\uff0c,\u3002]{{1,12}}(?:过敏|不耐受)|[\u4e00-\u9fff]{{1,4}}不耐受)",
    rf"{_ZH}的?(?:{KIN_ZH})(?:对[^\uff0c,\u3002]{{1,12}}过敏|(?:不能|不可以)[吃喝][\u4e00-\u9fff]|有(?:{_ILLS_ZH}))",
    rf"{_ZH}(?:血[糖压脂]|尿酸|胆固醇)(?:偏|有点|比较|很|太)?[高低]",
    rf"{_ZH}[^\u3002]{{1,24}}[\uff0c,](?:现在|平时|晚上|早上|也|所以|因此){{0,2}}(?:不能|不敢|不可以|不)再?[吃喝](?!饭|了[\u3002\uff01]?\Z|"
    rf"东西)[\u4e00-\u9fff]",
    rf"\bno (?:{_FOODS}) for me\b|{_MY} (?:stomach|body|gut) (?:can't|can ?not|doesn't) ",
    r"\A对[^\uff0c,\u3002]{1,12}过敏",
)
_COUNT = r"(?:an?|one|two|three|four|five|six|\d{1,2}|several|no)"
_NUMBERS = (
    r"(?:\d{1,3}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thir\w+|fo[ur]+\w+|fif\w+|sixt\w+|"
    r"seven\w+|eight\w+|nine\w+)"
)
#: Who lives with the user, by name or number.
HOUSEHOLD = any_of(
    rf"{_I}(?: also| now)?(?: have|'ve got| got| adopted|'ve adopted) {_COUNT} (?:[\w-]+ ){{0,3}}?(?:{KIN})\b"
    r"(?! (?:process|nodes?|class|elements?|components?|theme|objects?|tables?|pages?|command|file|program|photos?|pictures?|"
    r"videos?|"
    r"questions?|problems?|joke|story))",
    rf"{_MY} (?:{KIN})(?:'s names?)?(?:'s| is| are) (?:called |named )?(?-i:[A-Z][a-z])",
    rf"{_MY} (?:{KIN})(?: (?-i:[A-Z])[a-z]+)? (?:just |recently )?(?:turned|turns|is|was|has turned) {_NUMBERS}\b(?! (?:of|"
    rf"minutes?|hours?))",
    rf"{_MY} (?:{KIN})(?: (?-i:[A-Z])[a-z]+)? was born\b|{_I}(?:'m| am|'re| are) (?:married|divorced|widowed|engaged|"
    rf"single(?!-| thread| user)|a (?:single )?"
    r"(?:mom|mum|mother|dad|father|parent)\b)",
    rf"{_ZH}(?:养了?着?|有)(?:[一两二三四五六0-9]{{1,2}}[只条个匹头对])?[\u4e00-\u9fff]{{0,4}}?(?:{KIN_ZH})",
    rf"{_ZH}(?:有|是)[一二三四五六七八九十两0-9]{{1,2}}口人?",
    rf"{_ZH}(?:养|来|添|领养|收养)(?:了|着)[一两二三四五六0-9]{{1,2}}[只条匹头]",
    rf"{_ZH}(?:的|家的)?[大小]?(?:{KIN_ZH})(?:的名字)?(?:名?叫|是叫)",
    rf"{_ZH}的?[大小]?(?:{KIN_ZH})(?:今年)?[0-9一二三四五六七八九十两]{{1,3}}(?:岁|个月)",
    rf"{_ZH}(?:结婚了|离婚了|单身|已婚|未婚)",
)
_THINGS = (
    "cars?|truck|van|motor(?:cycle|bike)|scooter|bikes?|bicycle|boat|house|flat|apartment|condo|cabin|cottage|garden|balcony|"
    "piano|"
    "guitar|violin|cello|drums|camera|iphone|android|macbook|laptop|telescope|printer|visa|licen[cs]e|mortgage|loan|degree|phd|"
    "passport|allotment|farm|pool|caravan|camper|tesla|subscription|pension|savings"
)
_OF_PROGRAMS = (
    "code|app|tests?|script|functions?|query|server|program|files?|models?|api|bugs?|errors?|class|method|build|tables?|loop|"
    "array|"
    "lists?|database|repo|branch|commit|questions?|problems?|points?|ideas?|guess|understanding|goal|answer|issue|input|"
    "output|data"
)
_VALUE = (
    r"(?:\d|[$€£¥]|(?:january|february|march|april|may|june|july|august|september|october|november|december)\b|(?-i:[A-Z][a-z]))"
)
_OWNED = any_of(
    rf"{_I}(?:'ve)?(?: just| also| recently| now| currently| still)? (?:own|drive|ride|rent|bought|adopted|sold|inherited|"
    rf"lease|play)"
    rf" (?:(?:an?|my|our|the|two|three|\d) )?(?:[\w-]+ ){{0,4}}?(?:{_THINGS}|\d{{4}}|(?-i:[A-Z]))",
    rf"{_I}(?: also| still)?(?: have|'ve got| got) {_COUNT} (?:[\w-]+ ){{0,4}}?(?:{_THINGS})\b",
    rf"{_I}(?: also)? play the (?!games?|role|fool|video|song)\w+",
    rf"{_ZH}的?[大小]?(?:{KIN_ZH})(?:现在)?是(?:一?[名个位])?(?:{JOBS_ZH})",
    rf"{_ZH}的?[大小]?(?:{KIN_ZH})(?:现在|目前|一直)?在(?!睡|吃|看|等|哭|说|做|问|玩|忙)[^\uff0c,\u3002]{{2,10}}",
    rf"{_I}(?: also| still)?(?: have|'ve got) an? (?:[a-z0-9-]+ ){{0,2}}?(?-i:[A-Z][A-Za-z0-9]+)(?!.*\b(?:{_OF_PROGRAMS})\b)",
    rf"{_I} (?:have|own) (?:my|our) own \w+",
    rf"{_MY} (?:{KIN})(?: (?-i:[A-Z][a-z]+)\b|(?:'s)? (?:lives?|works?|goes|studies|attends|started|has|plays|studied|is an? |"
    rf"are \w+s\b))",
    r"我(?:们|家|们家)?的(?!问题|代码|意思|想法|意见|看法|建议|理解|目标|目的|程序|项目|文件|数据|任务|要求|答案|疑问)[^\uff0c,\u3002的很但就还只也都总老不]{1,8}是(?!不|否|什么|谁|哪|为|要)",
    rf"{_ZH}(?:有|买|开|租|骑|换)[了着过的是]{{0,2}}[一两二三四五几0-9]+[辆条套台架匹艘栋间部把]",
    rf"{_ZH}(?:开的?是?|买了|换了)[\u4e00-\u9fffA-Za-z]{{1,12}}[车房]",
    rf"{_ZH}的?[大小]?(?:{KIN_ZH})(?!们?说|告诉|问|让|叫我|想|要|觉得)[^\uff0c,\u3002]{{0,12}}(?:上班|工作|上学|读书|年级|学校|大学|小学|中学|幼儿园|住在|生日)",
)
_VALUED = any_of(
    rf"{_I}\b.{{0,40}}?(?:[$€£¥]\s?\d|\d[\d,.]{{0,12}}k?\s(?:dollars|euros?|pounds|eur|usd|gbp|chf|francs|yen|yuan|bucks)\b)",
    rf"{_MY} (?!(?:[\w-]+ )?(?:{_OF_PROGRAMS})\b)(?:[\w'-]+ ){{1,6}}?(?:is|are|was|has|have|will be|costs?|[a-z]{{3,}}s)"
    rf"(?: [\w'-]+){{0,3}}? {_VALUE}",
    r"\bour (?:[\w'-]+ ){1,3}(?:budget|limit|income|rent)\b|\b(?:my|our) (?:budget|limit|income|salary|rent|deposit)\b.{0,40}\d",
    r"\bbudget for (?:my|our)\b.{0,40}\d",
    rf"{_I}(?: usually| currently| only)? (?:pay|earn|make|save|spend|owe|weigh|get paid|take home|can (?:only )?(?:spend|"
    rf"afford|pay))\b.{{0,60}}\d",
    rf"{_ZH}[^\uff0c,\u3002]{{0,4}}(?:预算|工资|月薪|年薪|薪水|收入|生活费|零花钱|学费|房租|租金|房贷|车贷|月供|贷款|存款|积蓄|体重|身高)"
    r"[^\u3002]{0,16}(?:[0-9]|[一二三四五六七八九十两百千万]+(?:块|元|万|千|百|美元|欧元))",
    rf"{_ZH}[^\uff0c,\u3002]{{0,8}}(?:花|付|还|赚|挣|存|欠|出)[^\uff0c,\u3002]{{0,6}}(?:[0-9]|[一二三四五六七八九十两百千万]{{2}})",
    rf"{_ZH}的?[^\uff0c,\u3002]{{0,6}}(?:生日|纪念日|签证|护照|驾照|合同|婚礼|手术|预产期)[^\u3002]{{0,10}}[0-9一二三四五六七八九十]+[月号日年]",
    rf"{_ZH}(?![^\u3002]{{0,6}}(?:想|觉得|问|看|发现|试|听说|记|查|可是))[^\uff0c,\u3002]{{0,20}}[0-9一二三四五六七八九十]+[月号日]",
)
_DATED = any_of(
    rf"{_I}(?:'m|'re| am| are)(?! (?:looking|trying|hoping|calling|contacting|asking|wondering|not|sure|talking)\b)|"
    rf"{_I}(?: have(?! been)| fly| leave| return| start| begin| finish| move| turn| get| got married| graduate| retire)\b",
    rf"{_MY} (?!(?:[\w-]+ )?(?:{_OF_PROGRAMS})\b)[\w'-]+",
)

#: A question, a condition, a wish, a story, or somebody else's words.
NOT_SO = any_of(
    r"\A\W{0,3}(?:if|suppose|supposing|imagine|assume|assuming|pretend|what if|say|let's say|let's pretend|hypothetically|"
    r"in case)\b",
    r"\bif i (?:were|was|had|lived|could|owned)\b|\bi wish\b|\bas if\b|\bwould have\b",
    r"\A(?:what|who|whom|where|when|why|how|which|does|did|can|could|should|would|will|is|are|am|was|were|"
    r"do (?!not\b)[a-z]+) .{0,200}\?",
    r"\A(?:what|who|where|why|how|which|can|could|should|does|do|am|is|are) (?:i|you|we|they|he|she|my|the)\b",
    r"\b(?:says?|said|writes?|wrote|sings?|asks?|replies|replied|begins? with|starts? with|called out|tells? (?:him|her|"
    r"them))\s?[:,]?\s?"
    r"(?:[\"\u201c\u2018']|:|the \w+ (?:man|woman|hero)|\Z)|,\s?(?:says?|said|wrote|sings?)\b|\bsays?:",
    r"\A[^:]{0,60}\b(?:he|she|they|someone|somebody|people|user|narrator)\b[^:]{0,40}:|\bnarrator\b",
    r"\b(?:in|of) (?:the|my|a|an|this|our|his|her) (?:story|novel|poem|song|film|movie|play|book|game|scene|dream|sketch|"
    r"example)\b",
    r"我(?:也|还|只|都)?(?:听说|听闻|不?知道)",
    r"\A[^\uff0c,\u3002]{0,8}(?:如果|假如|假设|要是|假使|想象一下|倘若|万一|但愿)|梦见|梦到",
    r"(?:小说|故事|电影|剧本|歌词|诗|作文|梦|游戏|台词)(?:里|中|的)|主人公|主角|他说|她说|你说|有人说|[他她]们说",
    r"(?:什么|怎么办|怎么样|怎样|哪[里儿个些天]?|多少|谁|几[点号岁个天年]|为何|为什么|如何|是不是|能不能|吗|呢|么)"
    r"[\u3002\uff1f?]?\Z",
)
#: What is so for a day is not worth knowing.
PASSING = any_of(
    r"\b(?:today|tonight|right now|at the moment|for now|this (?:morning|afternoon|evening|time|week))[.!]*\Z",
    r"今[天晚早]|此刻|暂时|这[顿次]",
)
#: A text that a user hands over to be worked on; what comes after it is no telling.
HANDED_OVER = any_of(
    r"\b(?:translate|rewrite|rephrase|paraphrase|proofread|correct|summari[sz]e|improve|edit|complete|continue|analy[sz]e|"
    r"classify|"
    r"explain|write|compose|draft|repeat|parse|shorten|polish)\b[^:\n]{0,80}(?::|[\"\u201c])",
    r"(?:翻译|改写|润色|修改|总结|续写|写一|写个|分析|解释|造句|校对|仿写|重复|改得|改一下|改成|把)[^:\uff1a\n]{0,40}[:\uff1a\u201c\"]",
)


def is_of_life(text: str) -> bool:
    """Whether it says what users own, whom they know, what they earn or may spend, or a day of theirs."""
    if _OWNED.search(text) or _VALUED.search(text):
        return True
    return _DATED.search(text) is not None and any(value.kind is FactKind.DATE for value in found_values(text))
