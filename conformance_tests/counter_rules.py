"""The rules of `TokenCounter` and `LearnsFromUsage`."""

from __future__ import annotations

import base64
import copy
import random
import struct
import threading
from typing import TYPE_CHECKING, Any, Literal

from contextport.contracts import (
    CountKind,
    InvalidArgument,
    JsonPart,
    LearnsFromUsage,
    Media,
    Message,
    Refusal,
    Text,
    Thinking,
    TokenCounter,
    ToolCall,
    ToolResult,
    dump_message,
    from_chat,
)

from .rules import rule

if TYPE_CHECKING:
    from .suites import TokenCounterConformance as Suite

__all__: list[str] = []

_WORDS = "the quick brown fox jumps over the lazy dog while nine other animals look on and wonder"
_TEXTS = (
    "a",
    " ",
    "\n",
    "\t\t",
    "hello world",
    _WORDS,
    "Привет, мир. Как дела?",
    "天地玄黄宇宙洪荒",
    "こんにちは世界",
    "안녕하세요 세계",
    "नमस्ते दुनिया",
    "مرحبا بالعالم",
    "👩‍👩‍👧‍👦🇩🇪",
    "e\u0301\u0301\u0301",
    "\u200b",
    '{"a": [1, 2.5e10, null], "b": "c"}',
    "def f(x):\n    return x ** 2  # square\n",
    "0123456789" * 20,
    "=" * 80,
)
_HARD_TEXTS = (
    "\u0000",
    "\ud83d",
    "x\udc00y",
    "\ufffd\ufeff\u2028\U0010ffff",
    "<|endoftext|>",
    "<|im_start|>system<|im_end|>",
    "<s>[INST] </s> <bos> <eos> <pad> <unk> [CLS] [SEP]",
)
_LONG_RUNS = {
    "a": 2_000_000,
    " ": 1_000_000,
    "=": 300_000,
    "0": 300_000,
    "好": 300_000,
    "\n": 300_000,
    "\u0301": 100_000,
    "ab ": 30_000,
}


def _tools() -> list[Any]:
    return [
        {"type": "function", "function": {"name": "find", "description": "Finds a thing.", "parameters": {"type": "object"}}},
        {"type": "function", "function": {"name": "open", "description": _WORDS, "parameters": {"type": "object"}}},
    ]


def _messages() -> list[Message]:
    call = ToolCall(call_id="c", name="find", arguments='{"what": "all"}')
    return [
        *(Message.user(text) for text in _TEXTS),
        Message.assistant("I look", call),
        Message.tool("c", _WORDS),
        Message(role="assistant", parts=(Thinking(text=_WORDS, signature="c2ln"), Text("done"))),
        from_chat({"role": "user", "content": [{"type": "text", "text": "see"}, _image_part(_png(64, 64, 100))]}),
    ]


@rule("COUNTER-1", TokenCounter, cause="integer division, or white space that is stripped before counting.")
async def every_text_counts_at_least_one(suite: Suite) -> None:
    counter = await suite.make()
    assert counter.count_text("") == 0, f"the empty text counts {counter.count_text('')}"
    for text in _TEXTS:
        count = counter.count_text(text)
        assert type(count) is int, f"count_text({text!r}) is a {type(count).__name__}"
        assert count >= 1, f"count_text({text!r}) is {count}"


