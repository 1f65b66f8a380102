"""The rules of `EventSink` and `LimitsSource`."""

from __future__ import annotations

import copy
import threading
from typing import TYPE_CHECKING, Any

from contextport.contracts import Event, EventKind, EventSink, Limits, LimitsSource

from .rules import NotChecked, rule, settled

if TYPE_CHECKING:
    from .suites import EventSinkConformance, LimitsSourceConformance

__all__: list[str] = []

_DATA: tuple[dict[str, Any], ...] = (
    {},
    {"tokens": 12, "ratio": 0.5, "on": True, "none": None},
    {"deep": {"list": [1, [2, {"x": "y"}]]}, "text": "Привет 你好 \u0000 \ud800 \n"},
    {
        "kind": "x",
        "session_id": "y",
        "event": 1,
        "at": 2,
        "msg": "m",
        "message": "n",
        "name": "o",
        "args": ["%s %d"],
        "level": "p",
    },
    {"large": "x" * 200_000, "many": list(range(2_000))},
)
_SESSIONS = ("s", "", "a/b %s {x}", "\ud800\u0000\r\n", "x" * 10_000)


def _events() -> list[Event]:
    every_kind = [Event(kind=kind, session_id="s", data={"n": n}) for n, kind in enumerate(EventKind)]
    return every_kind + [
        Event(kind=EventKind.CONTEXT_BUILT, session_id=session_id, data=copy.deepcopy(data))
        for data in _DATA
        for session_id in _SESSIONS
    ]


def _emit_all(sink: EventSink, what: str) -> None:
    for event in _events():
        try:
            sink.emit(event)
        except Exception as error:
            raise AssertionError(f"{what} raised {type(error).__name__}: {error} on {event!r:.200}") from error


@rule("SINK-1", EventSink, cause="an event is encoded or written without a guard around it.")
async def accepts_every_event(suite: EventSinkConformance) -> None:
    _emit_all(await suite.make(), "the sink")
    built = suite.broken_sink()
    if built is not None:
        _emit_all(await settled(built), "a sink whose target fails")


@rule("SINK-2", EventSink, cause="fields are added to the event's own data before it is written.")
async def leaves_the_event_alone(suite: EventSinkConformance) -> None:
    sink = await suite.make()
    events, before = _events(), _events()
    for event in events:
        sink.emit(event)
    for event, wanted in zip(events, before, strict=True):
        assert event == wanted, "emit changed an event"


_UNKNOWN = ("", "no such model", "x" * 5_000, "gpt-9000/😀", "../..", "a\u0000b", "\ud800", "%s", "NONE")


@rule("LIMITS-1", LimitsSource, cause="a table is indexed without a default, or a name is parsed without a guard.")
async def unknown_model_is_no_error(suite: LimitsSourceConformance) -> None:
    source = await suite.make()
    for model in _UNKNOWN:
        for host in ("", "no such host", "\ud800"):
            try:
                found = source.limits(model, host)
            except Exception as error:
                raise AssertionError(f"limits({model!r:.40}, {host!r}) raised {type(error).__name__}: {error}") from error
            assert found is None or isinstance(found, Limits), f"limits({model!r:.40}, {host!r}) returned {found!r}"
            known = found is None or any((found.window, found.max_input, found.max_output))
            assert known, f"limits({model!r:.40}, {host!r}) knows nothing and returned {found!r} instead of None"


@rule("LIMITS-2", LimitsSource, cause="the source is left at its default.")
async def source_is_named(suite: LimitsSourceConformance) -> None:
    source = await suite.make()
    answered = 0
    for model, host in (*suite.known_models(), ("no such model", "")):
        found = source.limits(model, host)
        if found is not None:
            answered += 1
            named = found.source.strip()
            assert named not in ("", Limits().source), f"limits({model!r}, {host!r}) names the source {found.source!r}"
    for model, host in suite.known_models():
        assert source.limits(model, host) is not None, f"limits({model!r}, {host!r}) is None for a model said to be known"
    if not answered:
        raise NotChecked("write known_models, so that an answer can be looked at")


@rule("LIMITS-3", LimitsSource, cause="the answer depends on the question before, on time, or on chance.")
async def same_question_same_answer(suite: LimitsSourceConformance) -> None:
    source = await suite.make()
    questions = [*suite.known_models(), *((model, "") for model in _UNKNOWN)]
    first = [source.limits(model, host) for model, host in questions]
    again = [source.limits(model, host) for model, host in reversed(questions)]
    assert again[::-1] == first, "the same questions in reverse order have other answers"
    found: list[Any] = []

    def work() -> None:
        found.append([source.limits(model, host) for model, host in questions])

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [first] * 4, "threads that asked at once got other answers, or an error"
