"""What holds for every counter, whatever is behind it."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from contextport.contracts import (
    CountKind,
    ErrorBound,
    Message,
    Thinking,
    TokenCounter,
    ToolCall,
    dump_json,
    from_chat,
    verify,
)

TOOL_CALL = {"id": "c1", "type": "function", "function": {"name": "x", "arguments": "{}"}}


def image_forms(data: str) -> list[dict[str, Any]]:
    url = "data:image/png;base64," + data
    return [
        {"type": "image_url", "image_url": {"url": url}},
        {"type": "input_image", "image_url": url},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}},
    ]


def look_at(image: dict[str, Any]) -> Message:
    return from_chat({"role": "user", "content": [{"type": "text", "text": "look"}, image]})


def test_it_provides_the_port(counter: TokenCounter) -> None:
    verify(counter, TokenCounter)


def test_the_kind_is_exact_only_without_an_error(counter: TokenCounter) -> None:
    assert (counter.kind is CountKind.EXACT) == (counter.bound == ErrorBound(0.0, 0.0))
    assert counter.bound.under >= 0
    assert 0 <= counter.bound.over < 1


def test_only_the_empty_text_is_free(counter: TokenCounter) -> None:
    assert counter.count_text("") == 0
    assert min(counter.count_text(chr(code)) for code in (*range(1, 0x250), 0x4E2D, 0xAC00, 0x1F600)) >= 1


@pytest.mark.parametrize(
    "text",
    [
        "\0",
        "a\0b",
        "\ud800",
        "a\udfffb",
        "\ud83d\ude00",
        "中\udc00",
        "<|endoftext|>",
        "<|im_start|>",
        "\x85\u2028",
        "e\u0301" * 50,
    ],
)
def test_any_text_is_counted(counter: TokenCounter, text: str) -> None:
    assert 1 <= counter.count_text(text) <= 4 * len(text)


@pytest.mark.parametrize("sign", ["a", " ", "=", "中", "\t\u3000"])
def test_megabytes_of_one_sign_are_counted(counter: TokenCounter, sign: str) -> None:
    once = counter.count_text(sign)
    repeats = 1_100_000
    assert repeats // 300 <= counter.count_text(sign * repeats + "x") <= repeats * once + repeats + 1


def test_the_name_of_a_special_token_costs_as_text(counter: TokenCounter) -> None:
    plain = counter.count_message(Message.user("The marker  ends here"))
    special = counter.count_message(Message.user("The marker <|endoftext|> <|endoftext|> ends here"))
    assert 2 <= special - plain <= 40


def test_an_image_costs_the_same_in_any_form_and_at_any_length_of_its_text(counter: TokenCounter) -> None:
    large = [counter.count_message(look_at(form)) for form in image_forms("A" * 400_000)]
    small = [counter.count_message(look_at(form)) for form in image_forms("A" * 4_000)]
    assert len({*large, *small}) == 1
    assert 20 <= large[0] <= 6_000


def test_no_content_costs_the_same_in_any_form(counter: TokenCounter) -> None:
    forms: list[dict[str, Any]] = [{"content": None}, {"content": ""}, {"content": []}, {}]
    counts = {counter.count_message(from_chat({"role": "assistant", "tool_calls": [TOOL_CALL], **form})) for form in forms}
    assert len(counts) == 1
    assert 1 <= counts.pop() <= 50


def test_a_string_costs_what_its_one_text_part_costs(counter: TokenCounter) -> None:
    text = "Which hall is open? 大厅"
    parts = [{"type": "text", "text": text}]
    assert counter.count_message(from_chat({"role": "user", "content": text})) == counter.count_message(
        from_chat({"role": "user", "content": parts})
    )


def test_arguments_of_tool_calls_are_counted(counter: TokenCounter) -> None:
    def saved(text: str) -> int:
        return counter.count_message(
            Message.assistant("", ToolCall(call_id="c", name="save", arguments=dump_json({"text": text})))
        )

    assert saved(" ".join(f"body{n}" for n in range(1, 201))) - saved("x") >= 100
    long = " ".join(f"line {n}" for n in range(60_000))[:400_000]
    assert saved(long) >= 60_000


def test_names_reasoning_and_results_are_counted(counter: TokenCounter) -> None:
    text = "maps are read in the hall"
    size = counter.count_text(text)
    bare = counter.count_message(Message.user("ok"))
    assert counter.count_message(Message.user("ok", name="reader_of_maps")) > bare
    assert counter.count_message(Message.tool("c", text)) >= size
    reasoning = Message(role="assistant", parts=(Thinking(text=text, summary=(text,)),))
    assert counter.count_message(reasoning) >= 2 * size


def test_tool_schemas_are_counted_by_their_text(counter: TokenCounter) -> None:
    def schema(words: int) -> dict[str, Any]:
        described = " ".join(f"word{n}" for n in range(words))
        return {"type": "function", "function": {"name": "f", "description": described, "parameters": {"type": "object"}}}

    assert counter.count_tools([]) == 0
    assert counter.count_tools([schema(1)]) > 0
    assert counter.count_tools([schema(100)]) - counter.count_tools([schema(1)]) >= 99
    assert counter.count_tools([schema(1), schema(1)]) == 2 * counter.count_tools([schema(1)])


def test_a_repeated_text_costs_in_proportion(counter: TokenCounter) -> None:
    for text in ("library ", "图书馆", "a1", "\n\n", "=-"):
        assert counter.count_text(text * 300) <= 300 * counter.count_text(text) + 300


def test_eight_threads_count_what_one_does(counter: TokenCounter) -> None:
    texts = ["short text", "longer text " + " ".join(f"v{n}" for n in range(1, 201)), "图书馆", "", "\ud800 lone", " " * 3_000]
    alone = [counter.count_text(text) for text in texts]

    def count_all(_: int) -> list[list[int]]:
        return [[counter.count_text(text) for text in texts] for _ in range(300)]

    with ThreadPoolExecutor(8) as pool:
        for counts in pool.map(count_all, range(8)):
            assert counts == [alone] * 300


def test_different_counters_have_different_names(counters: dict[str, TokenCounter]) -> None:
    assert len({counter.name for counter in counters.values()}) == len(counters)