@rule("COUNTER-2", TokenCounter, cause="a cache keyed by too little, or state that a call leaves behind or threads share.")
async def same_input_same_count(suite: Suite) -> None:
    counter = await suite.make()
    messages = _messages()

    def all_counts(order: list[int], counter: TokenCounter = counter) -> dict[int, tuple[int, int]]:
        return {n: (counter.count_message(messages[n]), counter.count_text(messages[n].text)) for n in order}

    first = all_counts(list(range(len(messages))))
    for who, one in (("the counter", counter), ("a new counter", await suite.make())):
        again = all_counts(list(reversed(range(len(messages)))), one)
        assert again == first, f"{who} that was asked in reverse order gave other counts"
    barrier = threading.Barrier(4)
    found: list[Any] = [None] * 4

    def work(n: int) -> None:
        order = list(range(len(messages)))
        random.Random(n).shuffle(order)
        barrier.wait()
        try:
            found[n] = all_counts(order * 3)
        except BaseException as error:
            found[n] = error

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for counts in found:
        assert counts == first, "threads that counted at once got other counts, or an error"
    assert counter.count_tools(_tools()) == counter.count_tools(_tools()), "the same tools count differently the second time"


@rule("COUNTER-3", TokenCounter, cause="the text is encoded strictly, special tokens are refused, or time grows with the square.")
async def any_text_is_counted(suite: Suite) -> None:
    counter = await suite.make()
    for text in (*_TEXTS, *_HARD_TEXTS):
        alone, sent = counter.count_text(text), counter.count_message(Message.user(text))
        assert sent >= alone >= 0, f"{text!r} counts {alone}, and {sent} as a message"
    for sign, length in _LONG_RUNS.items():
        text = sign * length
        assert counter.count_text(text) >= 1, f"{len(text)} times {sign!r} count nothing"


@rule("COUNTER-4", TokenCounter, cause="the counter looks at content alone, or measures arguments by their number.")
async def all_that_is_read_is_counted(suite: Suite) -> None:
    counter = await suite.make()

    def call(name: str = "f", arguments: str = "{}") -> Message:
        return Message.assistant("", ToolCall(call_id="c", name=name, arguments=arguments))

    def result(*parts: Any) -> Message:
        return Message(role="tool", parts=(ToolResult(call_id="c", parts=parts),))

    long, base = _WORDS, Message.user("hello")
    long_arguments = '{"text": "' + long + '"}'
    summarised = Message(role="assistant", parts=(Thinking(summary=("short", long)), Text("a")))
    pairs = {
        "text": (base, Message.user("hello " + long)),
        "a second text part": (base, Message(role="user", parts=(Text("hello"), Text(long)))),
        "the name of the speaker": (base, Message.user("hello", name=long)),
        "the name of a tool call": (call(), call(name="find_the_animal_that_jumps_over_the_lazy_dog and wonders")),
        "the arguments of a tool call": (call(), call(arguments=long_arguments)),
        "more arguments of a tool call": (call(arguments=long_arguments), call(arguments=long_arguments + long_arguments)),
        "a second tool call": (call(), Message.assistant("", *call().tool_calls, ToolCall(call_id="d", name=long, arguments=""))),
        "the text of a tool result": (result(Text("ok")), result(Text("ok " + long))),
        "the JSON of a tool result": (result(JsonPart({})), result(JsonPart({"words": long.split()}))),
        "reasoning": (Message.assistant("a"), Message(role="assistant", parts=(Thinking(text=long), Text("a")))),
        "a summary of reasoning": (Message.assistant("a"), summarised),
        "a refusal": (Message.assistant("a"), Message(role="assistant", parts=(Text("a"), Refusal(long)))),
    }
    for what, (small, large) in pairs.items():
        less, more = counter.count_message(small), counter.count_message(large)
        assert more > less, f"{what} is not counted: {less} tokens without, {more} with"


def _png(width: int, height: int, kilobytes: int) -> str:
    """Base64 of an image file with that header and that much random data after it."""
    header = b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII5s", 13, b"IHDR", width, height, b"\x08\x02\0\0\0")
    return base64.b64encode(header + random.Random(0).randbytes(kilobytes * 1024)).decode()


def _image_part(data: str) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": "data:image/png;base64," + data}}


