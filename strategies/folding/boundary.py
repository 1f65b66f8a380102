"""Where a fold ends: which of the oldest steps go, and which stay all the same."""

from __future__ import annotations

from attrs import frozen

from contextport.strategies.atoms import Step, Steps
from contextport.strategies.selection import extras_before

from .policy import FoldPolicy

__all__ = ["Cut", "cut_of"]

_ROUND_INWARD = 0.5  # a tail that begins with a turn may be this much smaller than it could be
_ROUND_OUTWARD = 1.25  # and this much larger, if the newest messages that are to stay begin inside the turn


@frozen(kw_only=True)
class Cut:
    """The ids of the messages that go, and their size in tokens."""

    covers: frozenset[str]
    tokens: int


def cut_of(steps: Steps, policy: FoldPolicy, max_tokens: int, tail_tokens: int) -> Cut:
    """What to fold so that the newest steps, of about `tail_tokens` tokens, stay."""
    start = _start(steps, policy, tail_tokens)
    stays = {*extras_before(steps, start, max_tokens).steps}
    cold = [step for n, step in enumerate(steps.steps[:start]) if n not in stays and _may_go(steps, step)]
    messages = [message for step in cold for message in steps.messages[step.start : step.stop]]
    return Cut(covers=frozenset(message.id for message in messages), tokens=sum(step.tokens for step in cold))


def _start(steps: Steps, policy: FoldPolicy, tail_tokens: int) -> int:
    """The first step of the tail: the earliest that fits `tail_tokens`, rather at a turn; at the latest the newest step."""
    last = len(steps.steps) - 1
    fitting = next((n for n in range(last + 1) if _tail_size(steps, n) <= tail_tokens), max(0, last))
    turns = [n for n, step in enumerate(steps.steps) if step.head == n]
    whole = next((n for n in turns if n >= fitting), None)
    if whole is not None and steps.suffix_tokens[whole] >= tail_tokens * _ROUND_INWARD:
        stays = _step_of_latest(steps, policy.keep_latest)
        fitting = fitting if fitting <= stays < whole else whole
    messages = len(steps.messages)
    latest = next((n for n in reversed(turns) if messages - steps.steps[n].start >= policy.keep_latest), None)
    if latest is not None and latest < fitting and steps.suffix_tokens[latest] <= tail_tokens * _ROUND_OUTWARD:
        return latest
    return fitting


def _step_of_latest(steps: Steps, count: int) -> int:
    """The step that the newest `count` messages begin in."""
    for n in range(len(steps.steps) - 1, 0, -1):
        step = steps.steps[n]
        count -= sum([message.in_conversation for message in steps.messages[step.start : step.stop]])
        if count <= 0:
            return n
    return 0


def _tail_size(steps: Steps, start: int) -> int:
    """The size of a tail that begins at step `start`, with the question of its turn, which stays."""
    head = steps.steps[start].head
    asked = 0 if head is None or head >= start else steps.steps[head].tokens
    return steps.suffix_tokens[start] + asked


def _may_go(steps: Steps, step: Step) -> bool:
    """Whether a step was said, and waits for nothing."""
    return all(message.in_conversation for message in steps.messages[step.start : step.stop])
