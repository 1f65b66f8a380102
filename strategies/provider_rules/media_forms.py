"""In which form media can be said on each wire, as data: what cannot would be left out of the request, its message with it."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping

from attrs import frozen

from contextport.contracts import Media, Message

__all__ = ["can_be_said"]

_PICTURES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
_STARTS = {"iVBORw0KGgo": "image/png", "/9j/": "image/jpeg", "R0lGOD": "image/gif", "UklGR": "image/webp"}
_OFFICE = "application/vnd.openxmlformats-officedocument."
_DOCUMENTS = frozenset(
    {
        "application/pdf",
        "application/msword",
        "application/vnd.ms-excel",
        f"{_OFFICE}wordprocessingml.document",
        f"{_OFFICE}spreadsheetml.sheet",
        "text/csv",
        "text/html",
        "text/plain",
        "text/markdown",
    }
)
_VIDEOS = frozenset(f"video/{name}" for name in ("mp4", "quicktime", "x-matroska", "webm", "x-flv", "mpeg", "x-ms-wmv", "3gpp"))
_WEB = ("https://", "http://")


@frozen(kw_only=True)
class _Forms:
    """MIME types of data, starts of URLs, and whether file ids are taken.

    None is any type, and none at all. A type that ends in `/` stands for all that begin so.
    """

    mimes: frozenset[str] | None = frozenset()
    urls: tuple[str, ...] = ()
    file_ids: bool = False


_FORMS: Mapping[str, Mapping[str, _Forms]] = {
    "openai.chat": {
        "image": _Forms(mimes=None, urls=("",)),
        "audio": _Forms(mimes=frozenset({"audio/wav", "audio/x-wav", "wav", "audio/mpeg", "audio/mp3", "mp3"})),
        "document": _Forms(mimes=None, file_ids=True),
    },
    "openai.responses": {
        "image": _Forms(mimes=None, urls=("",), file_ids=True),
        "document": _Forms(mimes=None, urls=("",), file_ids=True),
    },
    "anthropic.messages": {
        "image": _Forms(mimes=_PICTURES, urls=_WEB),
        "document": _Forms(mimes=frozenset({"application/pdf", "text/"}), urls=_WEB),
    },
    "bedrock.converse": {
        "image": _Forms(mimes=_PICTURES | {"image/jpg"}, urls=("s3://",)),
        "document": _Forms(mimes=_DOCUMENTS, urls=("s3://",)),
        "video": _Forms(mimes=_VIDEOS, urls=("s3://",)),
    },
    "gemini.generate_content": dict.fromkeys(
        ("image", "audio", "video", "document"),
        _Forms(mimes=frozenset({"image/", "audio/", "video/", "text/", "application/", "wav", "mp3"}), urls=(*_WEB, "gs://")),
    ),
}
#: Whose file ids an api takes.
_OPENAI = frozenset({"openai.chat", "openai.responses"})


def can_be_said(media: Media, message: Message, api: str) -> bool:
    """Whether media of a message has a form on the wire of `api`: what came from there has, and what nothing is known of."""
    native = message.native
    if native is not None and native.api == api and media.raw is not None:
        return True
    if api not in _FORMS:
        return True
    forms = _FORMS[api].get(media.media)
    if forms is None:
        return False
    if media.data is not None:
        return bool(media.data) and (forms.mimes is None or _is_of(media, forms.mimes)) and _is_readable(media, api)
    if media.url is not None:
        typed = api != "bedrock.converse" or (forms.mimes is not None and _is_of(media, forms.mimes))  # it names the format
        return typed and bool(media.url) and bool(forms.urls) and media.url.startswith(forms.urls)
    return media.file_id is not None and forms.file_ids and (native is None or native.api in _OPENAI)


def _is_of(media: Media, mimes: frozenset[str]) -> bool:
    data = media.data or ""
    mime = media.mime or next((mime for start, mime in _STARTS.items() if data.startswith(start)), "")
    return mime in mimes or f"{mime.partition('/')[0]}/" in mimes


def _is_readable(media: Media, api: str) -> bool:
    """Whether the data can be decoded where a codec has to: bytes for Bedrock, the text of a text document for Anthropic."""
    as_text = api == "anthropic.messages" and media.media == "document" and (media.mime or "").startswith("text/")
    if not as_text and api != "bedrock.converse":
        return True
    try:
        content = base64.b64decode(media.data or "", validate=as_text)
        return content.decode() is not None if as_text else bool(content)
    except (binascii.Error, ValueError):
        return False
