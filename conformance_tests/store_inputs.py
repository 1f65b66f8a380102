"""Drafts and messages that the store rules append."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine, Generator, Sequence
from typing import Any, TypeVar

from contextport.contracts import (
    CacheMark,
    ContextStore,
    Draft,
    Entry,
    Importance,
    JsonPart,
    Kind,
    Media,
    Message,
    Opaque,
    Refusal,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    from_chat,
)

__all__ = ["add", "at_once", "at_once_in_threads", "cancelled_at", "draft", "every_kind_of_message", "ids", "said", "session_ids"]

_T = TypeVar("_T")

#: Texts that backends are known to lose, change or refuse.
HARD_TEXTS = (
    "",
    "plain",
    "Привет, 你好, こんにちは, 안녕, नमस्ते, שלום",
    "👩‍👩‍👧‍👦 🇩🇪 e\u0301 \u200d \ufeff",
    "nul \u0000 in the middle",
    "lone \ud83d surrogate \udc00",
    "line\r\nline\n\ttab\u2028\u2029\u0085",
    "quotes ' \" \\ %s $1 ?1 :name; --",
    "  spaces at both ends  ",
    "x" * 100_000,
)


def draft(id: str, text: str = "hello", *, tokens: int = 3, at: float = 5.0, **more: Any) -> Draft:
    """A user message on its way into the log."""
    return Draft(message=Message.user(text, id=id, **more), tokens=tokens, counter="words", at=at)


def said(message: Message, tokens: int = 3) -> Draft:
    """Any message on its way into the log."""
    return Draft(message=message, tokens=tokens, counter="words", at=5.0)


async def add(store: ContextStore, session_id: str, *names: str) -> tuple[Entry, ...]:
    """Append user messages with these ids, in one call."""
    return await store.append(session_id, [draft(name) for name in names])


def ids(entries: Sequence[Entry]) -> list[str]:
    """The message ids of entries."""
    return [entry.message.id for entry in entries]


def session_ids() -> list[str]:
    """Session ids that a careless backend mixes up."""
    return ["a", "A", "a ", "a/b", "a%", "a_", "a'", 'a"', "a\u0000b", "a\n", "ä", "a\u0308", "é", "*", "..", "x" * 300, "\ud800"]


def every_kind_of_message() -> list[Message]:
    """One message per value that a log must give back unchanged."""
    chat = from_chat(
        {
            "role": "assistant",
            "content": [{"type": "text", "text": "I look", "unknown": [1, None, {"deep": True}]}],
            "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "find", "arguments": '{"a": 1.0, "a": 2}'}}],
            "reasoning_content": "because",
            "x_vendor": {"z": 1, "a": 2},
            "metadata": {"trace": "t"},
        }
    )
    parts = (
        Thinking(text="so", signature="c2ln", binding="turn", summary=("one", "two"), origin=("api", "model")),
        Text("cited", citations=({"url": "https://example.org"},)),
        Refusal("no"),
        CacheMark(ttl="5m"),
        Media(media="image", data="iVBORw0KGgo=", mime="image/png", size_px=(3, 4), detail="low"),
        Opaque(api="vendor", type="blob", raw={"k": [1, 2.5, "\ud800"]}, pair_id="p"),
        ToolCall(call_id="c2", name="go", arguments="{ }", item_id="i", namespace="n", executor="server", complete=False),
    )
    result = ToolResult(call_id="c2", parts=(Text("r"), JsonPart({"b": 1, "a": None})), status="error", name="go")
    texts = [Message.user(text) for text in HARD_TEXTS]
    return [
        chat,
        from_chat({"role": "user", "content": None}),
        from_chat({"role": "user"}),
        from_chat({"role": "user", "content": [], "name": "Ann"}),
        Message(role="assistant", parts=parts, phase="final", status="completed"),
        Message(role="tool", parts=(result,)),
        Message.user("pinned", pinned=True, importance=Importance.REQUIREMENT, created_at=1.5, name="Bob"),
        Message.user("note", kind=Kind.INTERRUPT, metadata={"deep": {"list": [1, 2.25, "\u0000", None, True]}, "\udfff": ""}),
        Message.system("rule", kind=Kind.SYSTEM_PROMPT),
        Message(role="developer", parts=()),
        *texts,
    ]


async def at_once(*work: Callable[[], Awaitable[_T]]) -> list[_T]:
    """Run all in tasks that begin together."""
    barrier = asyncio.Barrier(len(work))

    async def one(function: Callable[[], Awaitable[_T]]) -> _T:
        await barrier.wait()
        return await function()

    return list(await asyncio.gather(*(one(function) for function in work)))


async def at_once_in_threads(*work: Callable[[], Coroutine[Any, Any, Any]]) -> None:
    """Run all in threads that begin together, each with an event loop of its own. Raises the first error."""
    barrier = threading.Barrier(len(work))
    failed: list[BaseException] = []

    def one(function: Callable[[], Coroutine[Any, Any, Any]]) -> None:
        try:
            barrier.wait()
            asyncio.run(function())
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=one, args=(function,)) for function in work]
    await asyncio.to_thread(_run_all, threads)
    if failed:
        raise failed[0]


def _run_all(threads: list[threading.Thread]) -> None:
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


class _CancelledAt:
    """Awaits a coroutine and cancels the task it runs in when it waits for the k-th time."""

    def __init__(self, work: Coroutine[Any, Any, Any], k: int) -> None:
        self._work, self._k = work, k
        self.waits = 0

    def __await__(self) -> Generator[Any, Any, Any]:
        steps = self._work.__await__()
        task, loop = asyncio.current_task(), asyncio.get_running_loop()
        send: Any = None
        raised: BaseException | None = None
        while True:
            try:
                waited = steps.send(send) if raised is None else steps.throw(raised)
            except StopIteration as done:
                return done.value
            self.waits += 1
            if self.waits == self._k and task is not None:
                loop.call_soon(task.cancel)
            send, raised = None, None
            try:
                send = yield waited
            except BaseException as error:
                raised = error


async def cancelled_at(k: int, work: Coroutine[Any, Any, Any]) -> bool:
    """Run `work` in a task and cancel it when it waits for the k-th time. False when it does not wait that often."""
    watched = _CancelledAt(work, k)

    async def run() -> None:
        await watched

    task = asyncio.ensure_future(run())
    await asyncio.wait({task})
    if not task.cancelled():
        task.result()
    return watched.waits >= k
