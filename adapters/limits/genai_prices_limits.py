"""Window sizes from the genai-prices registry, as its package carries it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from attrs import frozen

from contextport.contracts import Limits, LimitsSource, implements
from contextport.contracts.extras import needs_extra

from .host_names import host_name, is_this_machine
from .registry_rows import agreed, found_row

with needs_extra("limits"):
    import genai_prices
    from genai_prices.data_snapshot import DataSnapshot, get_snapshot
    from genai_prices.types import ClauseEquals, ClauseOr, MatchLogic, ModelInfo, ModelPrice, Provider, TieredPrices

__all__ = ["GenaiPricesLimits"]


@frozen(eq=False)
class _Index:
    """The rows of one snapshot, by provider."""

    snapshot: DataSnapshot
    rows: Mapping[str, Mapping[str, Limits]]


@implements(LimitsSource)
class GenaiPricesLimits:
    """What the `genai-prices` package says. Nothing is fetched here; where the host runs the package's own update, its newer
    data are used.

    A host is found by the package's address patterns, a model by its name and the aliases that the registry lists in full, or
    by it without `models/`, the provider's name, or the date of a snapshot (`found_row`). The package's rules for names that
    only resemble a known one are for prices, and not used: they would give a new model the window of an old one.

    With no host, the row of the model's maker counts, whom the package knows by the name; of other models all hosts have to
    agree. A host that the registry does not know, or that is this machine, has no limits here.

    It knows windows, rounded for some models, and no output limits. `soft_limit` is the least input at which a price steps up.
    The numbers are hints; `Limits.as_of` is set where the data were updated in this process.
    """

    def __init__(self) -> None:
        self._index = _indexed(get_snapshot())

    def limits(self, model: str, host: str = "") -> Limits | None:
        index = self._current()
        address = host_name(host)
        if address:
            return agreed(_found(index, _providers_at(index.snapshot, address), model))
        plain = model.lower().rpartition("/")[2]
        return agreed(_found(index, _makers(index.snapshot, plain), plain)) or agreed(_found(index, index.rows, model))

    def _current(self) -> _Index:
        snapshot = get_snapshot()
        index = self._index
        if index.snapshot is not snapshot:
            index = self._index = _indexed(snapshot)
        return index


def _found(index: _Index, providers: Iterable[str], model: str) -> list[Limits]:
    rows = (found_row(index.rows[name], model, name) for name in providers)
    return [limits for limits in rows if limits is not None]


def _providers_at(snapshot: DataSnapshot, address: str) -> list[str]:
    if is_this_machine(address):
        return []
    return [provider.id for provider in snapshot.providers if _serves(provider.api_pattern, address)]


def _serves(pattern: str, address: str) -> bool:
    """Whether the pattern of a provider's URLs is of just this host. Most patterns do not say where the host's name ends."""
    host = address.partition("/")[0]
    names_path = "/" in pattern.removeprefix("(https?://)?").removeprefix("https://")
    for url in (f"https://{host}", f"https://{address}") if names_path else (f"https://{host}",):
        found = re.match(pattern, url)
        if found is not None:
            rest = re.split("[/:]", url[found.end() :])[0]
            return not rest or (found[0].endswith((".", "/")) and "." not in rest)
    return False


def _makers(snapshot: DataSnapshot, model: str) -> list[str]:
    return [provider.id for provider in snapshot.providers if provider.model_match and provider.model_match.is_match(model)]


def _indexed(snapshot: DataSnapshot) -> _Index:
    as_of = snapshot.timestamp.date().isoformat() if snapshot.from_auto_update else None
    return _Index(snapshot, {provider.id: dict(_rows(provider, as_of)) for provider in snapshot.providers})


def _rows(provider: Provider, as_of: str | None) -> Iterator[tuple[str, Limits]]:
    known = [model for model in provider.models if model.context_window]
    for model in known:  # aliases first, so that a model's own name goes before an alias of another
        for alias in _aliases(model.match):
            yield alias.lower(), _limits(provider, model, as_of)
    for model in known:
        yield model.id.lower(), _limits(provider, model, as_of)


def _aliases(match: MatchLogic) -> Iterator[str]:
    """The names that are listed in full."""
    if isinstance(match, ClauseEquals):
        yield match.equals
    elif isinstance(match, ClauseOr):
        for clause in match.or_:
            yield from _aliases(clause)


def _limits(provider: Provider, model: ModelInfo, as_of: str | None) -> Limits:
    return Limits(
        window=model.context_window,
        soft_limit=min(_price_steps(model), default=None),
        source=f"genai-prices {genai_prices.__version__} {provider.id}/{model.id}",
        as_of=as_of,
    )


def _price_steps(model: ModelInfo) -> Iterator[int]:
    prices = [model.prices] if isinstance(model.prices, ModelPrice) else [priced.prices for priced in model.prices]
    for price in prices:
        tiered = getattr(price, "input_mtok", None)
        if isinstance(tiered, TieredPrices):
            yield from (tier.start for tier in tiered.tiers if tier.start > 0)
