"""What a vocabulary knows: an English one, a multilingual one, and one of bytes."""
# ruff: noqa: RUF001 - texts in many scripts have letters that look like others

from __future__ import annotations

from collections.abc import Mapping

import pytest
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers

from contextport.adapters.embedders.tokenizer_coverage import TokenizerCoverage
from tests.embedders.small_model import MODEL_FOLDER

ENGLISH = (
    "I moved to Denver last spring because my sister lives there.",
    "Could you check why the deployment failed after the second migration?",
    "The recipe needs two onions, some garlic and a spoon of butter.",
)
#: Scripts that an English vocabulary only spells.
OTHER_SCRIPTS: Mapping[str, str] = {
    "Chinese": "去年春天我搬到了成都，因为我姐姐住在那里。",
    "Japanese": "姉が住んでいるので、去年の春に大阪へ引っ越しました。",
    "kana": "きのうのデプロイがどうしてだめだったのか、みてくれますか。",
    "Korean": "지난봄에 언니가 살고 있어서 부산으로 이사했어요.",
    "Russian": "Прошлой весной я переехал в Казань, потому что там живёт моя сестра.",
    "Greek": "Την περασμένη άνοιξη μετακόμισα στην Πάτρα επειδή εκεί μένει η αδελφή μου.",
    "Arabic": "انتقلت إلى الإسكندرية في الربيع الماضي لأن أختي تعيش هناك.",
    "Hebrew": "עברתי לחיפה באביב שעבר כי אחותי גרה שם.",
    "Hindi": "मैं पिछले वसंत में पुणे आ गया क्योंकि मेरी बहन वहाँ रहती है।",
    "Thai": "ฉันย้ายไปเชียงใหม่เมื่อฤดูใบไม้ผลิที่แล้วเพราะพี่สาวอยู่ที่นั่น",
}


@pytest.fixture(scope="module")
def english() -> TokenizerCoverage:
    """The vocabulary of all-MiniLM-L6-v2: word pieces."""
    tokenizer = Tokenizer.from_file(str(MODEL_FOLDER / "tokenizer.json"))
    return TokenizerCoverage(tokenizer, tokenizer.token_to_id("[UNK]"))


def pieces(texts: Mapping[str, str]) -> TokenizerCoverage:
    """A vocabulary with the words of these texts, as SentencePiece writes them."""
    ideographs = [chr(number) for number in range(0x4E00, 0xA000)]
    words = [f"▁{word}" for text in texts.values() for word in text.split()]
    vocabulary = [("<unk>", 0.0), ("▁", -5.0), *((piece, -6.0) for piece in dict.fromkeys([*words, *ideographs, "，", "。"]))]
    tokenizer = Tokenizer(models.Unigram(vocabulary, unk_id=0))
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    return TokenizerCoverage(tokenizer, 0)


@pytest.mark.parametrize("text", ENGLISH)
def test_english_is_known_to_an_english_vocabulary(english: TokenizerCoverage, text: str) -> None:
    assert english.of(text) > 0.95


@pytest.mark.parametrize("language", OTHER_SCRIPTS)
def test_other_scripts_are_not(english: TokenizerCoverage, language: str) -> None:
    assert english.of(OTHER_SCRIPTS[language]) < 0.25


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [
        ("Ich bin letztes Frühjahr nach Hamburg gezogen, weil meine Schwester dort wohnt.", 0.6, 0.8),
        ("Geçen bahar İzmir'e taşındım çünkü kız kardeşim orada yaşıyor.", 0.4, 0.65),
        ("def parse_config(path): return json.load(open(path))", 0.8, 1.0),
        ("My sister lives in 成都 since 2019.", 0.8, 0.95),
    ],
)
def test_what_is_half_known_is_between(english: TokenizerCoverage, text: str, least: float, most: float) -> None:
    assert least < english.of(text) < most


@pytest.mark.parametrize("language", OTHER_SCRIPTS)
def test_each_script_is_known_where_its_words_are(language: str) -> None:
    known = pieces(OTHER_SCRIPTS)
    assert known.of(OTHER_SCRIPTS[language]) > 0.95
    others = pieces({name: text for name, text in OTHER_SCRIPTS.items() if name != language})
    if language not in ("Chinese", "Japanese"):  # their ideographs are in both
        assert others.of(OTHER_SCRIPTS[language]) < 0.2


def test_what_is_spelt_in_bytes_is_unknown() -> None:
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE(vocab={sign: place for place, sign in enumerate(alphabet)}, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    coverage = TokenizerCoverage(tokenizer, None)
    for text in (*OTHER_SCRIPTS.values(), *ENGLISH):
        assert coverage.of(text) < 0.1


@pytest.mark.parametrize("text", ["", " \n", "12 345.67", "?!", "👩‍👩‍👧‍👦", "\u0000"])
def test_a_text_without_letters_has_nothing_unknown(english: TokenizerCoverage, text: str) -> None:
    assert english.of(text) == 1.0


def test_the_beginning_of_a_long_text_speaks_for_it(english: TokenizerCoverage) -> None:
    assert english.of("there is more " * 1_000 + OTHER_SCRIPTS["Russian"] * 1_000) == 1.0


def test_the_tokenizer_of_the_model_is_left_alone() -> None:
    tokenizer = Tokenizer.from_file(str(MODEL_FOLDER / "tokenizer.json"))
    tokenizer.enable_truncation(max_length=4)
    tokenizer.enable_padding(length=4)
    coverage = TokenizerCoverage(tokenizer, tokenizer.token_to_id("[UNK]"))
    assert coverage.of(ENGLISH[0] + OTHER_SCRIPTS["Russian"]) < 0.6  # it reads on after the fourth token
    assert (tokenizer.truncation or {}).get("max_length") == 4
    assert (tokenizer.padding or {}).get("length") == 4
