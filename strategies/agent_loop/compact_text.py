"""A text made smaller by a model if there is one, checked, and cut if that does not work out (D17)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Literal

from attrs import frozen

from contextport.contracts import ChatModel, Message, StopReason, Usage, provides
from contextport.strategies.arguments import check_count

from .fit_text import FitPolicy, fit_text
from .hints import Hint, instruction_for

__all__ = ["CompactedText", "Rewrite", "compact_text"]

_FINISHED = frozenset({StopReason.END, StopReason.STOP_SEQUENCE, StopReason.UNKNOWN})

#: Makes a text smaller: (instruction, text) -> text.
Rewrite = Callable[[str, str], Awaitable[str]]


@frozen(kw_only=True)
class CompactedText:
    """The text, how it came about, and why it was cut where a model was asked. Sizes are in the unit of the limit."""

    text: str
    how: Literal["unchanged", "rewritten", "cut"]
    size_before: int
    size: int
    reason: str = ""
    usage: Usage | None = None


async def compact_text(
    text: str,
    hint: Hint | str,
    limit: int,
    summarise: Rewrite | ChatModel | None = None,
    *,
    size: Callable[[str], int] = len,
    unit: str = "characters",
    policy: FitPolicy = "head_and_tail",
    max_input: int | None = None,
) -> CompactedText:
    """The text within `limit`: as it is if it fits, else rewritten by `summarise` for the use that `hint` names, else cut.

    What a model writes is taken only if it was finished, is not empty, and is within the limit, so smaller than the text. A
    failing one is not an error: the text is cut by `fit_text`, and `reason` says why. At most `max_input` of the text is shown
    to it, so that its own window is not exceeded (W10). `size` measures in `unit`, such as `counter.count_text` in `tokens`.
    """
    check_count("limit", limit)
    purpose, before = Hint.of(hint), size(text)
    if before <= limit:
        return CompactedText(text=text, how="unchanged", size_before=before, size=before)
    usage, reason = None, "no model was given"
    if summarise is not None:
        shown = text if max_input is None else fit_text(text, max_input, policy, size=size)
        instruction = instruction_for(purpose, f"{limit} {unit}")
        try:
            rewritten, usage = await _rewritten(summarise, instruction, shown)
        except Exception as error:  # whatever a foreign model raises, the text is cut instead
            reason = f"the model failed: {type(error).__name__}"
        else:
            after = size(rewritten)
            reason = _fault(rewritten, after, limit)
            if not reason:
                return CompactedText(text=rewritten, how="rewritten", size_before=before, size=after, usage=usage)
    cut = fit_text(text, limit, policy, size=size)
    return CompactedText(text=cut, how="cut", size_before=before, size=size(cut), reason=reason, usage=usage)


async def _rewritten(summarise: Rewrite | ChatModel, instruction: str, text: str) -> tuple[str, Usage | None]:
    if not provides(summarise, ChatModel):
        return (await summarise(instruction, text)).strip(), None
    completion = await summarise.complete([Message.system(instruction), Message.user(text)])
    if completion.stop not in _FINISHED:  # cut: what the text came to is missing; refused: the words are not about the text
        return "", completion.usage
    return completion.message.text.strip(), completion.usage


def _fault(rewritten: str, after: int, limit: int) -> str:
    """What is wrong with a rewritten text; empty if nothing is."""
    if not rewritten:
        return "the model wrote nothing, refused, or was cut"
    return f"the model wrote {after}, and {limit} fit" if after > limit else ""
