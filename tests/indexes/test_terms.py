"""How text becomes terms, in all scripts and for all that is no text at all."""

from __future__ import annotations

import sys
import unicodedata

import pytest

from contextport.strategies.retrieval.terms import LONGEST_TERM, STOP_WORDS, terms_of


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("", []),
        ("When did Caroline's friend go to the LGBTQ support group?", ["caroline", "friend", "go", "lgbtq", "support", "group"]),
        ("I don't know; they\u2019ll see, won't they", ["know", "see"]),
        ("red red RED", ["red", "red", "red"]),
        ("café CAFÉ cafe\u0301 naïve Ærø Łódź", ["cafe", "cafe", "cafe", "naive", "aero", "lodz"]),
        ("Straße STRASSE", ["strasse", "strasse"]),
        ("\uff21\uff22\uff23 ﬁne ②", ["abc", "fine", "2"]),
        ("soft\u00adware zero\u200bwidth", ["software", "zerowidth"]),
        ("on May 7th", ["may", "7th", "7"]),
    ],
)
def test_words(text: str, terms: list[str]) -> None:
    assert terms_of(text) == terms


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("AB-2024-001", ["ab", "2024", "001", "ab2024001"]),
        ("file_name.py", ["file", "name", "py", "filenamepy"]),
        ("e-mail", ["e", "mail", "email"]),
        ("fileName", ["file", "name", "filename"]),
        ("HTTPServer", ["httpserver"]),
        ("ann.smith@example.org", ["ann", "smith", "example", "org", "annsmithexampleorg"]),
        ("state-of-the-art", ["state", "art", "stateoftheart"]),
        ("GPT4 4GB", ["gpt4", "gpt", "4", "4gb", "4", "gb"]),
        ("a3f9c2d1", ["a3f9c2d1"]),
        ("1,000,000", ["1000000"]),
        ("1,50 and 10,0000", ["1", "50", "10", "0000"]),
        ("$86.50", ["86", "50", "86.50"]),
        ("2024-01-15", ["2024", "01", "15", "2024.01.15"]),
        ("2024/01/15 12:30", ["2024", "01", "15", "2024.01.15", "12", "30", "12.30"]),
        ("192.168.0.1", ["192", "168", "0", "1", "192.168.0.1"]),
        ("src/app.py:12", ["src", "app", "py", "apppy", "12"]),
        ("well...ok -- no-", ["well", "ok"]),
        ("__init__", ["init"]),
    ],
)
def test_identifiers_and_numbers_are_terms_whole_and_in_parts(text: str, terms: list[str]) -> None:
    assert terms_of(text) == terms


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("e-mail", "email"),
        ("AB-2024-001", "ab_2024.001"),
        ("GPT 4", "GPT4"),
        ("7th May", "May 7"),
        ("1,000", "1000"),
        ("file name", "fileName"),
        ("Ёлка", "елка"),
        ("ΣΥΜΦΩΝΊΑ", "συμφωνια"),
        ("ﾀﾞｲﾔ", "ダイヤ"),
        ("東京", "東\u200b京"),
        ("مُحَمَّد", "محمد"),
        ("שָׁלוֹם", "שלום"),
        ("Việt Nam", "viet nam"),
        ("می‌خواهم", "میخواهم"),
        ("한국", unicodedata.normalize("NFD", "한국")),
    ],
)
def test_what_is_written_in_two_ways_has_terms_in_common(one: str, other: str) -> None:
    assert set(terms_of(one)) & set(terms_of(other))
    assert set(terms_of(one)) <= set(terms_of(other)) or set(terms_of(other)) <= set(terms_of(one))


