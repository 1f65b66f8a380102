"""`repair`: the least change that makes a window valid for a provider."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from attrs import frozen

from contextport.contracts import InvalidMessage, Json, Message
from contextport.contracts.profile import ProviderProfile

from .checks import CHECKS, violations
from .content_repairs import (
    arguments_wrapped,
    blank_dropped,
    compaction_placed,
    hollow_dropped,
    ids_mapped,
    marks_dropped,
    space_trimmed,
)
from .order_repairs import begun_by_user, ended_by_user, filled_after_results, merged, roles_mapped, system_placed
from .pair_repairs import lone_server_parts_dropped, pairs_restored, undeclared_flattened
from .reasoning_checks import stale_thinking
from .reasoning_repairs import items_released, reasoning_dropped, signatures_supplied, steps_closed
from .request_repairs import counts_reduced, media_moved, media_reduced, pinned_restored
from .window import Reference, RequestFacts, Violation, Window

__all__ = ["REPAIRS", "Repaired", "repair"]

#: (rules, repair of their violations), in order: pairs, empties, reasoning, position, media, ids, tail. A repair that opens up
#: what an earlier one mends is followed by another round.
REPAIRS: tuple[tuple[tuple[str, ...], Callable[[Window, Sequence[Violation]], list[Message]]], ...] = (
    (("V35",), pinned_restored),
    (("V34",), lone_server_parts_dropped),
    (("V05", "V04", "V06", "V23", "V29"), pairs_restored),
    (("V28",), undeclared_flattened),
    (("V10",), blank_dropped),
    (("V11",), hollow_dropped),
    (("V22",), reasoning_dropped),
    (("V18",), reasoning_dropped),
    (("V19",), reasoning_dropped),
    (("V20",), items_released),
    (("V21",), signatures_supplied),
    (("V17",), steps_closed),
    (("V25",), steps_closed),
    (("V31",), compaction_placed),
    (("V16",), roles_mapped),
    (("V15",), system_placed),
    (("V01", "V02"), begun_by_user),
    (("V03",), merged),
    (("V24",), merged),
    (("V14",), filled_after_results),
    (("V26",), media_moved),
    (("V27",), media_reduced),
    (("V30",), marks_dropped),
    (("V07",), ids_mapped),
    (("V08",), ids_mapped),
    (("V09",), arguments_wrapped),
    (("V32",), counts_reduced),
    (("V12",), ended_by_user),
    (("V13",), space_trimmed),
)
#: What no change of messages mends, and the setting that the host has to send instead.
_FOR_THE_HOST = {"V33": "full_input", "V36": "smaller_window", "V32": "fewer_tools"}
_ROUNDS = 12  # a window needs two or three


@frozen(kw_only=True)
class Repaired:
    """A window that is valid for a provider.

    `messages` are the given objects wherever nothing had to be changed. `repairs` are the violations that were mended, in that
    order. `stale_thinking_from` is the id of the first message whose reasoning is bound to another prefix than the one before it
    now, or None. `needs` are request settings without which the request is not valid: `drop_block` (tell the provider to drop
    stale reasoning), `tools` (declare the tools of the history), `full_input` (send no reference to earlier input),
    `fewer_tools`, `smaller_window` (a reduction that reduced nothing).
    """

    messages: tuple[Message, ...]
    repairs: tuple[Violation, ...] = ()
    stale_thinking_from: str | None = None
    needs: tuple[str, ...] = ()


def repair(
    messages: Sequence[Message],
    profile: ProviderProfile,
    *,
    tools: Sequence[Json] | None = (),
    thinking: bool | None = None,
    original: Sequence[Message] | None = None,
    pinned: Sequence[Message] = (),
    references: Sequence[Reference] = (),
    sizes: tuple[int, int] | None = None,
) -> Repaired:
    """The messages as the profile's provider takes them, and what was done to them. The arguments are those of `check`.

    What is returned passes `check` with the same arguments, apart from what is in `needs`; repairing it again changes nothing.
    The same input has the same result. The given messages are not changed.

    No text of the user is lost. A summary, facts, retrieved text and the gap message always stay. A tool loop that cannot be
    gone on with, since reasoning that it needs is missing, is told in a user message.
    """
    facts = RequestFacts(tools=tools, thinking=thinking, original=original, pinned=pinned, references=references, sizes=sizes)
    window = Window(messages, profile, facts)
    found = list(violations(window))
    done: list[Violation] = []
    if any(_is_mendable(violation, window) for violation in found):
        window, done = _mended(window)
    stale = stale_thinking(window)
    start = None if not stale else window.messages[stale[0][0]].id
    needs = tuple(_needs(window, found, stale=bool(stale)))
    return Repaired(messages=tuple(window.messages), repairs=tuple(done), stale_thinking_from=start, needs=needs)


def _mended(window: Window) -> tuple[Window, list[Violation]]:
    done: list[Violation] = []
    for _ in range(_ROUNDS):
        before = len(done)
        for rules, mend in REPAIRS:
            found = [one for rule in rules for one in CHECKS[rule](window) if _is_mendable(one, window)]
            if found:
                window = window.with_messages(mend(window, found))
                done += found
        if len(done) == before:
            return window, done
    left = ", ".join(sorted({violation.rule for violation in violations(window)}))
    raise InvalidMessage(
        f"{len(window.messages)} messages cannot be made valid for {window.profile.name}: {left} still broken after "
        f"{_ROUNDS} rounds of repairs; check the profile for rules that exclude each other",
        path="messages",
    )


def _is_mendable(violation: Violation, window: Window) -> bool:
    if violation.rule == "V32":
        return "tools" not in violation.detail
    return violation.rule not in _FOR_THE_HOST


def _needs(window: Window, found: Sequence[Violation], *, stale: bool) -> Iterator[str]:
    profile = window.profile
    if stale and profile.stale_thinking == "drop_block":
        yield "drop_block"
    told = window.facts.tools is None or bool(window.facts.tools)
    if profile.declared_tools != "no" and not told and (window.calls or window.results):
        yield "tools"
    for rule, need in _FOR_THE_HOST.items():
        if any(not _is_mendable(one, window) for one in (*found, *CHECKS[rule](window)) if one.rule == rule):
            yield need
