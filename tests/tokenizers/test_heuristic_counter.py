"""The default counter: its names, its bound, and text of several scripts against real tokenizers."""

import pytest

from contextport.adapters.tokenizers.heuristic_counter import HeuristicTokenCounter
from contextport.adapters.tokenizers.script_weights import WEIGHTS_VERSION
from contextport.adapters.tokenizers.text_estimator import FAMILIES, Profile
from contextport.contracts import AnthropicImages, CountKind, FixedImages, InvalidArgument, Media, Message, TokenCounter

TEXTS = {
    "english": "The library opens at nine. Returned books are sorted at the desk before they go back to their shelves. " * 3,
    "chinese": "图书馆早上九点开门、归还的书先在服务台整理、然后放回书架。读者可以在大厅查看地图和报纸。" * 3,
    "japanese": "図書館は朝九時に開きます。返却された本は受付で整理してから、書棚に戻します。" * 3,
    "korean": "도서관은 아침 아홉 시에 문을 엽니다. 반납된 책은 안내대에서 정리한 뒤 서가에 다시 꽂습니다. " * 3,
    "russian": "Библиотека открывается в девять часов. Возвращённые книги сортируют на стойке и ставят на полки. " * 3,
    "code": "def shelve(books: list[Book]) -> None:\n    for book in sorted(books, key=lambda b: b.title):\n        put(book)\n"
    * 3,
    "json": '{"id": "b-4711", "title": "Atlas", "seats": 120, "loans": [{"day": "2024-03-01", "late": false}]}\n' * 3,
}


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("profile", ["mean", "upper"])
@pytest.mark.parametrize(("family", "true"), [("o200k", "o200k"), ("cl100k", "cl100k"), ("qwen3", "qwen"), ("default", "o200k")])
def test_ordinary_text_is_within_the_stated_bound(
    counters: dict[str, TokenCounter], name: str, profile: Profile, family: str, true: str
) -> None:
    counter = HeuristicTokenCounter(family, profile)
    count, tokens = counter.count_text(TEXTS[name]), counters[true].count_text(TEXTS[name])
    assert count * (1 - counter.bound.over) <= tokens <= count * (1 + counter.bound.under)


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [("图书馆今天开门" * 25, 105, 460), ("도서관" * 40, 72, 320), ("としょかん" * 20, 60, 260), ("library " * 50, 45, 220)],
)
def test_east_asian_text_is_not_counted_like_latin(text: str, least: int, most: int) -> None:
    assert least <= HeuristicTokenCounter().count_text(text) <= most


def test_mixed_text_is_about_the_sum_of_its_parts() -> None:
    counter = HeuristicTokenCounter()
    parts = ("图书馆今天开门" * 25, "library " * 50)
    assert counter.count_text("".join(parts)) == pytest.approx(sum(map(counter.count_text, parts)), rel=0.1)


def test_the_name_says_family_profile_weights_and_pricing() -> None:
    assert HeuristicTokenCounter().name == f"estimate:o200k:mean:{WEIGHTS_VERSION}"
    assert HeuristicTokenCounter("qwen3", "upper").name == f"estimate:qwen3:upper:{WEIGHTS_VERSION}"
    priced = [HeuristicTokenCounter(images=images).name for images in (FixedImages(765), FixedImages(1120), AnthropicImages())]
    assert len({*priced, HeuristicTokenCounter().name}) == 4


def test_images_are_priced_as_asked() -> None:
    image = Message(role="user", parts=(Media(media="image", url="https://images.example/1.png"),))
    assert HeuristicTokenCounter(images=FixedImages(1120)).count_message(image) == 1124


@pytest.mark.parametrize("family", FAMILIES)
def test_upper_is_never_below_mean(family: str) -> None:
    upper, mean = HeuristicTokenCounter(family, "upper"), HeuristicTokenCounter(family)
    assert all(upper.count_text(text) >= mean.count_text(text) for text in TEXTS.values())
    assert upper.kind is CountKind.ESTIMATE
    assert upper.bound.under < mean.bound.under


def test_a_family_that_is_not_known_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="o200k") as raised:
        HeuristicTokenCounter("p50k")
    assert raised.value.family == "p50k"
