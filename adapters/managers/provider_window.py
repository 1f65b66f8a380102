"""A session's window as one provider takes it."""

from __future__ import annotations

from collections.abc import Sequence

import attrs
from attrs import frozen

from contextport.contracts import InvalidArgument, Json, Message, ProviderProfile, TokenCounter
from contextport.contracts.counting import total_tokens
from contextport.strategies.provider_rules import profile_for, repair

from .session_window import SessionWindow, View, slots_of

__all__ = ["NO_PROVIDER", "ProviderNotes", "profile_of", "view_for"]

_NOT_READ = Message.user("the part of the log that was not read", id="not read")


@frozen(kw_only=True)
class ProviderNotes:
    """What was done to a window for a provider: the rules that were mended, and what the host has to see to."""

    profile: str = ""
    repairs: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    stale_thinking_from: str | None = None


NO_PROVIDER = ProviderNotes()


def profile_of(profile: ProviderProfile | str | None) -> ProviderProfile | None:
    """The profile itself, or that of a model's name. Raises `InvalidArgument` for anything else."""
    if profile is None or isinstance(profile, ProviderProfile):
        return profile
    if isinstance(profile, str):
        return profile_for(profile)
    raise InvalidArgument(f"profile is {profile!r:.80}; it must be a ProviderProfile, a model's name or None", name="profile")


def view_for(
    window: SessionWindow, profile: ProviderProfile, tools: Sequence[Json], counter: TokenCounter
) -> tuple[View, ProviderNotes]:
    """The window's view with the provider's rules met. Messages that keep them are the same objects."""
    view = window.view
    repaired = repair(view.messages, profile, tools=tools, original=_log_of(window))
    if repaired.repairs:
        view = attrs.evolve(
            view,
            messages=repaired.messages,
            slots=slots_of(repaired.messages, window.region.sources),
            tokens=total_tokens(repaired.messages, counter),
        )
    return view, ProviderNotes(
        profile=profile.name,
        repairs=tuple(sorted({violation.rule for violation in repaired.repairs})),
        needs=repaired.needs,
        stale_thinking_from=repaired.stale_thinking_from,
    )


def _log_of(window: SessionWindow) -> list[Message]:
    """What was read of the log, in its order: by it, reasoning whose prefix is no longer the same is told."""
    said = [entry.message for entry in window.region.entries]
    before = [] if window.region.is_whole and window.region.fold is None else [_NOT_READ]
    prompt = window.basis.prompt
    return [*([] if prompt is None else [prompt]), *before, *said]
