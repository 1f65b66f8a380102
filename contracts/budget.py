"""How many tokens a window has and who may use them.

Two ways to state it, one rule behind both (D1): what can be measured is measured, and a reserve is the least that its slice
takes, never something added on top of the measured size.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any, ClassVar

from attrs import evolve, frozen

from .errors import BudgetTooSmall, InvalidArgument

__all__ = ["Budget", "Limits"]

_NUMBERS = ("window", "max_input", "max_output", "output_shares_window", "entitlement", "soft_limit")


@frozen(kw_only=True)
class Limits:
    """What a model on a host allows, in tokens; None is unknown. `source` says where each number that is set came from.

    `window` holds input and answer, unless `output_shares_window` is false: then the answer has a room of its own. `max_input`
    is the host's limit of the input alone, `entitlement` the most that this account may send, such as 200 000 without an
    option for long input. Above `soft_limit` a request costs more per token; nothing is refused there. `as_of` is the day of
    the numbers, as an ISO date.

    The usable input is the smallest of window - output, `max_input` and `entitlement`: see `Budget.from_limits`.
    Raises `InvalidArgument` for what is no positive number of tokens, and for an `as_of` that is no date.
    """

    window: int | None = None
    max_input: int | None = None
    max_output: int | None = None
    output_shares_window: bool | None = None
    entitlement: int | None = None
    soft_limit: int | None = None
    source: str = "unknown"
    as_of: str | None = None

    def __attrs_post_init__(self) -> None:
        for name in ("window", "max_input", "max_output", "entitlement", "soft_limit"):
            value = getattr(self, name)
            if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value <= 0):
                raise InvalidArgument(
                    f"{name} is {value!r} ({self.source}); it must be a positive number of tokens, or absent if unknown",
                    name=name,
                    value=value,
                    source=self.source,
                )
        if self.as_of is not None and not _is_date(self.as_of):
            raise InvalidArgument(
                f"as_of is {self.as_of!r} ({self.source}); it must be a date such as 2026-01-31, or absent if unknown",
                name="as_of",
                value=self.as_of,
                source=self.source,
            )

    def tightened(self, other: Limits) -> Limits:
        """These limits with each number of `other` that is smaller, or unknown here, in its place; `source` names both."""
        numbers = ("window", "max_input", "max_output", "entitlement", "soft_limit")
        least: dict[str, Any] = {name: _least(getattr(self, name), getattr(other, name)) for name in numbers}
        if all(least[name] == getattr(self, name) for name in numbers):
            return self
        return evolve(self, **least, source=f"{self.source}, {other.source}")


def _least(one: int | None, other: int | None) -> int | None:
    return min([number for number in (one, other) if number is not None], default=None)


def _is_date(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text
    except (TypeError, ValueError):
        return False


@frozen(kw_only=True)
class Budget:
    """The slices of one context window, in tokens.

    `window` holds everything: input and answer. `output_reserve` is kept free for the answer, and the most to ask of the model;
    with `output_shares_window` false the answer has a room of its own, and nothing is kept free. `system_reserve` is the least
    that system prompt and tool schemas take together, `tool_reserve` the least that retrieved text takes. `max_input` is a
    separate limit of the input, a provider's or that of the account. `soft_limit` is the input above which each token costs
    more: it is told, and never enforced. `sources` names where each number came from.

    Raises `BudgetTooSmall` when the reserves leave nothing of the window, `InvalidArgument` for a negative number.
    """

    window: int
    output_reserve: int = 0
    system_reserve: int = 0
    tool_reserve: int = 0
    max_input: int | None = None
    output_shares_window: bool = True
    soft_limit: int | None = None
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
        for name in ("window", "output_reserve", "system_reserve", "tool_reserve", "max_input", "soft_limit"):
            value = getattr(self, name)
            if value is None and name in ("max_input", "soft_limit"):
                continue
            if isinstance(value, bool) or not isinstance(value, int) or value < 0:
                raise InvalidArgument(f"{name} is {value!r}; it must be a number of tokens, 0 or more", name=name, value=value)
        if self.history_budget <= 0:
            reserved = self.window - self.usable_input + self.system_reserve + self.tool_reserve
            limit = "" if self.max_input is None else f", input limit {self.max_input}"
            output = self.output_reserve if self.output_shares_window else "apart"
            raise BudgetTooSmall(
                f"the window of {self.window} tokens leaves {self.history_budget} for messages: {reserved} are not for them "
                f"(output {output}, system {self.system_reserve}, tools {self.tool_reserve}{limit}); "
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
        """The budget of known limits: the smallest of window - max_output, `max_input` and `entitlement` (R71, R74, D18).

        What is unknown: the window is `max_input`, else `DEFAULT_WINDOW`; the answer is `DEFAULT_MAX_OUTPUT`, at most half of
        the window; the answer shares the window. A `max_output` as large as a shared window is a cap that tells nothing about
        answers, so it counts as unknown.

        The answer yields to `FLOOR` tokens of input; in a window too small for that it keeps a quarter. So `output_reserve` may
        be less than `max_output`: it is the most to ask of the model. An answer with a room of its own yields to nothing.
        `origins` says by field where its number came from, if it was not `limits.source`.
        """
        shares = limits.output_shares_window is not False
        window = limits.window or limits.max_input or cls.DEFAULT_WINDOW
        answer = limits.max_output if limits.max_output and (limits.max_output < window or not shares) else None
        reserve = answer or min(cls.DEFAULT_MAX_OUTPUT, window // 2)
        if shares:
            reserve = window - max(window - reserve, min(cls.FLOOR, window - window // 4))
        bounds = [(size, name) for name in ("max_input", "entitlement") if (size := getattr(limits, name)) is not None]
        max_input, bound = min(bounds, default=(None, ""))
        named = {name: (origins or {}).get(name, limits.source) for name in _NUMBERS} | {"default": "default"}
        sources = {
            "window": named["window" if limits.window else "max_input" if limits.max_input else "default"],
            "output_reserve": named["max_output" if answer else "default"],
        }
        if max_input is not None:
            sources["max_input"] = named[bound]
        for name in ("output_shares_window", "soft_limit"):
            if getattr(limits, name) is not None:
                sources[name] = named[name]
        return cls(
            window=window,
            output_reserve=reserve,
            system_reserve=system_reserve,
            tool_reserve=tool_reserve,
            max_input=max_input,
            output_shares_window=shares,
            soft_limit=limits.soft_limit,
            sources=tuple(sources.items()),
        )

    @property
    def usable_input(self) -> int:
        """Tokens that one request may send: window - output_reserve, or the limit of the input if that is less (R71)."""
        free = self.window - self.output_reserve if self.output_shares_window else self.window
        return free if self.max_input is None else min(free, self.max_input)

    @property
    def history_budget(self) -> int:
        """Tokens for messages when every other slice takes just its reserve (R75)."""
        return self.usable_input - self.system_reserve - self.tool_reserve

    def room(self, *, system: int = 0, tools: int = 0, retrieved: int = 0) -> int:
        """Tokens left for messages beside what was measured: system prompt, tool schemas, retrieved text. May be negative."""
        return self.usable_input - max(self.system_reserve, system + tools) - max(self.tool_reserve, retrieved)
