"""Window sizes from a table that the host gives."""

from __future__ import annotations

from collections.abc import Mapping

import attrs
from attrs import field, frozen

from contextport.contracts import Limits, LimitsSource, implements

from .host_names import host_name

__all__ = ["StaticLimits"]


def _named(table: Mapping[str | tuple[str, str], Limits]) -> dict[str | tuple[str, str], Limits]:
    """A private copy, in which each row that names no source says that it is from this table."""
    unnamed = Limits().source
    return {
        (host_name(key[0]), key[1]) if isinstance(key, tuple) else key: attrs.evolve(limits, source=f"table entry {key!r}")
        if limits.source == unnamed
        else limits
        for key, limits in table.items()
    }


@implements(LimitsSource)
@frozen
class StaticLimits:
    """A table: `{"gpt-4o": Limits(...), ("https://api.example", "gpt-4o"): Limits(...)}`.

    The entry of (host, model) goes before the entry of the model alone: hosts differ in what they allow of one model. A host
    may be written as a URL or as its name: `https://api.example/v1` is `api.example`.
    """

    table: Mapping[str | tuple[str, str], Limits] = field(converter=_named)

    def limits(self, model: str, host: str = "") -> Limits | None:
        return self.table.get((host_name(host), model)) or self.table.get(model)
