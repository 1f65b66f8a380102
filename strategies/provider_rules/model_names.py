"""What a model's name says: its host, its family and version, without prefixes and dates."""

from __future__ import annotations

import re
from functools import lru_cache

from attrs import frozen

__all__ = ["ModelName", "model_name", "plain_name"]

_REGIONS = r"(?:us|eu|apac|ap|jp|au|ca|sa|global|us-gov)"
_VENDORS = r"(?:anthropic|amazon|meta|mistral|cohere|deepseek|qwen|moonshot|openai|ai21|writer|google|minimax|zai|nvidia)"
_BEDROCK_ID = re.compile(rf"^(?:{_REGIONS}\.)?({_VENDORS})\.(?=[a-z])")
_DATE = re.compile(r"[-@:](?:20\d{2}-?\d{2}-?\d{2}|\d{4}|\d{2}-20\d{2}|latest|default|preview-\d{2}-\d{2,4})$")
_SUFFIX = re.compile(r"(?:-v\d+(?::\d+)*(?::\d+k)?|:(?:free|beta|nitro|floor|thinking|extended|\d+k))$")
_VERSION = re.compile(r"(\d{1,2})(?:-(\d{1,2}))?")


@frozen(kw_only=True)
class ModelName:
    """A model's name in its pieces: `bedrock/us.anthropic.claude-opus-5-5-v1:0` is `claude-opus-5-5` on `bedrock`.

    `host` is the first prefix, or what the form of the name says; empty where it says nothing. `version` is (major, minor) of
    a Claude or Gemini model, (0, 0) if unknown. `line` is `opus`, `sonnet`, `haiku` ... of a Claude model.
    """

    plain: str
    host: str
    line: str = ""
    version: tuple[int, int] = (0, 0)


@lru_cache(maxsize=1024)
def model_name(model: str) -> ModelName:
    """The pieces of a model's name. Any text has some."""
    name = model.strip().lower()
    host = name.partition("/")[0] if "/" in name else ""
    if "arn:aws:bedrock" in name:
        host = "bedrock"
    last = name.rsplit("/", 1)[-1]
    if _BEDROCK_ID.match(last):
        host = host or "bedrock"
        last = _BEDROCK_ID.sub("", last)
    plain = _without_suffixes(re.sub(r"(?<=\d)\.(?=\d)", "-", last))
    if "claude" in plain:
        return _claude(plain, host)
    if "gemini" in plain:
        found = _VERSION.search(plain.partition("gemini")[2])
        version = (int(found[1]), int(found[2] or 0)) if found else (0, 0)
        return ModelName(plain=plain, host=host, version=version)
    return ModelName(plain=plain, host=host)


def plain_name(model: str) -> str:
    """The name without prefixes, date and variant, dots of versions as dashes."""
    return model_name(model).plain


def _without_suffixes(name: str) -> str:
    while True:
        shorter = _SUFFIX.sub("", _DATE.sub("", name))
        if shorter == name or not shorter:
            return name
        name = shorter


def _claude(plain: str, host: str) -> ModelName:
    tokens = plain.partition("claude")[2].split("-")
    numbers = [int(token) for token in tokens if token.isdecimal() and len(token) < 3]
    line = next((token for token in tokens if token.isalpha()), "")
    return ModelName(plain=plain, host=host, line=line, version=(*numbers, 0, 0)[:2])  # type: ignore[arg-type]
