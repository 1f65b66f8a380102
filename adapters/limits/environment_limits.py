"""Window sizes that the operator sets in the environment."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from attrs import define

from contextport.contracts import InvalidArgument, Limits, LimitsSource, implements

__all__ = ["EnvironmentLimits"]

_VARIABLES = {"window": "LLM_CONTEXT_SIZE", "max_output": "LLM_MAX_OUTPUT_TOKENS"}


@implements(LimitsSource)
@define
class EnvironmentLimits:
    """`LLM_CONTEXT_SIZE` and `LLM_MAX_OUTPUT_TOKENS`, in tokens, for every model and host (R72).

    They are read at each question, so a change of the environment takes effect. A variable that is unset or blank is unknown.
    Raises `InvalidArgument`, naming variable and value, for one that is not a whole number above 0.
    """

    #: Where to read; None is `os.environ`.
    environment: Mapping[str, str] | None = None

    def limits(self, model: str, host: str = "") -> Limits | None:
        environment = os.environ if self.environment is None else self.environment
        set_to: dict[str, Any] = {
            field: _tokens(variable, environment[variable].strip())
            for field, variable in _VARIABLES.items()
            if environment.get(variable, "").strip()
        }
        if not set_to:
            return None
        return Limits(**set_to, source="environment " + ", ".join(_VARIABLES[field] for field in set_to))


def _tokens(variable: str, value: str) -> int:
    try:
        tokens = int(value)
    except ValueError:
        tokens = 0
    if tokens <= 0:
        raise InvalidArgument(
            f"the environment variable {variable} is {value!r}; set it to a whole number of tokens above 0, or unset it",
            name=variable,
            value=value,
        )
    return tokens
