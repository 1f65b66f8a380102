"""A file of rules: whatever happens to it, good rules hold at the next decision, and bad ones change nothing."""

import asyncio
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from contextport.adapters.events.collecting_sink import CollectingEventSink
from contextport.adapters.modes.rules_file import ModeRulesFile
from contextport.contracts import Event, EventKind, InvalidArgument
from contextport.contracts.context import Mode
from contextport.contracts.errors import CapabilityNotSupported, RulesInvalid
from contextport.contracts.events import EventSink
from contextport.contracts.modes import ModePolicy, ModeRules, ModeSituation
from contextport.contracts.port import implements, verify

PATIENCE = 30.0  # seconds within which a change must be seen; far above what it takes


def rules(**stated: object) -> bytes:
    return json.dumps({"default": stated}).encode()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    found = tmp_path / "modes.json"
    found.write_bytes(rules(keep_messages=8))
    return found


@pytest.fixture
def sink() -> CollectingEventSink:
    return CollectingEventSink()


def kept(policy: ModeRulesFile) -> int:
    return policy.rules_for("s").keep_messages


def told(sink: CollectingEventSink) -> list[tuple[str, Any]]:
    """What was told: the settings that changed, or the problems."""
    return [(str(event.kind), event.data.get("changed", event.data.get("problems"))) for event in sink.events]


CHANGED, REJECTED = str(EventKind.RULES_CHANGED), str(EventKind.RULES_REJECTED)


def test_it_is_a_mode_policy(path: Path) -> None:
    policy = ModeRulesFile(path)
    verify(policy, ModePolicy)
    assert policy.decide(ModeSituation(session_id="s", mode=Mode.FULL, occupancy=0.7)).mode is Mode.SUMMARY


def test_a_change_takes_effect_at_the_next_decision_and_is_told(path: Path, sink: CollectingEventSink) -> None:
    policy = ModeRulesFile(path, sink=sink)
    assert (kept(policy), sink.events) == (8, [])
    path.write_bytes(rules(keep_messages=15, summary_from=0.8))
    decision = policy.decide(ModeSituation(session_id="s", mode=Mode.FULL, occupancy=0.7))
    assert (decision.mode, kept(policy)) == (Mode.FULL, 15)
    assert told(sink) == [(CHANGED, {"default.summary_from": [0.6, 0.8], "default.keep_messages": [8, 15]})]
    [event] = sink.events
    assert (event.session_id, event.data["path"], event.data["count"]) == ("", str(path), 2)


def test_a_change_of_the_same_size_in_the_same_tick_is_seen(path: Path) -> None:
    policy = ModeRulesFile(path)
    for number in (3, 4, 5, 6, 7) * 20:
        with path.open("r+b") as file:
            file.write(rules(keep_messages=number))
        assert kept(policy) == number


def test_a_change_that_keeps_size_and_time_is_seen(path: Path) -> None:
    later = time.time_ns() + 3_600_000_000_000
    policy = ModeRulesFile(path, clock=lambda: later)
    before = path.stat()
    path.write_bytes(rules(keep_messages=9))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert kept(policy) == 9


