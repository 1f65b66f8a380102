"""Which number for the window and its slices counts: explicit before sources in their order before defaults, field by field."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs

from contextport.contracts import Budget, Event, EventKind, EventSink, InvalidArgument, Limits, LimitsSource

__all__ = ["resolve_budget"]

_LOOKED_UP = ("window", "max_input", "max_output", "output_shares_window", "entitlement", "soft_limit")


def resolve_budget(
    *,
    model: str = "",
    host: str = "",
    window: int | None = None,
    max_output: int | None = None,
    max_input: int | None = None,
    system_reserve: int = 0,
    tool_reserve: int = 0,
    sources: Sequence[LimitsSource] = (),
    sink: EventSink | None = None,
) -> Budget:
    """The budget for `model` on `host`, in tokens, with the origin of each number in `Budget.sources` (R72).

    For each number: the argument if there is one, else the first of `sources` that knows it, else the default of `Budget`
    (128 000 and 64 000). The order to give sources in: what the host itself says (`LiveLimits`), what its errors said
    (`LearntLimits`), registries and tables, the environment. Nothing is read from anywhere else, and no source is asked when
    all three numbers are given here. A `max_input` given here stands for what the account may send, too.

    The input is the smallest of window - max_output, max_input, and entitlement. A `max_output` given here is taken as it is.
    One from a source or the default yields to the floor of 4 000 input tokens, and to the window itself
    (`Budget.from_limits`): ask the model for at most `Budget.output_reserve`.

        resolve_budget().usable_input                                                            # 64 000
        resolve_budget(max_output=4_000, system_reserve=2_000, tool_reserve=3_000).history_budget  # 119 000

    When nothing knows the window, `sink` receives one `limits_defaulted` event: a default that is too large costs a refused
    request, one that is too small wastes the rest of the window.

    Raises `InvalidArgument` for a number that is 0, negative or not an int, and for a source that raises it; `BudgetTooSmall`
    when `max_output` or the reserves leave nothing of the window.
    """
    explicit = {"window": window, "max_input": max_input, "max_output": max_output}
    found: dict[str, Any] = {name: _tokens(name, value) for name, value in explicit.items() if value is not None}
    origins = dict.fromkeys(found, "explicit")
    for source in sources if len(found) < len(explicit) else ():
        limits = source.limits(model, host)
        if limits is not None:
            known = {name: value for name in _LOOKED_UP if (value := getattr(limits, name)) is not None and name not in found}
            found |= known
            origins |= dict.fromkeys(known, limits.source if limits.as_of is None else f"{limits.source}, as of {limits.as_of}")
    if max_input is not None:
        found.pop("entitlement", None)
    budget = Budget.from_limits(Limits(**found), system_reserve=system_reserve, tool_reserve=tool_reserve, origins=origins)
    if max_output is not None:
        budget = attrs.evolve(budget, output_reserve=max_output)
    if sink is not None and not found.keys() & {"window", "max_input"}:
        sink.emit(
            Event(kind=EventKind.LIMITS_DEFAULTED, session_id="", data={"model": model, "host": host, "window": budget.window})
        )
    return budget


def _tokens(name: str, value: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value <= 0:
        raise InvalidArgument(
            f"{name} is {value!r}; give a positive number of tokens, or nothing to have it looked up", name=name, value=value
        )
    return value
