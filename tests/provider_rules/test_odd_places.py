"""Any part in a message of any role and kind, with ids missing, doubled and out of place: every profile makes a request of it."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from contextport.contracts import (
    CacheMark,
    JsonPart,
    Kind,
    Media,
    Message,
    Opaque,
    Part,
    Refusal,
    Role,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from contextport.contracts.profile import ProviderProfile
from contextport.strategies.provider_rules import PROFILES, check, repair

from .windows import CODECS
from .wire_checker import refusals

ROLES: tuple[Role, ...] = ("user", "assistant", "tool", "system", "developer", "user", "assistant")
KINDS = (*[Kind.CHAT] * 8, Kind.SUMMARY, Kind.FACTS, Kind.RETRIEVED, Kind.GAP, Kind.INTERRUPT, Kind.STAND_IN)
IDS = (("a", "b", "c"), ("a",), ("", "x y", "a"))
INSIDE: tuple[tuple[Text | JsonPart | Opaque, ...], ...] = (
    (),
    (Text(""),),
    (Text("r"),),
    (JsonPart([1]),),
    (Opaque(api="elsewhere", type="q", raw={"type": "q"}),),
)
PARTS: tuple[Callable[[random.Random, str], Part], ...] = (
    lambda rng, id: Text(rng.choice(("a", " ", "", "b\n"))),
    lambda rng, id: JsonPart(rng.choice(({"a": 1}, None))),
    lambda rng, id: Refusal("no"),
    lambda rng, id: Thinking(text="t"),
    lambda rng, id: Thinking(signature="s", origin=("anthropic", "m")),
    lambda rng, id: Thinking(encrypted="e", item_id="rs_1", binding="item", origin=("openai", "")),
    lambda rng, id: ToolCall(call_id=id, name="f", arguments=rng.choice(("{}", "", "x"))),
    lambda rng, id: ToolResult(call_id=id, parts=rng.choice(INSIDE)),
    lambda rng, id: Media(media="image", data="iVBORw0KGgo=", mime="image/png"),
    lambda rng, id: Media(media="video", url="ftp://x"),
    lambda rng, id: Opaque(api=rng.choice(("elsewhere", *CODECS)), type="q", raw={"type": "q"}),
    lambda rng, id: CacheMark(None),
    lambda rng, id: ToolCall(call_id="s1", name="web", arguments="{}", executor="server"),
    lambda rng, id: ToolResult(call_id="s1", parts=(Text("x"),), executor="server"),
)


def window(rng: random.Random) -> list[Message]:
    ids = rng.choice(IDS)
    return [
        Message(
            role=rng.choice(ROLES),
            parts=tuple([rng.choice(PARTS)(rng, rng.choice(ids)) for _ in range(rng.choice((0, 1, 1, 1, 2, 3)))]),
            id=f"m{n}",
            kind=rng.choice(KINDS),
            pinned=rng.random() < 0.1,
        )
        for n in range(rng.randint(0, 7))
    ]


@pytest.mark.parametrize("profile", PROFILES.values(), ids=list(PROFILES))
def test_a_request_is_made_of_anything(profile: ProviderProfile) -> None:
    for n in range(100):
        given = window(random.Random(f"odd places {n}"))
        pinned = [message for message in given if message.pinned]
        repaired = repair(given, profile, pinned=pinned).messages
        assert check(repaired, profile, pinned=pinned) == ()
        assert repair(repaired, profile, pinned=pinned).repairs == ()
        assert refusals(CODECS[profile.api].encode(repaired).request, profile) == []
