"""Operations on stores: what is written comes back, in order, whole, once, and only to its own session."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from contextport.contracts import ContextPortError, ContextStore, MessageConflict, ToolCall, from_chat

from .case import Case
from .case_input import case_messages
from .evidence import Dict, Evidence, Moment, Row, rows_of
from .manager_session import SESSION, Driven, engine, open_store, pinned, stored_rows
from .strategy_operations import Operation
from .words_counter import WordsCounter

ROOT = Path(__file__).resolve().parents[2]


def on_each_store(steps: Callable[[Case, str, Path], Awaitable[Evidence]]) -> Operation:
    """An operation that runs on every store the case names and this version has, each in a folder of its own."""

    async def operation(case: Case, folder: Path) -> list[Evidence]:
        found: list[Evidence] = []
        for kind in case.stores:
            place = folder / kind
            place.mkdir()
            try:
                evidence = await steps(case, kind, place)
            except Exception as error:  # judged by the checks
                evidence = Evidence(given=case.given, moments=[Moment(label="end", given=(), error=error)])
            evidence.variant = kind
            found.append(evidence)
        results = {one.variant: one.last.wire for one in found}
        for one in found:
            one.facts["all_stores"] = results
        return found

    return operation


def _given(case: Case, wires: list[Dict]) -> list[Row]:
    messages = [from_chat(wire, pinned=pinned(case, wire)) for wire in wires]
    return [Row(id=m.id, kind=m.kind, pinned=m.pinned, wire=wire) for m, wire in zip(messages, wires, strict=True)]


async def _reopened(kind: str, folder: Path, store: ContextStore) -> ContextStore:
    """The same backend through a new store object, where it outlives one."""
    if kind == "memory":
        return store
    await store.close()
    return open_store(kind, folder)


async def _add_and_reopen(case: Case, kind: str, folder: Path) -> Evidence:
    store, counter = open_store(kind, folder), WordsCounter()
    ticks = iter(case.given.get("clock", ()))
    clock = (lambda: next(ticks)) if "clock" in case.given else (lambda: 0.0)
    driven = Driven(case=case, manager=engine(case, store, counter, clock=clock), store=store)
    for wire in case_messages(case.given):
        await driven.add(wire)
    if "then_update" in case.given:
        await _update(case, driven)
    store = await _reopened(kind, folder, store)
    again = Driven(case=case, manager=engine(case, store, counter), store=store, given=driven.given)
    await again.get("end")
    stored = await stored_rows(store)
    await store.close()
    return Evidence(given=case.given, counter=counter, moments=again.moments, stored=stored)


async def _update(case: Case, driven: Driven) -> None:
    """A log has no updates: other metadata under a stored id are refused. Only the state is ever rewritten."""
    if case.given["then_update"] != "first_message_metadata":
        raise ValueError(f"then_update {case.given['then_update']!r} is not known")
    changed = {**driven.given[0].wire, "metadata": {"updated": True}}
    try:
        await driven.manager.add_message(SESSION, changed)
    except MessageConflict:
        head = await driven.store.head(SESSION)
        await driven.store.put_state(SESSION, head.state, expected=head.state_version)
        return
    raise AssertionError("a stored message was changed")


async def _parse_arguments(case: Case, kind: str, folder: Path) -> Evidence:
    store, counter = open_store(kind, folder), WordsCounter()
    function = {"name": "f", "arguments": case.given["arguments_json"]}
    call = {"role": "assistant", "content": None, "tool_calls": [{"id": "c1", "type": "function", "function": function}]}
    wires: list[Dict] = [{"id": "u1", "role": "user", "content": "Call it"}, {"id": "a1", **call}]
    driven = Driven(case=case, manager=engine(case, store, counter), store=store)
    for wire in wires:
        await driven.add(wire)
    store = await _reopened(kind, folder, store)
    read = await store.read(SESSION, limit=1)
    parsed = [json.loads(part.arguments) for part in read[0].message.parts if isinstance(part, ToolCall)]
    await store.close()
    given = tuple(driven.given)
    return Evidence(given=case.given, moments=[Moment(label="end", given=given, rows=given)], facts={"parsed": parsed[0]})


async def _concurrent_add(case: Case, kind: str, folder: Path) -> Evidence:
    """Several managers at once on one session, each through a store object of its own where the backend allows it."""
    counter, managers = WordsCounter(), int(case.given["managers"])
    shared = open_store(kind, folder)
    stores = [shared if kind == "memory" or n == 0 else open_store(kind, folder) for n in range(managers)]
    engines = [engine(case, store, counter) for store in stores]

    async def write(n: int) -> None:
        for k in range(int(case.given["adds_each"])):
            await engines[n].add_message(SESSION, {"id": f"w{n}-{k}", "role": "user", "content": f"writer {n} says {k}"})

    await asyncio.gather(*(write(n) for n in range(managers)))
    contexts = [await one.get_context(SESSION) for one in engines]
    stored = await stored_rows(shared)
    for store in stores:
        await store.close()
    moment = Moment(label="end", given=tuple(stored), rows=rows_of(contexts[0].messages))
    seen = [[message.id for message in context.messages] for context in contexts]
    return Evidence(given=case.given, counter=counter, moments=[moment], stored=stored, facts={"seen_by_each": seen})


async def _two_sessions(case: Case, kind: str, folder: Path) -> Evidence:
    """Sessions written at the same time through one manager; then what `then` lists, in order."""
    store, counter = open_store(kind, folder), WordsCounter()
    manager = engine(case, store, counter)
    sessions = {name: Driven(case=case, manager=manager, store=store, session_id=name) for name in case.given["sessions"]}

    async def write(name: str) -> None:
        for wire in case.given["sessions"][name]:
            await sessions[name].add(wire)

    await asyncio.gather(*(write(name) for name in sessions))
    for name, action in case.given.get("then", ()):
        if action != "clear":
            raise ValueError(f"the action {action!r} is not known")
        await manager.clear_context(name)
    for name, driven in sessions.items():
        await driven.get(f"session:{name}")
    stored = [row for name in sessions for row in await stored_rows(store, name)]
    await store.close()
    moments = [moment for driven in sessions.values() for moment in driven.moments]
    return Evidence(given=case.given, counter=counter, moments=moments, stored=stored)


# --- other processes --------------------------------------------------------------------------------------------------


def start(action: str, **arguments: Any) -> subprocess.Popen[str]:
    """A process that does one thing to a database; see `child_process`."""
    command = [sys.executable, "-m", "tests.cases.child_process", action, json.dumps(arguments)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


async def _multi_process_add(case: Case, kind: str, folder: Path) -> Evidence:
    """Processes that each add to the sessions named: `own` is one per process, any other name is shared by all."""
    store = open_store(kind, folder)
    processes, adds, names = int(case.given["processes"]), int(case.given["adds_each"]), case.given["sessions"]
    sessions = [[f"own {n}" if name == "own" else name for name in names] for n in range(processes)]
    running = [start("add", folder=str(folder), kind=kind, sessions=mine, writer=n, adds=adds) for n, mine in enumerate(sessions)]
    failures: list[Moment] = []
    for one in running:
        _, problem = await asyncio.to_thread(one.communicate)
        if one.returncode != 0:
            failures.append(Moment(label="end", given=(), error=ContextPortError(problem.strip().splitlines()[-1])))
    stored = [row for name in sorted({name for mine in sessions for name in mine}) for row in await stored_rows(store, name)]
    await store.close()
    moments = failures or [Moment(label="end", given=tuple(stored), rows=tuple(stored))]
    return Evidence(given=case.given, moments=moments, stored=stored)


async def _crash_during_add_group(case: Case, folder: Path) -> list[Evidence]:
    """A process that is killed while it stores a group, at each point named; then the session is opened again."""
    found: list[Evidence] = []
    killed = 0
    for kind in case.stores:
        for point in case.given["fail_at"]:
            place = folder / f"{kind} {point}"
            place.mkdir()
            groups = {"before": case.given["before"], "group": case.given["group"]}
            child = start("crash", folder=str(place), kind=kind, point=point, **groups)
            await asyncio.to_thread(child.communicate)
            killed += child.returncode != 0
            found.append(await _after_crash(case, kind, place, f"{kind} {point}"))
    if not killed:
        raise AssertionError("no process was killed: the case proves nothing")
    return found


async def _after_crash(case: Case, kind: str, folder: Path, variant: str) -> Evidence:
    store, counter = open_store(kind, folder), WordsCounter()
    given = _given(case, [*case.given["before"], *case.given["group"]])
    driven = Driven(case=case, manager=engine(case, store, counter), store=store, given=given)
    await driven.get("end")
    stored = await stored_rows(store)
    await driven.add({"id": "after-0", "role": "user", "content": "Go on"})
    await driven.get("end")
    await store.close()
    return Evidence(variant=variant, given=case.given, counter=counter, moments=driven.moments, stored=stored)


async def _many_sessions(case: Case, kind: str, folder: Path) -> Evidence:
    """In a process of its own: open, use and clear sessions, then see how much is left of them in memory."""
    if case.given.get("then", "clear_each") != "clear_each":
        raise ValueError(f"then {case.given['then']!r} is not known")
    counts = {"sessions": case.given["sessions"], "messages_each": case.given["messages_each"]}
    child = start("many_sessions", folder=str(folder), kind=kind, **counts)
    out, problem = await asyncio.to_thread(child.communicate)
    if child.returncode != 0:
        raise AssertionError(problem.strip().splitlines()[-1])
    return Evidence(given=case.given, moments=[Moment(label="end", given=())], facts=json.loads(out))


OPERATIONS: dict[str, Operation] = {
    "store_roundtrip": on_each_store(_add_and_reopen),
    "store_order": on_each_store(_add_and_reopen),
    "parse_arguments": on_each_store(_parse_arguments),
    "concurrent_add": on_each_store(_concurrent_add),
    "two_sessions": on_each_store(_two_sessions),
    "multi_process_add": on_each_store(_multi_process_add),
    "crash_during_add_group": _crash_during_add_group,
    "many_sessions": on_each_store(_many_sessions),
}