@pytest.mark.parametrize(
    ("one", "other"),
    [("1.5", "15"), ("1.5", "1.50"), ("12:30", "1230"), ("zebra", "zebu"), ("上海", "海上"), ("книга", "книги")],
)
def test_what_differs_has_a_term_of_its_own(one: str, other: str) -> None:
    assert set(terms_of(one)) - set(terms_of(other))


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("上海开会", ["上", "海", "开", "会", "上海", "海开", "开会"]),
        ("我的狗", ["狗", "我的", "的狗"]),
        ("東京タワー", ["東", "京", "タ", "ワ", "東京", "京タ", "タワ", "ワー"]),
        ("서울에서 만나요", ["서", "울", "서", "서울", "울에", "에서", "만", "나", "요", "만나", "나요"]),
        ("第3章", ["第", "3", "章"]),
        ("iPhone手机", ["phone", "iphone", "手", "机", "手机"]),
        ("豆豆\uff0c今年。", ["豆", "豆", "豆豆", "今", "年", "今年"]),
        ("𠮷野\U00030000\U0003fffd", ["𠮷", "野", "\U00030000", "\U0003fffd", "𠮷野", "野\U00030000", "\U00030000\U0003fffd"]),
        ("\uf900", ["\u8c48"]),
        ("ㄅㄆ", ["ㄅ", "ㄆ", "ㄅㄆ"]),
        ("ภาษา", ["ภา", "าษ", "ษา"]),
        ("ກ", ["ກ"]),
        ("हिन्दी में किताब", ["हिन्दी", "में", "किताब"]),
        ("தமிழ் மொழி", ["தமிழ்", "மொழி"]),
        ("Новый договор", ["новыи", "договор"]),
        ("Հայաստան", ["հայաստան"]),
        ("ሰላም ዓለም", ["ሰላም", "ዓለም"]),
        ("བོད་ཡིག", ["བོད", "ཡིག"]),
    ],
)
def test_scripts(text: str, terms: list[str]) -> None:
    assert terms_of(text) == terms


#: A character of each block of Chinese, Japanese and Korean writing, some of them beyond the first 65,536.
_BLOCKS = "々〇ㇰ㆐㆑⺀⼀㐀一龿豈𠀀𪜀𫝀𫠠𬺰𰀀𱍐ぁァ𛀀𛄀ㄅㆠᄀᇿꥠ각힣ힰ"


@pytest.mark.parametrize("sign", [sign for sign in _BLOCKS if unicodedata.category(sign).startswith("L")])
def test_every_block_is_taken_by_characters_and_pairs(sign: str) -> None:
    [alone] = terms_of(sign)
    assert terms_of(f"字{sign}字") == ["字", alone, "字", f"字{alone}", f"{alone}字"]


def test_every_character_of_unicode_is_taken_and_gives_terms_of_letters_and_digits() -> None:
    whole = "".join(map(chr, range(sys.maxunicode + 1)))
    for text in (whole, " ".join(whole)):
        for term in set(terms_of(text)):
            assert 0 < len(term) <= LONGEST_TERM
            assert not any(sign.isspace() or 0xD800 <= ord(sign) < 0xE000 for sign in term)
            assert all(sign.isalnum() or sign == "." or not sign.isascii() for sign in term)


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("\u0000", []),
        ("a\u0000zebra\u0000", ["zebra"]),
        ("\ud800", []),
        ("ze\ud83dbra \udc00", ["ze", "bra"]),
        ("\ud83d\ude00", []),
        ("👩\u200d👩\u200d👧 🇩🇪", []),
        ("\u0301\u0301", []),
        ("' OR 1=1; -- \" NEAR( * ^ : {}", ["1", "1", "near"]),
        ("\ufdfa", ["صلى", "الله", "عليه", "وسلم"]),
    ],
)
def test_what_is_no_text(text: str, terms: list[str]) -> None:
    assert terms_of(text) == terms


@pytest.mark.parametrize(
    "piece",
    [
        "x",
        "a-",
        "1,",
        "aB",
        "/1",
        "._",
        "中",
        "ก",
        "क्",
        "\u0301\u0334",
        "a\u0301\u0334",
        "\uff9e\u0334",
        "\u05b4\u0651",
        "\ud800",
        "🎉",
        "\ufdfa",
        "가",
        "word ",
        "AB-2024-001 ",
    ],
)
def test_long_and_hostile_texts_come_to_an_end(piece: str) -> None:
    """Many pieces: what grows with the square of the length would take hours."""
    times = 200_000
    terms = terms_of(piece * times)
    assert len(terms) <= 4 * times
    assert all(len(term) <= LONGEST_TERM for term in set(terms))
    assert terms_of(piece * times + " zebra")[-1] == "zebra"


def test_stop_words_are_in_small_letters_and_short_ones_that_mean_something_are_none() -> None:
    assert all(word == word.lower() and word.isalpha() for word in STOP_WORDS)
    assert not STOP_WORDS & {"may", "go", "say", "first", "last", "one", "new", "day", "like", "b", "c", "x"}
    assert terms_of(" ".join(STOP_WORDS)) == []