def test_a_file_that_rests_is_not_read_again(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    later = time.time_ns() + 3_600_000_000_000
    policy = ModeRulesFile(path, clock=lambda: later)
    opened: list[Path] = []
    real = Path.open

    def noted(self: Path, *arguments: Any, **more: Any) -> Any:
        opened.append(self)
        return real(self, *arguments, **more)

    monkeypatch.setattr(Path, "open", noted)
    for _ in range(100):
        kept(policy)
    assert opened == []
    path.write_bytes(rules(keep_messages=9))
    opened.clear()
    assert [kept(policy) for _ in range(3)] == [9, 9, 9]
    assert opened == [path]


def renamed_over(path: Path, content: bytes) -> None:
    other = path.with_suffix(".tmp")
    other.write_bytes(content)
    other.replace(path)


def deleted_and_made(path: Path, content: bytes) -> None:
    path.unlink()
    path.write_bytes(content)


def moved_away_and_made(path: Path, content: bytes) -> None:
    """As editors do that keep a backup."""
    path.replace(path.with_suffix(".json~"))
    path.write_bytes(content)


@pytest.mark.parametrize("write", [Path.write_bytes, renamed_over, deleted_and_made, moved_away_and_made])
def test_however_a_file_is_written_it_is_read(path: Path, write: Callable[[Path, bytes], object]) -> None:
    policy = ModeRulesFile(path)
    for number in (9, 10, 11):
        write(path, rules(keep_messages=number))
        assert kept(policy) == number


def mounted(folder: Path, version: str, content: bytes) -> None:
    """A version of a mounted config map: the file is a link into `..data`, which is swapped as a whole."""
    (folder / version).mkdir(parents=True)
    (folder / version / "modes.json").write_bytes(content)
    (folder / "..data_tmp").symlink_to(version)
    (folder / "..data_tmp").replace(folder / "..data")
    if not (folder / "modes.json").is_symlink():
        (folder / "modes.json").symlink_to("..data/modes.json")


def test_links_that_are_swapped_are_followed(tmp_path: Path) -> None:
    mounted(tmp_path, "..1", rules(keep_messages=8))
    policy = ModeRulesFile(tmp_path / "modes.json")
    mounted(tmp_path, "..2", rules(keep_messages=9))
    assert kept(policy) == 9


BAD: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "$: is empty; an empty set of rules is {}"),
    "half written": (rules(keep_messages=9)[:-4], "$: is not JSON: "),
    "unknown key": (rules(keep=9), "$.default.keep: is not known; "),
    "out of range": (rules(keep_messages=-9), "$.default.keep_messages: is -9; it must be a whole number, 0 or more"),
    "latin-1": (b'{"default": {"\xe4": 1}}', "$: is not UTF-8 at byte 14; save it as UTF-8"),
    "utf-16": ("{}".encode("utf-16"), "$: is not UTF-8 at byte 0; save it as UTF-8"),
    "huge": (b" " * 5_000_000, "$: is larger than 4194304 bytes"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_rules_change_nothing_and_are_told_once(name: str, path: Path, sink: CollectingEventSink) -> None:
    content, problem = BAD[name]
    policy = ModeRulesFile(path, sink=sink)
    path.write_bytes(content)
    assert [kept(policy) for _ in range(3)] == [8, 8, 8]
    [(kind, [said])] = told(sink)
    assert kind == REJECTED
    assert said.startswith(problem)
    assert policy.problems == (said,)

    path.write_bytes(rules(keep_messages=10))
    assert kept(policy) == 10
    assert not policy.problems
    assert told(sink)[1:] == [(CHANGED, {"default.keep_messages": [8, 10]})]


def test_each_bad_version_is_told_and_so_is_that_it_is_good_again(path: Path, sink: CollectingEventSink) -> None:
    policy = ModeRulesFile(path, sink=sink)
    for content in (b"a", b"a", b"b", rules(keep_messages=8), rules(keep_messages=8), b"a"):
        renamed_over(path, content)
        assert kept(policy) == 8
    assert [kind for kind, _ in told(sink)] == [REJECTED, REJECTED, CHANGED, REJECTED]
    assert sink.events[2].data["count"] == 0


def test_new_lines_and_comments_of_the_eye_are_no_change(path: Path, sink: CollectingEventSink) -> None:
    policy = ModeRulesFile(path, sink=sink)
    path.write_bytes(b'\xef\xbb\xbf{\r\n  "default": {"keep_messages": 8}\r\n}\r\n')
    assert (kept(policy), policy.problems, sink.events) == (8, (), [])


def test_a_file_that_goes_away_leaves_its_rules(path: Path, sink: CollectingEventSink) -> None:
    path.write_bytes(rules(keep_messages=9))
    policy = ModeRulesFile(path, sink=sink)
    path.unlink()
    assert [kept(policy), kept(policy)] == [9, 9]
    assert told(sink) == [(REJECTED, ["$: the file is missing"])]
    path.write_bytes(rules(keep_messages=9))
    assert (kept(policy), policy.problems) == (9, ())
    assert [kind for kind, _ in told(sink)] == [REJECTED, CHANGED]


def test_what_is_no_file_is_refused_without_waiting(path: Path, sink: CollectingEventSink) -> None:
    policy = ModeRulesFile(path, sink=sink)
    path.unlink()
    path.mkdir()
    assert kept(policy) == 8
    path.rmdir()
    os.mkfifo(path)
    assert kept(policy) == 8
    path.unlink()
    path.symlink_to(path)
    assert kept(policy) == 8
    [(_, [first]), (_, [second])] = told(sink)
    assert first == "$: is no regular file"
    assert second.startswith("$: the file cannot be read: ")


def test_a_bad_file_at_the_start_is_an_error_unless_there_is_a_fallback(path: Path, sink: CollectingEventSink) -> None:
    for content in (b"{", None):
        path.write_bytes(content) if content else path.unlink()
        with pytest.raises(RulesInvalid, match=r"modes\.json.* cannot be used: \$: ") as raised:
            ModeRulesFile(path)
        assert len(raised.value.problems) == 1
    policy = ModeRulesFile(path, fallback=ModeRules(keep_messages=5), sink=sink)
    assert (kept(policy), told(sink)) == (5, [(REJECTED, ["$: the file is missing"])])
    path.write_bytes(rules(keep_messages=6))
    assert (kept(policy), told(sink)[1:]) == (6, [(CHANGED, {"default.keep_messages": [5, 6]})])
    with pytest.raises(InvalidArgument, match="NUL"):
        ModeRulesFile("a\0b")


def test_sessions_and_tenants_come_from_the_file(path: Path) -> None:
    path.write_bytes(b'{"tenants": {"t": {"keep_messages": 9}}, "sessions": {"t/1": {"keep_messages": 10}}}')
    policy = ModeRulesFile(path, tenant_of=lambda session_id: session_id.partition("/")[0])
    assert [policy.rules_for(one).keep_messages for one in ("x", "t/0", "t/1")] == [8, 9, 10]


def test_many_threads_read_one_change(path: Path, sink: CollectingEventSink) -> None:
    policy = ModeRulesFile(path, sink=sink)
    found: list[int] = []
    start = threading.Barrier(8)

    def read() -> None:
        start.wait()
        found.append(kept(policy))

    path.write_bytes(rules(keep_messages=9))
    threads = [threading.Thread(target=read) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [9] * 8
    assert len(sink.events) == 1


def test_a_long_list_of_problems_is_cut(path: Path, sink: CollectingEventSink) -> None:
    policy = ModeRulesFile(path, sink=sink)
    path.write_bytes(json.dumps({"sessions": {f"s{n}": {"keep": n} for n in range(1_000)}}).encode())
    assert len(policy.problems) == 1_000
    [event] = sink.events
    assert (len(event.data["problems"]), event.data["count"]) == (50, 1_000)


# --- watched --------------------------------------------------------------------------------------------------------------


@implements(EventSink)
class Bell:
    """A sink that wakes whoever waits, in the loop that it was made in."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self._loop = asyncio.get_running_loop()
        self._rung = asyncio.Event()

    def emit(self, event: Event) -> None:
        self.events.append(event)
        self._loop.call_soon_threadsafe(self._rung.set)

    async def next(self) -> Event:
        """The newest event, once there is another."""
        async with asyncio.timeout(PATIENCE):
            await self._rung.wait()
        self._rung.clear()
        return self.events[-1]


@pytest.mark.parametrize("write", [Path.write_bytes, renamed_over, deleted_and_made])
def test_a_watched_file_tells_of_changes_without_a_question(path: Path, write: Callable[[Path, bytes], object]) -> None:
    async def run() -> None:
        bell = Bell()
        async with ModeRulesFile(path, sink=bell) as policy:
            assert policy.is_watching
            write(path, rules(keep_messages=15))
            while (event := await bell.next()).kind is EventKind.RULES_REJECTED:  # seen while it was half written
                pass
            assert event.data["changed"] == {"default.keep_messages": [8, 15]}
            renamed_over(path, b"{")
            assert (await bell.next()).kind is EventKind.RULES_REJECTED
            assert kept(policy) == 15
        assert not policy.is_watching
        assert policy.watch_problem == ""
        write(path, rules(keep_messages=16))
        assert kept(policy) == 16

    asyncio.run(run())


def test_watched_links_are_followed_from_version_to_version(tmp_path: Path) -> None:
    async def run() -> None:
        bell = Bell()
        mounted(tmp_path / "mount", "..0", rules(keep_messages=8))
        async with ModeRulesFile(tmp_path / "mount" / "modes.json", sink=bell):
            for n in range(1, 4):
                mounted(tmp_path / "mount", f"..{n}", rules(keep_messages=8 + n))
                assert (await bell.next()).data["changed"] == {"default.keep_messages": [7 + n, 8 + n]}

    asyncio.run(run())


def test_a_link_to_another_folder_is_watched_there(tmp_path: Path) -> None:
    async def run() -> None:
        bell = Bell()
        (tmp_path / "real").mkdir()
        (tmp_path / "links").mkdir()
        (tmp_path / "real" / "modes.json").write_bytes(rules())
        (tmp_path / "links" / "modes.json").symlink_to(tmp_path / "real" / "modes.json")
        async with ModeRulesFile(tmp_path / "links" / "modes.json", sink=bell):
            renamed_over(tmp_path / "real" / "modes.json", rules(keep_messages=9))
            assert (await bell.next()).data["changed"] == {"default.keep_messages": [8, 9]}

    asyncio.run(run())


def test_what_changed_before_watching_began_is_told_at_the_start(path: Path, sink: CollectingEventSink) -> None:
    policy = ModeRulesFile(path, sink=sink)
    path.write_bytes(rules(keep_messages=9))

    async def run() -> None:
        await policy.start()
        await policy.start()
        assert told(sink) == [(CHANGED, {"default.keep_messages": [8, 9]})]
        await policy.close()
        await policy.close()

    asyncio.run(run())


def test_a_folder_that_is_not_there_ends_watching_and_nothing_else(tmp_path: Path) -> None:
    async def run() -> None:
        policy = ModeRulesFile(tmp_path / "later" / "modes.json", fallback=ModeRules(keep_messages=5))
        async with policy:
            assert not policy.is_watching
            assert policy.watch_problem.startswith("FileNotFoundError")
            (tmp_path / "later").mkdir()
            (tmp_path / "later" / "modes.json").write_bytes(rules(keep_messages=6))
            assert kept(policy) == 6

    asyncio.run(run())


def test_a_loop_that_ends_ends_watching(path: Path) -> None:
    policy = ModeRulesFile(path)
    asyncio.run(policy.start())
    assert not policy.is_watching
    path.write_bytes(rules(keep_messages=9))
    assert kept(policy) == 9


WITHOUT_WATCHFILES = """
import asyncio, sys
from importlib.machinery import PathFinder

class NoWatchfiles(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None if name == "watchfiles" else super().find_spec(name, path, target)

sys.meta_path = [NoWatchfiles if finder is PathFinder else finder for finder in sys.meta_path]
from contextport.adapters.modes.rules_file import ModeRulesFile
policy = ModeRulesFile(sys.argv[1])
print(policy.rules_for("s").keep_messages)
try:
    asyncio.run(policy.start())
except Exception as error:
    print(type(error).__name__, error)
"""


def test_without_the_extra_it_works_and_says_what_watching_needs(path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", WITHOUT_WATCHFILES, str(path)], capture_output=True, text=True)
    name = CapabilityNotSupported.__name__
    assert done.stdout.splitlines() == [
        "8",
        f"{name} to watch a file of rules needs watchfiles: pip install 'contextport[watch]'",
    ], done.stderr
