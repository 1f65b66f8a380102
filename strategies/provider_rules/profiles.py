"""The profiles of provider families.

The rules are those of the providers' documentation and of their error messages, as of November 2026. Where these leave a case
open, the profile is the stricter one: what it makes is valid under either reading.
"""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from contextport.contracts import Role
from contextport.contracts.profile import MediaLimits, ProviderProfile

__all__ = ["PROFILES"]

_MEGABYTE = 1024 * 1024
_BOTH = frozenset({"image", "document"})
_CHAT_ROLES: frozenset[Role] = frozenset({"system", "user", "assistant", "tool"})
_SYSTEM: frozenset[Role] = frozenset({"system"})
_DEVELOPER: frozenset[Role] = frozenset({"developer"})

_OPENAI_CHAT = ProviderProfile(
    name="openai.chat",
    api="openai.chat",
    provider="openai",
    roles=_CHAT_ROLES | _DEVELOPER,
    id_pattern=r"[\s\S]{1,40}",
    arguments="json",
    media_kinds=frozenset({"image", "audio", "document"}),
    max_messages=2048,
    max_tools=128,
)
_OPENAI_REASONING = attrs.evolve(_OPENAI_CHAT, name="openai.reasoning_chat", system_role="developer")
_OPENAI_WITHOUT_SYSTEM = attrs.evolve(
    _OPENAI_CHAT, name="openai.chat_without_system", roles=_CHAT_ROLES - _SYSTEM, system_role="user"
)
_OPENAI_RESPONSES = ProviderProfile(
    name="openai.responses",
    api="openai.responses",
    provider="openai",
    roles=_CHAT_ROLES | _DEVELOPER,
    id_pattern=r"[\s\S]{1,64}",
    thinking="encrypted",
    signed_by=frozenset({"openai.responses", "openai"}),
    item_pairs=True,
    media_roles=frozenset({"user", "tool"}),
    media_kinds=_BOTH,
    compaction="anywhere",
    max_tools=128,
)

_ANTHROPIC_CLASSIC = ProviderProfile(
    name="anthropic.classic",
    api="anthropic.messages",
    provider="anthropic",
    results_as="user",
    system_place="field",
    first_user=True,
    prefill="last_assistant",
    refused_text="blank",
    trailing_space=False,
    id_pattern=r"[a-zA-Z0-9_-]+",
    unique_ids="conversation",
    arguments="object",
    declared_tools="some",
    thinking="signed",
    signed_by=frozenset({"anthropic.messages", "anthropic"}),
    thinking_first=True,
    thinking_frozen=True,
    thinking_bound_to="turn",
    media_roles=frozenset({"user", "tool"}),
    media_kinds=_BOTH,
    media_limits=MediaLimits(
        max_images=100,
        max_side=8000,
        many=20,
        max_side_of_many=2000,
        max_bytes_each=5 * _MEGABYTE,
        max_bytes=32 * _MEGABYTE,
    ),
    max_cache_marks=4,
    cache_marks_by_life=True,
    compaction="first_block",
    max_messages=100_000,
)
#: Opus, Sonnet 4.6 and later: no prefill. Thinking is adaptive, so that a step may come without any.
_ANTHROPIC_4_6 = attrs.evolve(_ANTHROPIC_CLASSIC, name="anthropic.no_prefill", prefill="no", last_user=True, thinking_first=False)
#: Opus 4.8 and 5.x, Fable and Mythos 5.x: system messages in the middle.
_ANTHROPIC_MIDDLE = attrs.evolve(_ANTHROPIC_4_6, name="anthropic.middle_system", system_place="field_and_middle")
#: Sonnet and Haiku 5.5: reasoning bound to the exact prefix. Middle system messages are ignored or taken for tool output.
_ANTHROPIC_BOUND = attrs.evolve(
    _ANTHROPIC_4_6,
    name="anthropic.prefix_bound",
    thinking_alone=True,
    thinking_bound_to="prefix",
    stale_thinking="drop_block",
    signatures_of="model",
)
#: Opus 5.5, Fable 5.1 and 5.2, Mythos 5.2.
_ANTHROPIC_BOUND_MIDDLE = attrs.evolve(
    _ANTHROPIC_BOUND, name="anthropic.prefix_bound_middle_system", system_place="field_and_middle"
)

_GEMINI_2 = ProviderProfile(
    name="gemini.2",
    api="gemini.generate_content",
    provider="google",
    results_as="user",
    system_place="field",
    first_user=True,
    parity=True,
    calls_after_user=True,
    refused_text="empty",
    mixed_results=False,
    arguments="object",
    thinking="text",
    signed_by=frozenset({"gemini.generate_content", "gemini", "google"}),
    media_roles=frozenset({"user", "tool"}),
)
_GEMINI_3 = attrs.evolve(
    _GEMINI_2, name="gemini.3", thought_signatures=True, signature_stand_in="skip_thought_signature_validator"
)
_VERTEX_2 = attrs.evolve(_GEMINI_2, name="vertex.2", last_user=True)
_VERTEX_3 = attrs.evolve(_GEMINI_3, name="vertex.3", last_user=True)