@rule("COUNTER-5", TokenCounter, cause="the message is dumped to JSON and the dump is counted, or unknown content forms are.")
async def media_are_not_counted_as_text(suite: Suite) -> None:
    counter = await suite.make()
    small, large = _png(512, 512, 1), _png(512, 512, 500)

    def price(part: dict[str, Any]) -> int:
        return counter.count_message(from_chat({"role": "user", "content": [part]}))

    anthropic = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": large}}
    responses = {"type": "input_image", "image_url": "data:image/png;base64," + large}
    prices = {
        "1 KB as image_url": price(_image_part(small)),
        "500 KB as image_url": price(_image_part(large)),
        "500 KB as image": price(anthropic),
        "500 KB as input_image": price(responses),
    }
    assert len(set(prices.values())) == 1, f"the same 512 x 512 image has several prices: {prices}"
    decoded = Message.user("")
    inside = Message(role="tool", parts=(ToolResult(call_id="c", parts=(Media(media="image", data=large, size_px=(512, 512)),)),))
    extra = counter.count_message(inside) - counter.count_message(decoded)
    assert extra < len(large) / 50, f"an image of {len(large)} base64 characters in a tool result costs {extra} tokens"
    kinds: tuple[Literal["audio", "document", "video"], ...] = ("audio", "document", "video")
    for kind in kinds:
        media = Message(role="user", parts=(Media(media=kind, data=large),))
        assert counter.count_message(media) < len(large) / 50, (
            f"{kind} of {len(large)} base64 characters costs {counter.count_message(media)} tokens"
        )


@rule("COUNTER-6", TokenCounter, cause="the wire dict is counted instead of the parts.")
async def wire_form_does_not_matter(suite: Suite) -> None:
    counter = await suite.make()
    for text in ("hello", _WORDS, "你好"):
        forms = {
            "a string": from_chat({"role": "user", "content": text}),
            "a text part": from_chat({"role": "user", "content": [{"type": "text", "text": text}]}),
            "an input_text part": from_chat({"role": "user", "content": [{"type": "input_text", "text": text}]}),
            "built by hand": Message.user(text),
        }
        counts = {form: counter.count_message(message) for form, message in forms.items()}
        assert len(set(counts.values())) == 1, f"content {text!r} costs {counts}"
    empty: dict[str, dict[str, Any]] = {
        "null": {"content": None},
        "the empty string": {"content": ""},
        "no content": {},
        "no parts": {"content": []},
    }
    counts = {form: counter.count_message(from_chat({"role": "assistant", **value})) for form, value in empty.items()}
    assert len(set(counts.values())) == 1, f"empty content costs {counts}"


@rule("COUNTER-7", TokenCounter, cause="only names are counted, or a fixed price is taken per tool.")
async def tools_are_counted_by_their_text(suite: Suite) -> None:
    counter = await suite.make()
    assert counter.count_tools([]) == 0, f"no tools cost {counter.count_tools([])}"
    small = _tools()[0]
    described, typed = copy.deepcopy(small), copy.deepcopy(small)
    described["function"]["description"] = _WORDS
    typed["function"]["parameters"]["properties"] = {word: {"type": "string", "description": word} for word in _WORDS.split()}
    base = counter.count_tools([small])
    assert base >= 1, f"a tool costs {base}"
    for what, tool in (("a longer description", described), ("more parameters", typed)):
        assert counter.count_tools([tool]) > base, f"{what} does not raise the cost of a tool above {base}"
    assert counter.count_tools([small, described]) > counter.count_tools([described]), "a second tool costs nothing"


@rule("COUNTER-8", TokenCounter, cause="the kind is claimed without a look at the bound.")
async def kind_and_bound_agree(suite: Suite) -> None:
    counter = await suite.make()
    kind, bound = counter.kind, counter.bound
    assert isinstance(kind, CountKind), f"kind is {kind!r}"
    assert bound.under >= 0, f"the bound has a negative share: {bound}"
    assert bound.over >= 0, f"the bound has a negative share: {bound}"
    assert kind is not CountKind.EXACT or (bound.under, bound.over) == (0, 0), f"an exact counter states the error {bound}"


