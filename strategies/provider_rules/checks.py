"""The rules V01 to V36 by their ids, and `check`, which asks them all."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from contextport.contracts import Json, Message
from contextport.contracts.profile import ProviderProfile

from .content_checks import CONTENT_CHECKS
from .order_checks import ORDER_CHECKS
from .reasoning_checks import REASONING_CHECKS
from .request_checks import REQUEST_CHECKS
from .window import Reference, RequestFacts, Violation, Window

__all__ = ["CHECKS", "check", "violations"]

#: Rule id -> the function that yields its violations.
CHECKS: Mapping[str, Callable[[Window], Iterator[Violation]]] = dict(
    sorted({**ORDER_CHECKS, **CONTENT_CHECKS, **REASONING_CHECKS, **REQUEST_CHECKS}.items())
)
_ALL = tuple(CHECKS.values())


def check(
    messages: Sequence[Message],
    profile: ProviderProfile,
    *,
    tools: Sequence[Json] | None = (),
    thinking: bool | None = None,
    original: Sequence[Message] | None = None,
    pinned: Sequence[Message] = (),
    references: Sequence[Reference] = (),
    sizes: tuple[int, int] | None = None,
) -> tuple[Violation, ...]:
    """All that is not valid in a request of `messages` to the profile's provider, by rule id; empty for a valid one.

    The other arguments are what some rules need besides (`RequestFacts`): `tools` are the declared schemas, None for none at
    all; `thinking` whether the request asks for reasoning; `original` the log, to tell what was changed since (V18 to V20);
    `pinned` what must be in it (V35); `references` what the provider is asked to find itself (V33); `sizes` the tokens before
    and after a reduction (V36).
    """
    facts = RequestFacts(tools=tools, thinking=thinking, original=original, pinned=pinned, references=references, sizes=sizes)
    return tuple(violations(Window(messages, profile, facts)))


def violations(window: Window) -> Iterator[Violation]:
    """The violations of all rules, in the order of their ids."""
    for rule in _ALL:
        yield from rule(window)
