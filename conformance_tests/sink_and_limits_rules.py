"""The rules of `EventSink` and `LimitsSource`."""

from __future__ import annotations

import contextlib
import copy
import socket
import threading
from collections.abc import Generator, Sequence
from typing import TYPE_CHECKING, Any

from contextport.contracts import (
    ErrorKind,
    ErrorReading,
    Event,
    EventKind,
    EventSink,
    LearnsLimits,
    Limits,
    LimitsSource,
    Remedy,
)

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


_NUMBERS = ("window", "max_input", "max_output", "entitlement", "soft_limit")
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
            known = found is None or any(getattr(found, name) is not None for name in _NUMBERS)
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


def _known(suite: LimitsSourceConformance) -> Sequence[tuple[str, str]]:
    known = suite.known_models()
    if not known:
        raise NotChecked("write known_models, so that what is near to a known model can be asked for")
    return known


@rule("LIMITS-4", LimitsSource, cause="a host that is not in the table gets the row of one that is.")
async def another_host_is_another_question(suite: LimitsSourceConformance) -> None:
    source = await suite.make()
    known = _known(suite)
    for model, host in known:
        anywhere = source.limits(model, "")
        name = (host.partition("://")[2] or host).partition("/")[0]
        for other in ("no-such-host.example", f"{name}.no-such-host.example", f"https://no-such-host.example/{name}"):
            found = source.limits(model, other)
            assert found is None or found == anywhere, f"{model!r} is known on {host!r}, and on {other!r} it has {found!r}"


@rule("LIMITS-5", LimitsSource, cause="names are matched by their beginning, or by what they contain.")
async def another_model_is_another_question(suite: LimitsSourceConformance) -> None:
    source = await suite.make()
    known = _known(suite)
    for model, host in known:
        of_any_model = source.limits("no such model", host)
        for other in (f"{model} of nobody", f"nobody's {model}", f"{model}x", f"x{model}"):
            found = source.limits(other, host)
            assert found is None or found == of_any_model, f"{model!r} is known on {host!r}, and {other!r} has {found!r}"


@rule("LIMITS-6", LimitsSource, cause="the host is asked when the source is.")
async def asking_opens_no_connection(suite: LimitsSourceConformance) -> None:
    source = await suite.make()
    for model, host in (*suite.known_models(), ("no such model", ""), ("no such model", "no-such-host.example")):
        with _watched_sockets() as opened:
            source.limits(model, host)
        assert not opened, f"limits({model!r}, {host!r}) called {', '.join(opened)}"


@contextlib.contextmanager
def _watched_sockets() -> Generator[list[str]]:
    """Notes and refuses each connection and each look-up of a name that this thread asks for meanwhile."""
    opened: list[str] = []
    watched = threading.get_ident()
    before = {(owner, name): getattr(owner, name) for owner, name in _OPENING}

    def watching(name: str, original: Any) -> Any:
        def call(*arguments: Any, **named: Any) -> Any:
            if threading.get_ident() != watched:
                return original(*arguments, **named)
            opened.append(f"socket.{name}")
            raise OSError("a source of limits opens no connection when it is asked")

        return call

    for (owner, name), original in before.items():
        setattr(owner, name, watching(name, original))
    try:
        yield opened
    finally:
        for (owner, name), original in before.items():
            setattr(owner, name, original)


_OPENING: tuple[tuple[Any, str], ...] = (
    (socket.socket, "connect"),
    (socket.socket, "connect_ex"),
    (socket, "getaddrinfo"),
)


def _input_limit(limits: Limits | None) -> int | None:
    known = [] if limits is None else [n for n in (limits.window, limits.max_input, limits.entitlement) if n is not None]
    return min(known, default=None)


def _overflow(limit: int | None, size: int | None, kind: ErrorKind = ErrorKind.INPUT, unit: str = "tokens") -> ErrorReading:
    return ErrorReading(kind=kind, remedy=Remedy.COMPACT, limit=limit, input=size, unit=unit)


@rule("LIMITS-7", LearnsLimits, cause="what is learnt is kept by model alone, or the newest error wins.")
async def learns_what_an_overflow_says(suite: LimitsSourceConformance) -> None:
    source: Any = await suite.make()
    neighbours = [("taught", "other.example"), ("taught too", "taught.example"), *suite.known_models()]
    before = [source.limits(model, host) for model, host in neighbours]
    for limit, wanted in ((9_000, 9_000), (7_000, 7_000), (8_000, 7_000)):
        source.learn(_overflow(limit, 2 * limit), model="taught", host="taught.example")
        found = _input_limit(source.limits("taught", "taught.example"))
        assert found == wanted, f"after an overflow of a limit of {limit} tokens the input limit is {found}, not {wanted}"
    after = [source.limits(model, host) for model, host in neighbours]
    assert after == before, f"an error of one model on one host changed others: {before} became {after}"


@rule("LIMITS-8", LearnsLimits, cause="every number of every error is taken for a window.")
async def learns_nothing_else(suite: LimitsSourceConformance) -> None:
    source: Any = await suite.make()
    nothing = {
        "a rate limit": _overflow(9_000, 10_000, ErrorKind.RATE_LIMIT),
        "an output cap": _overflow(4_096, None, ErrorKind.OUTPUT_CAP),
        "a limit of characters": _overflow(9_000, 10_000, ErrorKind.INPUT_CHARS, "characters"),
        "a limit of bytes": _overflow(9_000, 10_000, ErrorKind.PAYLOAD_BYTES, "bytes"),
        "a rejected size": _overflow(None, 10_000),
        "a limit that was not exceeded": _overflow(9_000, 100),
        "an unknown error": _overflow(9_000, 10_000, ErrorKind.UNKNOWN),
    }
    for what, reading in nothing.items():
        source.learn(reading, model="taught", host="taught.example")
        found = _input_limit(source.limits("taught", "taught.example"))
        assert found is None, f"{what} was taken for an input limit of {found} tokens"
