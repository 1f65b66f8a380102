"""What the rules take for sayable is what codecs say, and what is not is told in words where it stood."""

from __future__ import annotations

import base64
from itertools import product

import pytest

from contextport.contracts import LossKind, Media, Message, ToolResult
from contextport.contracts.profile import ProviderProfile
from contextport.strategies.provider_rules import PROFILES, check, repair
from contextport.strategies.provider_rules.media_forms import can_be_said

from .windows import CODECS, call
from .wire_checker import refusals

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAYAAABytg0kAAAAEklEQVR42mNk+M/wHwMDAwMABQYBAmT0qQAAAABJRU5ErkJggg=="
TEXT = base64.b64encode(b"a,b").decode()
FORMS: tuple[Media, ...] = (
    *(
        Media(media=kind, data=data, mime=mime)  # type: ignore[arg-type]
        for kind, (data, mime) in product(
            ("image", "audio", "video", "document"),
            (
                (PNG, "image/png"),
                (PNG, None),
                (TEXT, None),
                (TEXT, "image/bmp"),
                (TEXT, "image/jpg"),
                (TEXT, "audio/wav"),
                (TEXT, "wav"),
                (TEXT, "audio/wave"),
                (TEXT, "video/mp4"),
                (TEXT, "video/x-msvideo"),
                (TEXT, "application/pdf"),
                (TEXT, "application/zip"),
                (TEXT, "text/csv"),
                (TEXT, "text/x-python"),
                ("/w==", "text/plain"),
                ("????", "text/plain"),
            ),
        )
    ),
    *(
        Media(media=kind, url=url)  # type: ignore[arg-type]
        for kind, url in product(
            ("image", "audio", "video", "document"), ("https://example.org/a", "s3://bucket/a.png", "gs://bucket/a", "file:///a")
        )
    ),
    Media(media="image", url="s3://bucket/a.png", mime="image/png"),
    *(Media(media=kind, file_id="file-1") for kind in ("image", "audio", "video", "document")),
)


@pytest.mark.parametrize("api", CODECS)
def test_the_rules_know_what_the_codec_can_say(api: str) -> None:
    kinds = set().union(*(profile.media_kinds for profile in PROFILES.values() if profile.api == api))
    for media in FORMS:
        message = Message(role="user", parts=(media,))
        left_out = any(loss.kind is LossKind.MEDIA for loss in CODECS[api].encode([message]).losses)
        if media.media in kinds:
            assert can_be_said(media, message, api) is not left_out, media


@pytest.mark.parametrize("profile", PROFILES.values(), ids=list(PROFILES))
def test_no_message_goes_with_media_that_cannot_be_said(profile: ProviderProfile) -> None:
    for media in FORMS:
        asked = Message(role="assistant", parts=(call("c1"),), id="a")
        window = [
            Message(role="user", parts=(media,), id="u"),
            asked,
            Message(role="tool", parts=(ToolResult(call_id="c1", parts=(media,)),), id="t"),
        ]
        repaired = repair(window, profile).messages
        assert check(repaired, profile) == ()
        encoded = CODECS[profile.api].encode(repaired)
        assert not any(loss.kind is LossKind.MEDIA for loss in encoded.losses)
        assert refusals(encoded.request, profile) == []
