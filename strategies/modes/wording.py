"""How people say that they begin something new, or mean what was said before, or what is written elsewhere.

The wordings stand in text files beside this module: one regular expression a line, languages apart, for small letters, plain
apostrophes and single spaces. What begins a task has to open the message and stand by itself, since a reset that nobody asked
for hides what people still talk about; what reaches back may stand anywhere.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from typing import Final, Literal

__all__ = ["Wording", "wording"]

Wording = Literal["acknowledges", "asks", "commands", "from_outside", "may_be_new", "may_reach_back", "new_task", "reaches_back"]

_STANDS_FOR: Final = {
    # The words stand by themselves; or they do, and the sentence ends.
    "<end>": r"\s*(?:[:.!;,\u2013\u2014\uff1a\u3002\uff01\uff0c\uff1b\u3001]|\s-\s|$)",
    "<stop>": r"\s*(?:[.!\u3002\uff01:\uff1a\u2026~\uff5e]|$)",
    "<said>": "said|told|mentioned|agreed|discussed|decided|talked|suggested|proposed|promised|wrote|gave|asked|listed|noted"
    "|recommended|planned",
    "<past>": r"earlier|before|previously|last (?:time|week|month|night|session)|yesterday|(?:the other|last) \w+day"
    "|in the beginning|initially|originally",
}


@cache
def wording(name: Wording) -> re.Pattern[str]:
    """Matches each of the wordings of a file."""
    lines = (files("contextport.strategies.modes") / "wordings" / f"{name}.txt").read_text("utf-8").splitlines()
    patterns = "|".join([f"(?:{line})" for line in lines if line and not line.startswith("#")])
    for mark, pattern in _STANDS_FOR.items():
        patterns = patterns.replace(mark, pattern)
    return re.compile(patterns)
