"""One spelling of a host, so that `https://API.example/v1` and `api.example` are one key."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

__all__ = ["host_name", "is_this_machine"]

_DEFAULT_PORT = {"http": 80, "https": 443}
_VERSION = re.compile(r"/v\d+(?:beta|alpha)?\d*$")


def host_name(host: str) -> str:
    """The host in small letters with its path, without scheme, credentials, default port, query and the API's version.

    A path stays, since one host may offer several plans under several paths: `api.example/coding/v1` is
    `api.example/coding`. What is no URL is only put in small letters.
    """
    text = host.strip()
    try:
        parts = urlsplit(text if "://" in text else f"//{text}")
        name, port = parts.hostname or "", parts.port
    except ValueError:
        return text.lower()
    if not name:
        return text.lower()
    name = f"[{name}]" if ":" in name else name
    if port is not None and port != _DEFAULT_PORT.get(parts.scheme or "https"):
        name = f"{name}:{port}"
    return name + _VERSION.sub("", parts.path.rstrip("/"))


def is_this_machine(host: str) -> bool:
    """Whether a `host_name` is a loopback address: what runs there is known to nobody else."""
    name = host.partition("/")[0]
    return name.startswith(("localhost", "127.", "[::1]", "0.0.0.0"))
