"""What errors teach, for how long, and how it outlives a process."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from contextport.adapters.events.collecting_sink import CollectingEventSink
from contextport.adapters.limits.learnt_limits import LearntLimits
from contextport.contracts import EventKind, InvalidArgument, Limits, StoreCorrupt, StoreUnavailable
from contextport.contracts.provider_error import ErrorKind, ErrorReading, Remedy
from contextport.strategies.limits_resolution import resolve_budget

HOST = "https://api.host.example/v1"
DAY = 20_000 * 86_400.0  # 2024-10-04


class Clock:
    def __init__(self) -> None:
        self.now = DAY

    def __call__(self) -> float:
        return self.now


def reading(kind: ErrorKind = ErrorKind.INPUT, limit: int | None = 8_000, **more: Any) -> ErrorReading:
    return ErrorReading(kind=kind, remedy=Remedy.NONE, limit=limit, **more)


def max_input(learnt: LearntLimits, model: str = "m", host: str = "") -> int | None:
    found = learnt.limits(model, host)
    return None if found is None else found.max_input


@pytest.mark.parametrize(
    ("said", "numbers"),
    [
        (reading(limit=8_000, input=9_000), {"max_input": 8_000}),
        (reading(ErrorKind.INPUT_PLUS_OUTPUT, 8_192, input=8_000, output=1_000), {"window": 8_192, "max_input": 8_192}),
        (reading(ErrorKind.INPUT_PLUS_OUTPUT, 8_192, input=8_000), {"window": 8_192, "max_input": 8_192}),
        (reading(ErrorKind.OUTPUT_HIT_WINDOW, 8_192), {"window": 8_192, "max_input": 8_192}),
        (reading(ErrorKind.OUTPUT_CAP, 4_096, output=100_000), {"max_output": 4_096}),
        (reading(ErrorKind.OUTPUT_CAP, 8_192, input=100, output=9_000), {"window": 8_192, "max_input": 8_192}),
        (reading(ErrorKind.TPM_SINGLE_REQUEST, 30_000, input=40_000), {"entitlement": 30_000}),
        (reading(ErrorKind.ENTITLEMENT, 200_000, input=300_000), {"entitlement": 200_000}),
        (reading(limit=8_000, input=1, is_lower_bound=True), {"max_input": 8_000}),
    ],
)
def test_the_stated_limit_is_learnt_as_what_it_is(said: ErrorReading, numbers: dict[str, Any]) -> None:
    learnt = LearntLimits(clock=Clock())
    assert learnt.learn(said, model="m", host=HOST)
    source = f"errors of the host ({said.kind.value})"
    assert learnt.limits("m", "api.host.example") == Limits(**numbers, source=source, as_of="2024-10-04")


NOTHING = [
    *(
        reading(kind)
        for kind in ErrorKind
        if kind.value in ("rate_limit", "quota", "silent", "payload_bytes", "count_limit", "unknown")
    ),
    reading(limit=None, input=9_000),
    reading(limit=0),
    reading(limit=-5),
    reading(limit=8_000, unit="characters"),
    reading(ErrorKind.INPUT_CHARS, 8_000, unit="characters"),
    reading(ErrorKind.INPUT_BYTES, 8_000, unit="bytes"),
    reading(limit=9_000, input=9_000),  # the refused size, taken for a limit
    reading(limit=9_000, input=8_000),
    reading(ErrorKind.INPUT_PLUS_OUTPUT, 9_000, input=4_000, output=5_000),
    reading(ErrorKind.INPUT_PLUS_OUTPUT, 9_000, total=9_000),
    reading(ErrorKind.OUTPUT_CAP, 9_000, output=9_000),
    reading(ErrorKind.TPM_SINGLE_REQUEST, 9_000, total=8_000),
]


@pytest.mark.parametrize("said", NOTHING)
def test_nothing_is_learnt_from_anything_else(said: ErrorReading) -> None:
    learnt = LearntLimits()
    assert not learnt.learn(said, model="m", host=HOST)
    assert learnt.limits("m", HOST) is None


def test_a_refused_size_is_never_a_limit() -> None:
    draw = random.Random(3)
    for _ in range(500):
        learnt = LearntLimits()
        limit, size = draw.randint(1, 50), draw.randint(1, 50)
        kind = draw.choice(list(ErrorKind))
        said = reading(kind, draw.choice([limit, None]), **{draw.choice(["input", "total", "output", "excess"]): size})
        learnt.learn(said, model="m")
        found = learnt.limits("m")
        assert found is None or {found.window, found.max_input, found.max_output, found.entitlement} <= {None, limit}


def test_numbers_are_tightened_and_never_widened_until_they_expire() -> None:
    clock = Clock()
    learnt = LearntLimits(lifetime=100, clock=clock)

    assert learnt.learn(reading(limit=8_000), model="m")
    assert not learnt.learn(reading(limit=16_000), model="m")
    assert max_input(learnt) == 8_000
    clock.now += 60
    assert learnt.learn(reading(limit=8_000), model="m")  # confirmed: it lives longer
    clock.now += 60
    assert max_input(learnt) == 8_000
    assert learnt.learn(reading(limit=4_000), model="m")
    assert max_input(learnt) == 4_000
    clock.now += 99
    assert not learnt.learn(reading(limit=9_000), model="m")
    clock.now += 1
    assert max_input(learnt) is None
    assert learnt.learn(reading(limit=9_000), model="m")
    assert max_input(learnt) == 9_000
    clock.now -= 1_000_000  # a clock that was set back makes nothing immortal
    assert max_input(learnt) is None


def test_each_host_and_model_is_its_own_and_can_be_forgotten() -> None:
    learnt = LearntLimits()
    learnt.learn(reading(limit=8_000), model="m", host=HOST)
    learnt.learn(reading(limit=4_000), model="m", host="other.example")
    learnt.learn(reading(limit=2_000), model="n", host=HOST)
    hosts = (HOST, "other.example", "", "third.example")
    assert [max_input(learnt, "m", host) for host in hosts] == [8_000, 4_000, None, None]
    learnt.forget("m", HOST)
    learnt.forget("never known")
    assert learnt.limits("m", HOST) is None
    assert learnt.limits("n", HOST) is not None


def test_it_stands_between_a_probe_that_promises_more_and_a_registry() -> None:
    learnt = LearntLimits(clock=Clock())
    learnt.learn(reading(limit=200_000, input=205_000), model="m", host=HOST)

    class Probe:
        def limits(self, model: str, host: str = "") -> Limits | None:
            return Limits(window=1_000_000, max_output=64_000, source="probe")

    budget = resolve_budget(model="m", host=HOST, sources=[Probe(), learnt])
    assert (budget.window, budget.usable_input) == (1_000_000, 200_000)
    assert dict(budget.sources)["max_input"] == "errors of the host (input), as of 2024-10-04"
    assert resolve_budget(model="m", host=HOST, max_input=500_000, sources=[Probe(), learnt]).usable_input == 500_000


def test_a_file_outlives_the_object_and_is_replaced_at_once(tmp_path: Path) -> None:
    path, clock = tmp_path / "limits.json", Clock()
    first = LearntLimits(path, clock=clock)
    assert not path.exists()
    for model in ("m", "модель", "\ud800", ""):
        first.learn(reading(ErrorKind.INPUT_PLUS_OUTPUT, 8_000), model=model, host="https://user:secret@api.host.example/v1")
    again = LearntLimits(str(path), clock=clock)
    for model in ("m", "модель", "\ud800", ""):
        assert again.limits(model, HOST) == first.limits(model, HOST) is not None
    assert os.listdir(tmp_path) == ["limits.json"]
    assert "secret" not in path.read_text("ascii")
    again.forget("m", HOST)
    assert LearntLimits(path, clock=clock).limits("m", HOST) is None
    clock.now += 8 * 86_400
    again.learn(reading(), model="new", host=HOST)
    assert [entry["model"] for entry in json.loads(path.read_text())["entries"]] == ["new"]  # what expired is dropped


def test_threads_that_learn_at_once_lose_nothing(tmp_path: Path) -> None:
    learnt = LearntLimits(tmp_path / "limits.json")

    def work(name: int) -> None:
        for limit in range(40, 20, -1):
            learnt.learn(reading(limit=limit * 100), model=f"m{name % 2}-{limit}")
            learnt.learn(reading(limit=limit * 100 + name), model="shared")

    threads = [threading.Thread(target=work, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for known in (learnt, LearntLimits(tmp_path / "limits.json")):
        assert [max_input(known, f"m{n}-{limit}") for n in (0, 1) for limit in range(21, 41)] == [*range(2_100, 4_001, 100)] * 2
        assert max_input(known, "shared") == 2_100


def test_objects_that_share_a_file_take_the_tighter_number(tmp_path: Path) -> None:
    path = tmp_path / "limits.json"
    one, two = LearntLimits(path), LearntLimits(path)
    one.learn(reading(limit=8_000), model="m")
    two.learn(reading(limit=9_000), model="m")  # it does not know yet that 8 000 was stated
    assert max_input(two, "m") == 8_000
    two.learn(reading(limit=1_000), model="n")
    one.learn(reading(limit=7_000), model="m")
    for learnt in (one, LearntLimits(path)):
        assert max_input(learnt, "m") == 7_000
        assert max_input(learnt, "n") == 1_000


PROGRAM = """
import sys
from pathlib import Path
from contextport.adapters.limits.learnt_limits import LearntLimits
from contextport.contracts.provider_error import ErrorKind, ErrorReading, Remedy
path, name = Path(sys.argv[1]), sys.argv[2]
learnt = LearntLimits(path)
for n in range(60):
    learnt.learn(ErrorReading(kind=ErrorKind.INPUT, remedy=Remedy.COMPACT, limit=1000 + n), model=f"{name}-{n}")
