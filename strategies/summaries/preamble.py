"""The words with which a model announces a summary: no part of it, and no reason to refuse it."""

from __future__ import annotations

import re

__all__ = ["without_preamble"]

_OPENS = (
    r"(?:(?:sure|of course|certainly|okay|ok|absolutely)[,.!]\s{0,3})?"
    r"(?:here(?:['\u2019]s| is| are| follows)\b|below is\b|the following is\b"
    r"|let me\b|allow me to\b|i will\b|i['\u2019]ll\b|this is\b"
    r"|(?:a |the )?(?:concise |brief |short )?summary\b|hier ist\b|voici\b|aquí (?:está|tienes)\b|ecco\b|вот\b"
    r"|(?:好的[\uff0c,。\uff01!]\s{0,3})?(?:以下(?:是|为)|这是|下面是|总结如下|摘要如下|摘要|总结))"
)
_NAMES = r"summar|recap|overview|digest|zusammenfass|résum|resum|riassun|сводк|резюме|краткое|摘要|总结|概括|小结|要約"
_PREAMBLE = re.compile(
    rf"\s{{0,9}}[*_#\s]{{0,9}}(?={_OPENS})(?=[^\n:\uff1a]{{0,100}}(?:{_NAMES}))[^\n:\uff1a]{{0,140}}[:\uff1a][*_]{{0,3}}\s{{0,9}}(?=\S)",
    re.IGNORECASE,
)


def without_preamble(text: str) -> str:
    """The text after words such as `Here is the summary:`; the text itself where nothing comes after them."""
    found = _PREAMBLE.match(text)
    return text[found.end() :] if found else text
