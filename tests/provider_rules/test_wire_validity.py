"""What is sent is valid by a checker that knows the wire alone, and that checker finds what is not."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from contextport.contracts import Message, Text
from contextport.contracts.profile import ProviderProfile
from contextport.strategies.provider_rules import PROFILES, repair

from .predicate_cases import CASES
from .real_conversations import needs_data, real_conversations
from .windows import CODECS, windows
from .wire_checker import refusals

EVERY = pytest.mark.parametrize("profile", PROFILES.values(), ids=list(PROFILES))


def encoded(messages: tuple[Message, ...], profile: ProviderProfile) -> dict[str, Any]:
    return CODECS[profile.api].encode(messages).request


@EVERY
def test_no_window_is_refused(profile: ProviderProfile) -> None:
    for window in windows(profile, 40, seed=5):
        repaired = repair(window, profile)
        assert refusals(encoded(repaired.messages, profile), profile) == []


@needs_data
@EVERY
def test_no_real_conversation_is_refused(profile: ProviderProfile) -> None:
    for conversation in real_conversations()[::40]:
        for start in (0, 1, 2, 5):
            window = conversation[start : start + 80]
            assert refusals(encoded(repair(window, profile).messages, profile), profile) == []


@EVERY
def test_what_the_library_says_is_in_the_request(profile: ProviderProfile) -> None:
    for window in windows(profile, 20, seed=6):
        request = str(encoded(repair(window, profile).messages, profile))
        for message in window:
            if message.kind in ("summary", "facts", "retrieved", "gap"):
                assert all(part.text.strip() in request for part in message.parts if isinstance(part, Text))


def test_the_checker_finds_what_is_not_repaired() -> None:
    found: set[str] = set()
    for case in CASES:
        profile = attrs.evolve(PROFILES[case.profile], **case.on)
        if refusals(encoded(case.messages, profile), profile):
            found.add(case.rule)
    shown = ["01", "02", "03", "04", "05", "06", "07", "08", "10", "12", "13", "14", "16", "20", "21", "23", "29"]
    assert found >= {f"V{number}" for number in shown}