"""


def test_processes_that_write_at_once_never_leave_a_broken_file(tmp_path: Path) -> None:
    path = tmp_path / "limits.json"
    processes = [subprocess.Popen([sys.executable, "-c", PROGRAM, str(path), name]) for name in ("a", "b")]
    reads = 0
    while any(process.poll() is None for process in processes):
        LearntLimits(path)  # raises on half a file
        reads += 1
    assert [process.wait() for process in processes] == [0, 0]
    assert reads
    last = LearntLimits(path)
    assert last.limits("a-59") or last.limits("b-59")
    assert os.listdir(tmp_path) == ["limits.json"]


GOOD = {"host": "h", "model": "m", "name": "window", "tokens": 5, "kind": "input", "at": 1.0}


def document(*entries: Any, **more: Any) -> bytes:
    return json.dumps({"format": "contextport.learnt_limits", "version": 1, "entries": list(entries)} | more).encode()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"\xff\x00",
        b"[]",
        b"{}",
        b"[" * 100_000,
        b'{"format": "something else"}',
        document(GOOD)[:-20],
        document(GOOD, version=2),
        document(GOOD, format="other"),
        document(GOOD, entries=None),
        document("text"),
        *(
            document(GOOD | change)
            for change in (
                {"tokens": 0},
                {"tokens": "5"},
                {"tokens": True},
                {"tokens": 1.5},
                {"at": None},
                {"at": -1},
                {"at": 1e300},
                {"at": float("nan")},
                {"name": "soft_limit"},
                {"name": ["window"]},
                {"host": None},
                {"model": 3},
                {"kind": None},
            )
        ),
        *(document({key: value for key, value in GOOD.items() if key != left}) for left in GOOD),
    ],
)
def test_a_file_that_is_damaged_or_not_ours_is_refused_and_left_alone(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "limits.json"
    path.write_bytes(content)
    with pytest.raises(StoreCorrupt, match="move it away"):
        LearntLimits(path)
    assert path.read_bytes() == content


def test_a_good_file_of_this_form_is_taken(tmp_path: Path) -> None:
    path = tmp_path / "limits.json"
    path.write_bytes(document(GOOD))
    found = LearntLimits(path, clock=lambda: 2.0).limits("m", "h")
    assert found == Limits(window=5, source="errors of the host (input)", as_of="1970-01-01")


def test_a_file_that_breaks_later_stops_no_recovery(tmp_path: Path) -> None:
    path, sink = tmp_path / "limits.json", CollectingEventSink()
    learnt = LearntLimits(path, sink=sink)
    learnt.learn(reading(), model="m")
    path.write_bytes(b"broken")
    assert learnt.learn(reading(limit=7_000), model="m")
    assert max_input(learnt, "m") == 7_000
    assert path.read_bytes() == b"broken"
    path.unlink()
    path.mkdir()
    (path / "in the way").touch()
    assert learnt.learn(reading(limit=6_000), model="m")
    assert max_input(learnt, "m") == 6_000
    assert [(event.kind, event.data["reason"]) for event in sink.events] == [
        (EventKind.LIMITS_NOT_SAVED, "store_corrupt"),
        (EventKind.LIMITS_NOT_SAVED, "store_unavailable"),
    ]
    assert os.listdir(tmp_path) == ["limits.json"]
    with pytest.raises(StoreUnavailable):
        LearntLimits(path)


def test_a_wrong_construction_is_refused(tmp_path: Path) -> None:
    for lifetime in (0, -1, True, "week", float("nan")):
        with pytest.raises(InvalidArgument, match="lifetime"):
            LearntLimits(lifetime=lifetime)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="there is no folder"):
        LearntLimits(tmp_path / "missing" / "limits.json")
