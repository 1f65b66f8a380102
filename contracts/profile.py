"""What a provider accepts, as data: the profile that rules and repairs, codecs and continuation read."""

from __future__ import annotations

from typing import Literal, TypeAlias

from attrs import field, frozen

from .messages import Role

__all__ = ["MediaLimits", "Prefill", "ProviderProfile", "SystemPlace"]

SystemPlace: TypeAlias = Literal["anywhere", "first", "field", "field_and_middle"]
Prefill: TypeAlias = Literal["no", "last_assistant", "flag"]


@frozen(kw_only=True)
class MediaLimits:
    """How much media one request may hold; None is unlimited or unknown.

    `max_side` is the longest side of an image in pixels. Where more than `many` images are sent it is `max_side_of_many`.
    `max_bytes_each` counts the base64 text of one item, `max_bytes` that of all media and the text of the messages.
    """

    max_images: int | None = None
    max_side: int | None = None
    many: int | None = None
    max_side_of_many: int | None = None
    max_bytes_each: int | None = None
    max_bytes: int | None = None


@frozen(kw_only=True)
class ProviderProfile:
    """The rules of one provider family for the messages of a request.

    Each field states one rule; its comment says who enforces it. The defaults are those of an API without rules. What is said
    about a role is about the wire: the results of tools are user messages there where `results_as` says so.
    """

    name: str  # of the profile, such as `anthropic.prefix_bound`
    api: str  # of the codec that encodes for it, such as `anthropic.messages`
    provider: str  # whose models it is about, such as `anthropic`
    #: The model it was looked up for, without provider prefixes and date; empty in a profile of a whole family.
    model: str = ""

    # --- roles -----------------------------------------------------------------------------------------------------------
    #: Roles that the API knows (V16). `developer` is OpenAI's own; a chat template that lacks system messages has no `system`.
    roles: frozenset[Role] = frozenset({"system", "user", "assistant", "tool"})
    #: As what a system or developer message of an unknown role is sent (V16); `user` where the system cannot speak at all.
    system_role: Role = "system"
    #: The wire role of tool results (V03): a user message for Anthropic, Bedrock and Gemini, one of its own elsewhere.
    results_as: Literal["tool", "user"] = "tool"
    #: Where system messages may stand (V15). `anywhere`: OpenAI. `first`: one message, at the start (chat templates).
    #: `field`: apart from the messages (Anthropic, Bedrock, Gemini). `field_and_middle`: also behind a user turn, where it is
    #: last or stands before an assistant turn (Anthropic from Opus 4.8 on).
    system_place: SystemPlace = "anywhere"
    #: What becomes of a system message where it may not stand (V15): `hoist` puts it to those at the start, with all of its
    #: authority; `user` leaves it in its place, as words of the user.
    misplaced_system: Literal["hoist", "user"] = "hoist"
    #: The role of summaries, facts, retrieved text and gap messages (V15): `user` unless the system has to say them.
    summary_role: Literal["user", "system"] = "user"

    # --- order -----------------------------------------------------------------------------------------------------------
    #: Whether the first message that is not the system's must be the user's own (V02): Anthropic, Bedrock, Gemini, templates.
    first_user: bool = False
    #: Whether neighbours must have different wire roles (V03): Bedrock, chat templates, Perplexity.
    alternation: bool = False
    #: Whether the last message must be the user's or a tool's (V12): Anthropic from 4.6 on, Mistral, Vertex.
    last_user: bool = False
    #: How an assistant message that is last is continued (V12): not at all, as it stands, or if it is flagged (`prefix: true`).
    prefill: Prefill = "no"
    #: Whether an assistant message must follow a tool block (V14): Mistral, and where results stand alone in a user message.
    assistant_after_results: bool = False
    #: Whether a step has exactly as many results as calls (V23): Gemini.
    parity: bool = False
    #: Whether a message with calls must follow a user message or results (V24): Gemini.
    calls_after_user: bool = False

    # --- content ---------------------------------------------------------------------------------------------------------
    #: Which text parts are refused (V10): none, empty ones, or also those of white space (Anthropic, Bedrock).
    refused_text: Literal["none", "empty", "blank"] = "none"
    #: Whether a tool result without any content is accepted (V10); Bedrock wants a block in it.
    empty_results: bool = True
    #: Whether an assistant message without text, call or other content is accepted (V11): nowhere that is known.
    hollow_assistant: bool = False
    #: Whether reasoning alone is content enough (V11): where it may not be left out, since later reasoning is bound to it.
    thinking_alone: bool = False
    #: Whether the text of a last assistant message may end in white space (V13); Anthropic refuses it.
    trailing_space: bool = True
    #: Whether a message with results may hold anything else (V29): not for Llama and Mistral on Bedrock, and Gemini.
    mixed_results: bool = True

    # --- tools -----------------------------------------------------------------------------------------------------------
    #: Regular expression that a whole call id matches (V08); None takes any.
    id_pattern: str | None = None
    #: Length of the ids that a repair makes of hex digits (V07, V08). They have to match `id_pattern`.
    id_length: int = 24
    #: Within what call ids are unique (V07): the conversation for Anthropic, else the messages of one step.
    unique_ids: Literal["conversation", "step"] = "step"
    #: What the argument string of a call must be (V09): anything, JSON, or a JSON object.
    arguments: Literal["any", "json", "object"] = "any"
    #: Whether tools must be declared while messages hold calls or results (V28), and the called ones by name.
    declared_tools: Literal["no", "some", "each"] = "no"
    #: Whether a call and its result of a tool run by the provider stand and fall together (V34).
    server_pairs: bool = True

    # --- reasoning -------------------------------------------------------------------------------------------------------
    #: In what form reasoning is taken back (V22): not at all, as signed blocks, encrypted items, or plain text.
    thinking: Literal["none", "signed", "encrypted", "text"] = "none"
    #: Names under which valid signatures are known in `Thinking.origin[0]`: providers or apis (V22).
    signed_by: frozenset[str] = frozenset()
    #: Which models' signatures are valid (V22): of any model there, or of this one (`model`).
    signatures_of: Literal["provider", "model"] = "provider"
    #: Whether, with thinking on, the last assistant message of an open tool loop begins with it (V17): Claude with a budget
    #: of thinking tokens.
    thinking_first: bool = False
    #: Whether signed reasoning must be as it was received (V18).
    thinking_frozen: bool = False
    #: What reasoning is bound to (V19): nothing, its turn, or all that was before it, system prompt and tools included.
    thinking_bound_to: Literal["nothing", "turn", "prefix"] = "nothing"
    #: What becomes of reasoning whose prefix was changed (V19): it is taken out (`drop`), or the provider is told to do so by a
    #: request setting that the host sends (`drop_block`, which is then in `Repaired.needs`).
    stale_thinking: Literal["drop", "drop_block"] = "drop"
    #: Whether a reasoning item needs the item after it, and that item its reasoning (V20): OpenAI Responses.
    item_pairs: bool = False
    #: Whether the first call of each step of the current turn carries a signature (V21): Gemini 3 and later.
    thought_signatures: bool = False
    #: The signature that is accepted in the place of a missing one (V21); empty where there is none.
    signature_stand_in: str = ""
    #: Which assistant messages with calls must carry their reasoning text (V25): DeepSeek and Moonshot when thinking.
    reasoning_echo: Literal["no", "open_loop", "always"] = "no"

    # --- media, marks, counts --------------------------------------------------------------------------------------------
    #: In the messages of which roles media may stand, `tool` for inside of results (V26).
    media_roles: frozenset[Role] = frozenset({"user"})
    #: Which media are taken at all (V26).
    media_kinds: frozenset[str] = frozenset({"image", "audio", "video", "document"})
    media_limits: MediaLimits = field(factory=MediaLimits)  # V27
    #: How many cache marks a request may have (V30); None where the codec leaves them out, so that there is no rule.
    max_cache_marks: int | None = None
    #: Whether a mark with a longer life must stand before those with a shorter one (V30): Anthropic.
    cache_marks_by_life: bool = False
    #: Whether a mark may stand first in a message or behind a document (V30); not for Bedrock.
    cache_marks_anywhere: bool = True
    #: Where the provider's own compaction item stands (V31): it has none, first in its message, or anywhere.
    compaction: Literal["none", "first_block", "anywhere"] = "none"
    max_messages: int | None = None  # of the wire (V32)
    max_tools: int | None = None  # V32
