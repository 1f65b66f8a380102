"""One long conversation, the same on every run: what a multilingual coding assistant and its users might say.

45 % of the messages are English, 35 % Chinese, 20 % code, and 16 % of all are tool results (of any of the three). A message
holds 57 tokens of o200k_base on average. Run this file to recount both.
"""

# ruff: noqa: RUF001 - Chinese punctuation is the point

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import Any

__all__ = ["Chat", "chats"]

Chat = dict[str, Any]
"""A message in OpenAI chat form."""

_SEED = 20
_TOOL_ROUND = 0.47  # chance that an answer begins with a tool call: it makes every sixth message a tool result
_KINDS, _SHARES = ("english", "chinese", "code"), (0.45, 0.35, 0.20)

_ENGLISH = (
    "The {thing} in {place} fails about {n} times a day, and nobody has looked at it since the {event}.",
    "Could you check whether the {thing} still depends on {place}, and tell me what breaks if we drop it?",
    "I moved the {thing} behind a flag; the old path stays until {event}.",
    "We measured {n} ms before the change and {m} ms after it, on the same {thing}.",
    "Please keep the {thing} as it is, it is used by {place} and by two customers.",
    "That makes sense, but the {event} is on day {n}, so the {thing} has to be ready by then.",
    "There are {n} open questions about {place}; the most urgent one is who owns the {thing}.",
    "Nothing in {place} explains this, so I would start by logging every {thing} for a week.",
)
_CHINESE = (
    "{place}里的{thing}每天大约出错{n}次，自从{event}以后就没有人看过。",
    "请帮我确认一下{thing}是不是还依赖{place}，如果去掉会影响什么？",
    "我已经把{thing}放到开关后面了，旧的流程会保留到{event}。",
    "改动之前是{n}毫秒，改动之后是{m}毫秒，测试的是同一个{thing}。",
    "{thing}先不要动，{place}和两位客户都在用它。",
    "这样说得通，不过{event}在第{n}天，所以{thing}必须在那之前准备好。",
    "关于{place}还有{n}个没有解决的问题，最着急的是谁来负责{thing}。",
    "{place}的资料解释不了这个现象，我建议先把每个{thing}记录一周。",
)
_CODE = (
    "def {name}_{noun}(items, limit={n}):\n    seen = set()\n    for item in items:\n        if item.key not in seen:\n"
    "            seen.add(item.key)\n            yield item\n",
    "SELECT {noun}_id, count(*) FROM {noun}s WHERE created_at > '2024-{m:02}-01' GROUP BY {noun}_id LIMIT {n};\n",
    "if (response.status === {n}) {{\n  retry.{name}({{ attempts: {m} }});\n  return null;\n}}\n",
    'for {noun} in "$@"; do\n  test -f "$HOME/{noun}.log" && {name} --lines {n} "${noun}"\ndone\n',
    "func (s *Server) {name}(ctx context.Context, {noun} string) error {{\n\treturn s.queue.Push(ctx, {noun}, {n})\n}}\n",
)
_WORDS: dict[str, dict[str, tuple[str, ...]]] = {
    "english": {
        "thing": (
            "nightly export",
            "payment retry",
            "search index",
            "login form",
            "rate limiter",
            "invoice parser",
            "image cache",
        ),
        "place": ("the billing service", "the Osaka cluster", "our mobile app", "the admin console", "the data warehouse"),
        "event": ("spring release", "audit", "migration", "trade fair", "holiday freeze"),
    },
    "chinese": {
        "thing": ("夜间导出任务", "支付重试", "搜索索引", "登录表单", "限流器", "发票解析器", "图片缓存"),
        "place": ("结算服务", "大阪机房", "手机应用", "管理后台", "数据仓库"),
        "event": ("春季发布", "审计", "数据迁移", "展会", "节前封版"),
    },
    "code": {
        "name": ("drain", "collect", "verify", "publish", "rotate"),
        "noun": ("order", "session", "tenant", "report", "ticket"),
    },
}
_SENTENCES = {"english": _ENGLISH, "chinese": _CHINESE, "code": _CODE}


def chats(count: int) -> list[Chat]:
    """The first `count` messages of the conversation."""
    return list(islice(_conversation(random.Random(_SEED)), count))


def _conversation(draw: random.Random) -> Iterator[Chat]:
    calls = 0
    while True:
        yield {"role": "user", "content": _text(draw)[1]}
        while draw.random() < _TOOL_ROUND / (1 + _TOOL_ROUND):
            calls += 1
            yield _call(draw, f"call_{calls}")
            yield {"role": "tool", "tool_call_id": f"call_{calls}", "content": _result(draw)}
        yield {"role": "assistant", "content": _text(draw)[1]}


def _text(draw: random.Random) -> tuple[str, str]:
    """A kind and a text of it: mostly a few sentences, now and then many."""
    kind = draw.choices(_KINDS, _SHARES)[0]
    sentences = draw.randint(1, 2 if kind == "code" else 3) * (3 if draw.random() < 0.02 else 1)
    return kind, "".join(_sentence(draw, kind) for _ in range(sentences)).strip()


def _sentence(draw: random.Random, kind: str) -> str:
    words = {slot: draw.choice(choices) for slot, choices in _WORDS[kind].items()}
    sentence = draw.choice(_SENTENCES[kind]).format(**words, n=draw.randint(2, 999), m=draw.randint(1, 12))
    return f"{sentence} " if kind == "english" else sentence


def _call(draw: random.Random, call_id: str) -> Chat:
    words = _WORDS["code"]
    arguments = {"path": f"/srv/{draw.choice(words['noun'])}s/{draw.randint(1, 9999)}", "query": _text(draw)[1][:40]}
    function = {"name": f"{draw.choice(words['name'])}_{draw.choice(words['noun'])}", "arguments": json.dumps(arguments)}
    return {"role": "assistant", "content": None, "tool_calls": [{"id": call_id, "type": "function", "function": function}]}


def _result(draw: random.Random) -> str:
    return json.dumps({"ok": draw.random() < 0.9, "took_ms": draw.randint(1, 900), "text": _text(draw)[1]}, ensure_ascii=False)


def main() -> None:
    from estimator_tokenizers import o200k

    count = o200k()
    conversation = chats(10_000)
    roles = Counter("tool calls" if "tool_calls" in chat else chat["role"] for chat in conversation)
    texts = [chat["content"] or json.dumps(chat["tool_calls"][0]["function"]) for chat in conversation]
    print(f"{len(texts)} messages, {sum(map(count, texts)) / len(texts):.1f} tokens of o200k_base on average; {dict(roles)}")


if __name__ == "__main__":
    main()
