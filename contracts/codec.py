"""A provider's wire messages and ours: the port of message codecs, and what a conversion may lose."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any

from attrs import field, frozen

from .messages import Json, Message
from .port import Port

__all__ = ["Encoded", "Loss", "LossKind", "MessageCodec"]


class LossKind(StrEnum):
    """What of a message has no place in the target's form."""

    THINKING = "thinking"  # reasoning, with or without a signature, that is not valid there
    SIGNATURE = "signature"  # the text of a reasoning or call went along, its signature did not
    MEDIA = "media"  # a part of a kind that the target does not take there
    MEDIA_MOVED = "media_moved"  # media of a tool result stands in a user message after it
    STATUS = "status"  # whether a tool result is an error
    STRUCTURE = "structure"  # structured content went along as text
    ORDER = "order"  # text and calls of one message changed places
    ARGUMENTS = "arguments"  # the exact argument string became an object, or the other way about
    CITATIONS = "citations"
    CACHE_MARK = "cache_mark"
    NAME = "name"
    SERVER_TOOL = "server_tool"  # a call the provider ran itself, or its result
    OPAQUE = "opaque"  # a part of a type that only its own provider knows
    ID = "id"  # a call id was mapped to the target's form
    ROLE = "role"  # the message went along under another role
    REFUSAL = "refusal"
    PHASE = "phase"  # whether the model meant a message as commentary or as its final answer


@frozen(kw_only=True)
class Loss:
    """Something that the wire form does not say, or says otherwise. `part` is the index into the message's parts, -1 for all."""

    kind: LossKind
    message_id: str
    part: int = -1
    detail: str = ""


@frozen(kw_only=True)
class Encoded:
    """A conversation in a provider's form.

    `request` holds the request fields that carry it, and no others, so that a call is `client.create(model=..., **request)`:
    `{"messages": [...]}`, `{"system": ..., "messages": [...]}`, `{"contents": [...], "system_instruction": ...}`.
    """

    request: dict[str, Any] = field(repr=False)
    losses: tuple[Loss, ...] = ()


class MessageCodec(Port):
    """Translates between a provider's messages and ours.

    A request is a mapping of the request fields that carry the conversation, as in `Encoded`; fields of other meaning
    (`model`, `tools`, `max_tokens`) are not the codec's: `decode` ignores them.

    Obligations
        CODEC-1   `encode(decode(request))` is `request` again, equal as JSON text with its key order, and without losses, as
                  long as no message was edited; also after the messages went through `dump_message` and `load_message`.
        CODEC-2   `decode` neither changes nor keeps what it was given; changing an `Encoded.request` changes no message.
        CODEC-3   The calls that were made together stand in one assistant message, each with its exact id, and each result has
                  the id of its call, so that steps can be told (`arrange`).
        CODEC-4   Blocks of unknown type come back unchanged (`Opaque`); none is dropped without a loss.
        CODEC-5   Messages of any origin can be encoded. What the request does not say is in `losses`; text, calls and results
                  are always said.
        CODEC-6   `strict=True` raises `EncodingLossy` with the losses where there is one.
        CODEC-7   A signature, or encrypted reasoning, of another api is never in the request.
        CODEC-8   What cannot be a message of this api raises `InvalidMessage` with the path of what is wrong.
        CODEC-9   The request can be written as UTF-8 JSON: lone surrogates become U+FFFD.
        CODEC-10  Editing one message (`attrs.evolve(message, parts=...)`) changes only what it says: every other message is
                  encoded as before, and the new content is in the request.
        CODEC-11  Different call ids stay different, and a call and its result have the same id, also where ids are mapped to
                  the target's form. The same conversation has the same request.
        CODEC-12  A system message comes back with role system and its text, and is encoded where the api has its place.

    Caller guarantees
        Call ids are unique in what is encoded, and calls are answered (`arrange`, or a provider profile's repairs).
    Errors
        `InvalidMessage`, `EncodingLossy`.
    Concurrency: any thread. Lifetime: usable from construction on; keeps nothing between calls.
    Latitude
        How a foreign message is put in the target's form, as long as nothing is said that the message does not say.
    """

    @property
    def api(self) -> str:
        """The wire form, such as `anthropic.messages`; it stands in `Native.api` of what is decoded."""
        ...

    def decode(self, request: Mapping[str, Json]) -> tuple[Message, ...]:
        """The messages of a request, system prompt first where the api has a field for it."""
        ...

    def encode(self, messages: Sequence[Message], *, strict: bool = False) -> Encoded:
        """The request fields that carry `messages`, and what they do not say."""
        ...
