"""What belongs to a number as it is written: its currency, its scale and its unit, in English and Chinese."""

from __future__ import annotations

import re

__all__ = ["with_unit"]

_BEFORE = re.compile(
    r"(?:(?<![A-Za-z])(?:US|HK|NZ|CA|AU|[ACRS]))?[$€£¥₹₽₩\uffe5]\s?\Z"
    r"|(?<![A-Za-z])(?:USD|EUR|GBP|CNY|RMB|JPY|CHF|HKD|CAD|AUD|INR)\s?\Z"
)
_REACH = 6  # characters of a currency before the number
_SCALE = r"[ -]?(?:hundred|thousand|million|billion|trillion|dozen)"
_WORDS = (
    r"(?:(?:sq|cu|square|cubic|nautical|metric|fluid|fl|US|light)\.? )?"
    r"(?:percent|per cent|percentage points?|pct|dollars?|bucks?|cents?|euros?|pounds?|quid|yuan|yen|rupees?|francs?|pesos?|"
    r"USD|EUR|GBP|RMB|CNY|JPY|CHF|HKD|CAD|AUD|INR|people|persons?|guests?|"
    r"seconds?|secs?|minutes?|mins?|hours?|hrs?|days?|weeks?|fortnights?|months?|years?|yrs?|nights?|times|"
    r"inch|inches|foot|feet|yards?|yds?|miles?|(?:kilo|centi|milli|micro|nano)?(?:met(?:er|re)s?|lit(?:er|re)s?|grams?|watts?|volts?|"
    r"hertz|joules?|bytes?|bits?|bars?|seconds?|amps?)|(?:mega|giga|tera|peta)(?:bytes?|bits?|watts?|hertz|pixels?)|"
    r"acres?|hectares?|ounces?|stone|tons?|tonnes?|gallons?|pints?|quarts?|cups?|tablespoons?|tbsps?|teaspoons?|tsps?|calories|kcal|"
    r"degrees?(?: (?:Celsius|Fahrenheit|C|F))?|celsius|fahrenheit|kelvin|"
    r"k?Hz|[MG]Hz|[kMGTP]?i?B|[kMGT]?bps|[kMGT]?bit|[kcmµun]?m[²³23]?|[kmµ]?g|mcg|lbs?|oz|[mcd]?[lL]|ha|[mµun]?s|h|d|w|[kMG]?W(?:h|p)?|"
    r"m?Ah?|[km]?V|mi|ft|px|pt|em|rem|mph|kmh|km/h|m/s|fps|rpm|dpi|ppm|dB|bar|psi|[kM]?Pa|IU|mmHg|kJ|k?cal|K|M|k|mn|bn|x|"
    r"(?!(?:was|is|has|does|this|thus|plus|minus|its|his|hers|ours|yours|theirs|always|across|perhaps|unless|besides|towards|"
    r"afterwards|yes)\b)[a-z]{3,24}(?<![sui])s)"
)
_WIDE_WORDS = (
    "平方(?:公里|千米|厘米|毫米|英尺|英里|米)|立方(?:厘米|毫米|米)|平米|公顷|亩|(?:毫|厘|分|千)米|公里|英里|英寸|英尺|海里|纳米|微米|"
    "毫升|公升|升|加仑|毫克|微克|千克|公斤|公吨|克|斤|两|吨|磅|盎司|摄氏度|华氏度|千瓦时|千瓦|兆瓦|瓦|伏特|伏|毫安时|毫安|安|赫兹|千卡|大卡|卡|"
    "美元|美金|欧元|日元|英镑|港币|港元|韩元|卢比|人民币|块钱|块|元|圆|角|毛|个(?:小时|半?月|星期|工作日|点|百分点|人|字)|小时|分钟|刻钟|秒钟|毫秒|"
    "秒|星期|礼拜|季度|周岁|周|天|日|月|年|岁|晚|夜|度|个|人次|人|名|位|次|回|趟|遍|件|张|份|页|行|号|楼|层|台|套|本|辆|箱|盒|瓶|袋|包|只|条|"
    "棵|间|户|家|门|节|场|期|批|组|对|双|杯|碗|卷|支|把|片|颗|粒|座|栋|桌|席|票|轮|级|倍|成|折|分|题|字|章|集|篇|站|头|匹|艘|架|部|幅|封|米|里"
)
_RATE = r"(?:\s?/\s?(?:[A-Za-z]{1,10}(?![A-Za-z0-9_/])|[\u4e00-\u9fff])| (?:per|each) [a-z]{1,16}\b|每[\u4e00-\u9fff]{1,2})?"
_AFTER = re.compile(
    rf"(?:[十百千万亿萬億]{{1,4}})?[多余]?(?:{_SCALE}(?![A-Za-z0-9_]))?"
    rf"(?:\s?[%\uff05‰]|\s?(?:°\s?[CFK]?(?![A-Za-z])|[℃℉\u2032\u2033$€£¥₽₩円])"
    rf"|[ -]?(?:{_WORDS})(?![A-Za-z0-9_'\u2019])|\s?(?:{_WIDE_WORDS}))?{_RATE}"
)


def with_unit(text: str, start: int, end: int) -> tuple[int, int]:
    """Where a number that stands at `start` to `end` begins and ends with its currency, scale and unit."""
    before = _BEFORE.search(text[max(0, start - _REACH) : start])
    after = _AFTER.match(text, end)
    return start - len(before[0]) if before else start, after.end() if after else end
