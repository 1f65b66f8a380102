"""Which number for the window and its slices counts: explicit before sources in their order before defaults, field by field."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from contextport.contracts import Budget, InvalidArgument, Limits, LimitsSource

__all__ = ["resolve_budget"]


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
) -> Budget:
    """The budget for `model` on `host`, in tokens, with the origin of each number in `Budget.sources` (R72).

    For each of window, max_output and max_input: the argument if there is one, else the first of `sources` that knows it, else
    the default of `Budget` (128 000 and 64 000). A model table goes before the environment in `sources`. Nothing is read from
    anywhere else, and no source is asked when all three are given.

    The input is the smaller of window - max_output and max_input. A `max_output` given here is taken as it is. One from a
    source or the default yields to the floor of 4 000 input tokens, and to the window itself (`Budget.from_limits`): ask the
    model for at most `Budget.output_reserve`.

        resolve_budget().usable_input                                                            # 64 000
        resolve_budget(max_output=4_000, system_reserve=2_000, tool_reserve=3_000).history_budget  # 119 000

    Raises `InvalidArgument` for a number that is 0, negative or not an int, and for a source that raises it; `BudgetTooSmall`
    when `max_output` or the reserves leave nothing of the window.
    """
    explicit = {"window": window, "max_input": max_input, "max_output": max_output}
    found = {name: _tokens(name, value) for name, value in explicit.items() if value is not None}
    origins = dict.fromkeys(found, "explicit")
    for source in sources:
        missing = explicit.keys() - found.keys()
        limits = source.limits(model, host) if missing else None
        if limits is None:
            continue
        known = {name: value for name in missing if (value := getattr(limits, name)) is not None}
        found |= known
        origins |= dict.fromkeys(known, limits.source)
    budget = Budget.from_limits(
        Limits(window=found.get("window"), max_input=found.get("max_input"), max_output=found.get("max_output")),
        system_reserve=system_reserve,
        tool_reserve=tool_reserve,
        origins=origins,
    )
    return budget if max_output is None else attrs.evolve(budget, output_reserve=max_output)


def _tokens(name: str, value: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value <= 0:
        raise InvalidArgument(
            f"{name} is {value!r}; give a positive number of tokens, or nothing to have it looked up", name=name, value=value
        )
    return value
