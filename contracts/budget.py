"""How many tokens a window has and who may use them.

Two ways to state it, one rule behind both (D1): what can be measured is measured, and a reserve is the least that its slice
takes, never something added on top of the measured size.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from attrs import frozen

from .errors import BudgetTooSmall, InvalidArgument

__all__ = ["Budget", "Limits"]


@frozen(kw_only=True)
class Limits:
    """What a model on a host allows, in tokens; None is unknown. `source` says where each number that is set came from."""

    window: int | None = None
    max_input: int | None = None
    max_output: int | None = None
    source: str = "unknown"

    def __attrs_post_init__(self) -> None:
        for name in ("window", "max_input", "max_output"):
            value = getattr(self, name)
            if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value <= 0):
                raise InvalidArgument(
                    f"{name} is {value!r} ({self.source}); it must be a positive number of tokens, or absent if unknown",
                    name=name,
                    value=value,
                    source=self.source,
                )


@frozen(kw_only=True)
class Budget:
    """The slices of one context window, in tokens.

    `window` holds everything: input and answer. `output_reserve` is kept free for the answer. `system_reserve` is the least
    that system prompt and tool schemas take together, `tool_reserve` the least that retrieved text takes. `max_input` is a
    provider's separate input limit. `sources` names where each number came from.

    Raises `BudgetTooSmall` when the reserves leave nothing of the window, `InvalidArgument` for a negative number.
    """

    window: int
    output_reserve: int = 0
    system_reserve: int = 0
    tool_reserve: int = 0
    max_input: int | None = None
    sources: tuple[tuple[str, str], ...] = ()

    #: Reserves of a 128 000 token window that leave 119 000 for the history (R75).
    DEFAULT_RESERVES: ClassVar[dict[str, Any]] = {  # Any: for `Budget(window=128_000, **Budget.DEFAULT_RESERVES)`
        "system_reserve": 2_000,
        "output_reserve": 4_000,
        "tool_reserve": 3_000,
    }
    #: Defaults of window and answer when nothing tells better (R71, R72).
    DEFAULT_WINDOW: ClassVar[int] = 128_000
    DEFAULT_MAX_OUTPUT: ClassVar[int] = 64_000
    #: The input that resolved limits leave at least, as far as the real window allows (R74, D18).
    FLOOR: ClassVar[int] = 4_000

    def __attrs_post_init__(self) -> None:
        for name in ("window", "output_reserve", "system_reserve", "tool_reserve", "max_input"):
            value = getattr(self, name)
            if value is None and name == "max_input":
                continue
            if isinstance(value, bool) or not isinstance(value, int) or value < 0:
                raise InvalidArgument(f"{name} is {value!r}; it must be a number of tokens, 0 or more", name=name, value=value)
        if self.history_budget <= 0:
            reserved = self.window - self.usable_input + self.system_reserve + self.tool_reserve
            limit = "" if self.max_input is None else f", input limit {self.max_input}"
            raise BudgetTooSmall(
                f"the window of {self.window} tokens leaves {self.history_budget} for messages: {reserved} are not for them "
                f"(output {self.output_reserve}, system {self.system_reserve}, tools {self.tool_reserve}{limit}); "
                "lower a reserve or use a larger window",
                needed=reserved + 1,
                available=self.window,
            )

    @classmethod
    def of(cls, tokens: int) -> Budget:
        """A budget of `tokens` for all that is sent, system prompt included; nothing reserved."""
        return cls(window=tokens)

    @classmethod
    def from_limits(
        cls,
        limits: Limits,
        *,
        system_reserve: int = 0,
        tool_reserve: int = 0,
        origins: Mapping[str, str] | None = None,
    ) -> Budget:
        """The budget of known limits: input = window - max_output, at least `FLOOR` (R71, R74, D18), at most `max_input`.

        What is unknown: the window is `max_input`, else `DEFAULT_WINDOW`; the answer is `DEFAULT_MAX_OUTPUT`, at most half of
        the window. A `max_output` as large as the window is a cap that tells nothing about answers, so it counts as unknown.
        In a window too small for `FLOOR` the answer keeps a quarter. `output_reserve` is what is left, so it may be less than
        `max_output`: it is the most to ask of the model. `origins` says by field where its number came from, if it was not
        `limits.source`.
        """
        window = limits.window or limits.max_input or cls.DEFAULT_WINDOW
        answer = limits.max_output if limits.max_output and limits.max_output < window else None
        usable = window - (answer or min(cls.DEFAULT_MAX_OUTPUT, window // 2))
        named = dict.fromkeys(("window", "max_input", "max_output"), limits.source) | dict(origins or {})
        window_origin = named["window" if limits.window else "max_input"] if limits.window or limits.max_input else "default"
        sources = [("window", window_origin), ("output_reserve", named["max_output"] if answer else "default")]
        if limits.max_input:
            sources.append(("max_input", named["max_input"]))
        return cls(
            window=window,
            output_reserve=window - max(usable, min(cls.FLOOR, window - window // 4)),
            system_reserve=system_reserve,
            tool_reserve=tool_reserve,
            max_input=limits.max_input,
            sources=tuple(sources),
        )

    @property
    def usable_input(self) -> int:
        """Tokens that one request may send: window - output_reserve, or the provider's input limit if that is less (R71)."""
        free = self.window - self.output_reserve
        return free if self.max_input is None else min(free, self.max_input)

    @property
    def history_budget(self) -> int:
        """Tokens for messages when every other slice takes just its reserve (R75)."""
        return self.usable_input - self.system_reserve - self.tool_reserve

    def room(self, *, system: int = 0, tools: int = 0, retrieved: int = 0) -> int:
        """Tokens left for messages beside what was measured: system prompt, tool schemas, retrieved text. May be negative."""
        return self.usable_input - max(self.system_reserve, system + tools) - max(self.tool_reserve, retrieved)