@rule("COUNTER-9", TokenCounter, cause="the name leaves out a setting that changes counts.")
async def name_identifies_the_counts(suite: Suite) -> None:
    counter = await suite.make()
    assert isinstance(counter.name, str), f"the name is {counter.name!r}"
    assert counter.name, "the name is empty"
    messages = _messages()
    everyone = [counter, await suite.make(), await suite.make(), *suite.other_counters()]
    seen: dict[str, Any] = {}
    for one in everyone:
        counts = ([one.count_message(message) for message in messages], one.count_tools(_tools()))
        assert seen.setdefault(one.name, counts) == counts, f"two counters are named {one.name!r} and count differently"
    assert counter.name == everyone[0].name, "the name changed after counting"


@rule("COUNTER-10", TokenCounter, cause="content is normalised in place, or default keys are added to the tools.")
async def counting_changes_nothing(suite: Suite) -> None:
    counter = await suite.make()
    messages, tools = _messages(), _tools()
    before = [dump_message(message) for message in messages]
    for message in messages:
        counter.count_message(message)
    counter.count_tools(tools)
    assert [dump_message(message) for message in messages] == before, "counting changed a message"
    assert tools == _tools(), "counting changed the tools"


@rule("COUNTER-11", TokenCounter, cause="the error of a short text grows faster than the text.")
async def repeats_cost_in_proportion(suite: Suite) -> None:
    counter = await suite.make()
    for text in _TEXTS:
        once = counter.count_text(text)
        for n in (2, 3, 10, 100):
            count = counter.count_text(text * n)
            assert count <= n * once + n, f"{text!r} counts {once}, {n} times it counts {count}"


@rule("COUNTER-12", LearnsFromUsage, cause="the ratio is not learnt, is turned round, is unbounded, or is put into the counts.")
async def ratio_is_learnt(suite: Suite) -> None:
    counter: Any = await suite.make()
    messages = _messages()
    before = [counter.count_message(message) for message in messages]
    start = counter.token_ratio("m")
    goal = start * 1.2
    for _ in range(300):
        counter.record_usage(counted=10_000, reported=round(10_000 * goal), model="m")
    learnt = counter.token_ratio("m")
    assert abs(learnt - goal) < abs(start - goal) / 2, f"from {start}, after 300 reports of ratio {goal:.3f}, it is {learnt}"
    assert [counter.count_message(message) for message in messages] == before, "what was learnt changed counts"
    for reported, word in ((10_000_000, "above"), (1, "below")):
        for _ in range(300):
            counter.record_usage(counted=10_000, reported=reported, model="m")
        ratio = counter.token_ratio("m")
        assert 0.01 < ratio < 100, f"reports of ratio {reported / 10_000} took token_ratio to {ratio}: it is not clamped {word}"


@rule("COUNTER-13", LearnsFromUsage, cause="the report is taken before it is checked.")
async def senseless_report_is_refused(suite: Suite) -> None:
    counter: Any = await suite.make()
    counter.record_usage(counted=10_000, reported=11_000, model="m")
    before = counter.token_ratio("m")
    for reported in (0, -1, -10_000):
        try:
            counter.record_usage(counted=10_000, reported=reported, model="m")
        except InvalidArgument:
            assert counter.token_ratio("m") == before, f"a refused report of {reported} changed the ratio"
        else:
            raise AssertionError(f"a report of {reported} tokens was accepted")


@rule("COUNTER-14", LearnsFromUsage, cause="one ratio is kept for all models.")
async def models_are_learnt_apart(suite: Suite) -> None:
    counter: Any = await suite.make()
    before = {model: counter.token_ratio(model) for model in ("other", "", "M")}
    for _ in range(100):
        counter.record_usage(counted=10_000, reported=13_000, model="m")
    after = {model: counter.token_ratio(model) for model in before}
    assert after == before, f"what was learnt of model 'm' changed the ratios of others from {before} to {after}"