_BEDROCK_NOVA = ProviderProfile(
    name="bedrock.nova",
    api="bedrock.converse",
    provider="amazon",
    results_as="user",
    system_place="field",
    first_user=True,
    alternation=True,
    last_user=True,
    refused_text="blank",
    empty_results=False,
    trailing_space=False,
    id_pattern=r"[a-zA-Z0-9_.:-]{1,64}",
    unique_ids="conversation",
    arguments="object",
    declared_tools="some",
    media_roles=frozenset({"user", "tool"}),
    media_kinds=frozenset({"image", "document", "video"}),
    max_cache_marks=4,
    cache_marks_by_life=True,
    cache_marks_anywhere=False,
)
#: Llama, Mistral and others there: results stand alone in their message, so that the assistant has to speak after them.
_BEDROCK_PURE = attrs.evolve(
    _BEDROCK_NOVA, name="bedrock.pure_results", provider="bedrock", mixed_results=False, assistant_after_results=True
)


def _on_bedrock(profile: ProviderProfile) -> ProviderProfile:
    """A profile of Anthropic's own API as Converse has it."""
    return attrs.evolve(
        profile,
        name=profile.name.replace("anthropic", "bedrock.claude"),
        api=_BEDROCK_NOVA.api,
        signed_by=frozenset({"bedrock.converse", "bedrock"}),
        system_place="field",
        alternation=True,
        empty_results=False,
        id_pattern=_BEDROCK_NOVA.id_pattern,
        media_kinds=_BEDROCK_NOVA.media_kinds,
        cache_marks_anywhere=False,
        compaction="none",
    )


#: OpenAI-compatible hosts: one or more rules each of their own.
_COMPATIBLE = ProviderProfile(
    name="compatible",
    api="openai.chat",
    provider="",
    id_pattern=r"[\s\S]{1,64}",
    arguments="object",
    thinking="text",
    media_kinds=frozenset({"image"}),
)
#: What is valid wherever OpenAI's chat form is spoken: for models that nothing is known of.
_CAUTIOUS = attrs.evolve(
    _COMPATIBLE,
    name="cautious",
    system_place="first",
    first_user=True,
    alternation=True,
    last_user=True,
    refused_text="blank",
    trailing_space=False,
    id_pattern=r"[a-zA-Z0-9_-]{1,40}",
    unique_ids="conversation",
    max_messages=2048,
    max_tools=128,
)
_MISTRAL = attrs.evolve(
    _COMPATIBLE,
    name="mistral",
    provider="mistral",
    thinking="none",  # fields that it does not know are refused
    last_user=True,
    prefill="flag",
    assistant_after_results=True,
    id_pattern=r"[a-zA-Z0-9]{9}",
    id_length=9,
    media_kinds=_BOTH,
)
_DEEPSEEK = attrs.evolve(_COMPATIBLE, name="deepseek", provider="deepseek", prefill="flag", signed_by=frozenset({"deepseek"}))
_DEEPSEEK_THINKING = attrs.evolve(_DEEPSEEK, name="deepseek.thinking", first_user=True, alternation=True, reasoning_echo="always")
_MOONSHOT = attrs.evolve(
    _COMPATIBLE,
    name="moonshot",
    provider="moonshot",
    refused_text="blank",
    signed_by=frozenset({"moonshot"}),
    id_pattern=r"[a-zA-Z0-9_.:-]{1,64}",
    max_messages=2048,
)
_CHAT_TEMPLATE = attrs.evolve(
    _COMPATIBLE, name="chat_template", system_place="first", first_user=True, alternation=True, last_user=True
)

#: All profiles by name.
PROFILES: Mapping[str, ProviderProfile] = {
    profile.name: profile
    for profile in (
        _OPENAI_CHAT,
        _OPENAI_REASONING,
        _OPENAI_WITHOUT_SYSTEM,
        _OPENAI_RESPONSES,
        _ANTHROPIC_CLASSIC,
        _ANTHROPIC_4_6,
        _ANTHROPIC_MIDDLE,
        _ANTHROPIC_BOUND,
        _ANTHROPIC_BOUND_MIDDLE,
        _GEMINI_2,
        _GEMINI_3,
        _VERTEX_2,
        _VERTEX_3,
        _on_bedrock(_ANTHROPIC_CLASSIC),
        _on_bedrock(_ANTHROPIC_4_6),
        _on_bedrock(_ANTHROPIC_BOUND),
        _BEDROCK_NOVA,
        _BEDROCK_PURE,
        _MISTRAL,
        _DEEPSEEK,
        _DEEPSEEK_THINKING,
        _MOONSHOT,
        attrs.evolve(_MOONSHOT, name="moonshot.thinking", reasoning_echo="always"),
        attrs.evolve(_COMPATIBLE, name="qwen", provider="qwen", max_cache_marks=4),
        attrs.evolve(_COMPATIBLE, name="open_model_hosts", refused_text="empty", thinking="none"),  # Groq refuses unknown fields
        attrs.evolve(_COMPATIBLE, name="xai", provider="xai", refused_text="empty"),
        attrs.evolve(_COMPATIBLE, name="cohere", provider="cohere", refused_text="empty"),
        attrs.evolve(_CHAT_TEMPLATE, name="perplexity", provider="perplexity", first_user=False),
        _CHAT_TEMPLATE,
        _CAUTIOUS,
    )
}
