"""Event sinks: what they write, and that they never break what they watch."""

import json
import logging
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from contextport.adapters.events.collecting_sink import CollectingEventSink
from contextport.adapters.events.json_lines_sink import JsonLinesEventSink
from contextport.adapters.events.logging_sink import LoggingEventSink
from contextport.contracts import Event, EventKind, EventSink, InvalidArgument, verify

COMPRESSED = Event(
    kind=EventKind.CONTEXT_COMPRESSED,
    session_id="s1",
    data={"messages": 12, "tokens": 3400, "compressed": True, "original": 80},
)
ODD = Event(
    kind=EventKind.STRATEGY_FAILED,
    session_id="会话 1\nforged line",
    data={"reason": 'said "no"\r\n', "lone": "\ud800", "object": object(), "nested": {"a": [1, None]}},
)


def read(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def test_the_sinks_provide_the_port(tmp_path: Path) -> None:
    for sink in (LoggingEventSink(), JsonLinesEventSink(tmp_path / "events"), CollectingEventSink()):
        verify(sink, EventSink)


def test_the_collecting_sink_keeps_all_in_order() -> None:
    sink = CollectingEventSink()
    for event in (COMPRESSED, ODD, COMPRESSED):
        sink.emit(event)
    assert sink.events == [COMPRESSED, ODD, COMPRESSED]
    assert sink.of(EventKind.STRATEGY_FAILED) == (ODD,)


def test_a_log_line_has_the_figures(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="contextport")
    LoggingEventSink().emit(COMPRESSED)
    (record,) = caplog.records
    assert record.getMessage() == "context_compressed session=s1 messages=12 tokens=3400 compressed=true original=80"
    assert record.levelno == logging.INFO


def test_a_log_line_is_one_line_whatever_is_in_it(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    LoggingEventSink(logging.getLogger("odd"), level=logging.DEBUG).emit(ODD)
    (record,) = caplog.records
    line = record.getMessage()
    assert len(line.splitlines()) == 1
    assert line.isascii()
    assert r'reason="said \"no\"\r\n" lone="\ud800"' in line
    assert 'nested={"a":[1,null]}' in line
    assert record.levelno == logging.WARNING


def test_a_failing_handler_breaks_nothing() -> None:
    class Failing(logging.Handler):
        tried = 0

        def emit(self, record: logging.LogRecord) -> None:
            self.tried += 1
            raise RuntimeError("the log server is gone")

    handler = Failing()
    logger = logging.Logger("failing")
    logger.addHandler(handler)
    LoggingEventSink(logger).emit(COMPRESSED)
    assert handler.tried == 1


def test_json_lines_are_appended(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    first = JsonLinesEventSink(path, clock=lambda: 1_700_000_000.5)
    first.emit(COMPRESSED)
    first.close()
    second = JsonLinesEventSink(path)
    second.emit(ODD)
    lines = read(path)
    assert lines[0] == {
        "at": 1_700_000_000.5,
        "event": "context_compressed",
        "session_id": "s1",
        "data": {"messages": 12, "tokens": 3400, "compressed": True, "original": 80},
    }
    assert lines[1]["session_id"] == "会话 1\nforged line"
    assert len(lines) == 2
    assert second.dropped == 0


def test_events_after_close_are_dropped_and_counted(tmp_path: Path) -> None:
    sink = JsonLinesEventSink(tmp_path / "events.jsonl")
    sink.close()
    sink.close()
    sink.emit(COMPRESSED)
    assert sink.dropped == 1
    assert read(sink.path) == []


def test_a_line_that_was_cut_is_ended_before_the_next(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    path.write_bytes(b'{"at": 1, "eve')
    sink = JsonLinesEventSink(path)
    sink.emit(COMPRESSED)
    assert path.read_bytes().startswith(b'{"at": 1, "eve\n{"at":')
    sink.emit(COMPRESSED)
    assert len(path.read_bytes().splitlines()) == 3


def test_a_full_disk_drops_events_and_leaves_whole_lines(tmp_path: Path) -> None:
    """A limit on the size of files, in a process of its own, stands for the full disk."""
    path = tmp_path / "events.jsonl"
    program = f"""
import os, resource, signal
from contextport.adapters.events.json_lines_sink import JsonLinesEventSink
from contextport.contracts import Event, EventKind
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
sink = JsonLinesEventSink({str(path)!r})
event = Event(kind=EventKind.MESSAGES_ADDED, session_id="s", data={{"text": "x" * 100}})
sink.emit(event)
size = os.path.getsize({str(path)!r})
resource.setrlimit(resource.RLIMIT_FSIZE, (size * 2 - 10, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
for _ in range(5):
    sink.emit(event)
assert sink.dropped == 5, sink.dropped
resource.setrlimit(resource.RLIMIT_FSIZE, (size * 10, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
sink.emit(event)
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
    lines = path.read_bytes().splitlines()
    assert len(lines) == 3
    assert json.loads(lines[0])["data"] == json.loads(lines[2])["data"]


def test_a_file_that_cannot_be_opened_is_refused_at_once(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match="existing folder"):
        JsonLinesEventSink(tmp_path / "absent" / "events.jsonl")
    with pytest.raises(InvalidArgument):
        JsonLinesEventSink(tmp_path)


def test_threads_and_sinks_share_a_file_in_whole_lines(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    sinks = [JsonLinesEventSink(path) for _ in range(2)]

    def emit(number: int) -> None:
        for turn in range(100):
            data = {"thread": number, "turn": turn, "padding": "x" * (turn * 20)}
            sinks[number % 2].emit(Event(kind=EventKind.MESSAGES_ADDED, session_id=str(number), data=data))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(emit, range(8)))
    by_thread: dict[object, list[dict[str, object]]] = {}
    for line in read(path):
        by_thread.setdefault(line["session_id"], []).append(line)
    assert sorted(map(str, by_thread)) == [str(number) for number in range(8)]
    for lines in by_thread.values():
        assert [line["data"]["turn"] for line in lines if isinstance(line["data"], dict)] == list(range(100))
