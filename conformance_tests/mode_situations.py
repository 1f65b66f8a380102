"""What policies of modes and signals are tried on: rules in layers, every kind of situation, and turns of every sort."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

from attrs import field, frozen

from contextport.contracts import Json, Media, Message, Mode, ModeRules, ModeSituation, Sensed, SensedTurn, Text, ToolCall

from .store_inputs import HARD_TEXTS

__all__ = ["LAYERS", "RuleLayers", "no_tenant", "rules_of", "situations", "turns"]


def no_tenant(session_id: str) -> str | None:
    """No session is any tenant's."""
    return None


@frozen(kw_only=True)
class RuleLayers:
    """Rules of a policy: settings of `ModeRules` by name, for all sessions, by tenant and by session.

    What a session states holds over what its tenant states, and that over the default, setting by setting. `tenant_of` tells
    whose a session is. `as_json` has the three as the JSON of a file.
    """

    default: Mapping[str, Any] = field(factory=dict[str, Any])
    tenants: Mapping[str, Mapping[str, Any]] = field(factory=dict[str, Mapping[str, Any]])
    sessions: Mapping[str, Mapping[str, Any]] = field(factory=dict[str, Mapping[str, Any]])
    tenant_of: Callable[[str], str | None] = no_tenant

    def as_json(self) -> dict[str, Json]:
        """The layers as a JSON object: `{"default": {...}, "tenants": {...}, "sessions": {...}}`."""

        def layer(stated: Mapping[str, Any]) -> dict[str, Json]:
            return {name: str(value) if isinstance(value, str) else value for name, value in stated.items()}

        return {
            "default": layer(self.default),
            "tenants": {id: layer(stated) for id, stated in self.tenants.items()},
            "sessions": {id: layer(stated) for id, stated in self.sessions.items()},
        }


#: Rules that policies have to decide under.
LAYERS = (
    RuleLayers(),
    RuleLayers(default={"reset_to": Mode.ZERO_SHOT, "start": Mode.ZERO_SHOT}),
    RuleLayers(default={"start": Mode.RETRIEVAL, "signal_score": 1.0}),
    RuleLayers(default={"summary_from": 0.3, "hybrid_from": 0.3, "signal_score": 0.25}),
)


def rules_of(layers: RuleLayers) -> ModeRules:
    """The rules of a session that only the default is about."""
    return ModeRules(**layers.default)


_OCCUPANCIES = (0.0, 0.3, 0.5, 0.7, 0.85, 1.5)
_FLAGS = (False, True)


@cache
def situations() -> tuple[ModeSituation, ...]:
    """Every kind of situation, 5 760 of them."""
    flags = itertools.product(_FLAGS, _FLAGS, _FLAGS, _FLAGS)
    kinds = itertools.product(Mode, _OCCUPANCIES, (0.0, 1.0), (0.0, 0.5, 1.0), (0.0, 1.0), tuple(flags))
    return tuple(
        [
            ModeSituation(
                session_id="s",
                mode=mode,
                occupancy=occupancy,
                new_task=Sensed(score=new),
                asks_early=Sensed(score=early, reason="early"),
                needs_knowledge=Sensed(score=needs),
                first_of_task=first,
                has_folded=folded,
                can_search=search,
                has_knowledge=knows,
            )
            for mode, occupancy, new, early, needs, (first, folded, search, knows) in kinds
        ]
    )


_SAYS = (
    "What did we decide about the budget last week?",
    "New task: translate the following.",
    "换个话题。",
    "According to the handbook, how long is the warranty?",
    "Make it shorter.",
)


def turns() -> Iterator[SensedTurn]:
    """Turns of every sort: of any script, empty, very long, after nothing and after much, with and without what was found."""
    document = Media(media="document", file_id="f")
    call = Message.assistant("", ToolCall(call_id="c", name="read", arguments="{}"))
    said = [
        Message.user("We agreed on 12 chairs.", metadata={"seen": [1]}),
        call,
        Message.tool("c", "ok"),
        Message.assistant("Noted."),
    ]
    for text in (*HARD_TEXTS, *_SAYS, "word " * 100_000, "\u4e00" * 100_000):
        question = Message.user(text, metadata={"from": {"app": "web"}})
        yield SensedTurn(question=question)
        yield SensedTurn(question=question, before=list(said), known_facts=3, found=(0.9, 0.2), seconds_since=1e6)
        yield SensedTurn(question=question, before=[Message.user("x " * 50_000)], found=(), seconds_since=0.0)
    yield SensedTurn(question=Message(role="user", parts=()))
    yield SensedTurn(
        question=Message(role="user", parts=(document, Text("")), name="Ann"), before=tuple(said), found=(math.inf, math.nan)
    )
