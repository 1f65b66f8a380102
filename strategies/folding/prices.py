"""What a token costs: read from the provider's prefix cache, written to it, put out. And when a fold pays for itself."""

from __future__ import annotations

import re
from enum import StrEnum

import attrs
from attrs import frozen

from contextport.contracts import InvalidArgument, Usage
from contextport.contracts.profile import ProviderProfile
from contextport.strategies.provider_rules import profile_for
from contextport.strategies.provider_rules.model_names import ModelName, model_name

__all__ = ["PRICES", "CacheState", "Prices", "break_even_turns", "invalidated_tokens", "prices_for"]


@frozen(kw_only=True)
class Prices:
    """Prices per token, relative to the uncached input price of the model that answers, which is 1.

    `read` is an input token that the prefix cache has, `write` one that it takes in, `output` one of the answer.
    `summarizer_input` and `summarizer_output` are those of whatever writes summaries: 0 for one without a model. `ttl_seconds`
    is how long the cache keeps a prefix that nobody uses; None if that is not documented. Prompts below `minimum_tokens` are not
    cached. Raises `InvalidArgument` for a price that is none, and for a `read` above 1, as prices in dollars have it, or above
    `write`.
    """

    name: str
    read: float
    write: float
    output: float
    summarizer_input: float = 0.0
    summarizer_output: float = 0.0
    ttl_seconds: float | None = None
    minimum_tokens: int = 0

    def __attrs_post_init__(self) -> None:
        names = ("read", "write", "output", "summarizer_input", "summarizer_output", "minimum_tokens")
        for name in names if self.ttl_seconds is None else (*names, "ttl_seconds"):
            value = getattr(self, name)
            positive = name in ("read", "write", "ttl_seconds")
            if not _is_number(value) or value < 0 or (positive and value == 0):
                wanted = "above 0" if positive else "0 or more"
                raise InvalidArgument(f"{name} of {self.name} is {value!r}; it must be a number {wanted}", name=name, value=value)
        if self.read > 1:
            raise InvalidArgument(
                f"prices {self.name}: read is {self.read:g}; prices are relative to the uncached input price, which is 1, and a "
                "cached token costs no more: divide every price by that of uncached input",
                name="read",
                value=self.read,
            )
        if self.read > self.write:
            raise InvalidArgument(
                f"prices {self.name}: a cached token costs {self.read:g} to read and {self.write:g} to write; reading must not "
                "be dearer, so set both to 1 for a model without a cache",
                name="read",
                value=self.read,
            )

    def summary_cost(self, usage: Usage) -> float:
        """What summaries cost for which a model took so much: in uncached input tokens of the model that answers (R126)."""
        return usage.input_tokens * self.summarizer_input + usage.output_tokens * self.summarizer_output

    def summarized_by_same_model(self, *, reads_prefix: bool) -> Prices:
        """These prices where the answering model writes the summaries.

        `reads_prefix`: the call continues the live request, so that its input comes from the cache.
        """
        return attrs.evolve(self, summarizer_input=self.read if reads_prefix else 1.0, summarizer_output=self.output)

    def for_window(self, limit: int) -> Prices:
        """These prices, or those without a cache if a window of `limit` tokens is too small to be cached."""
        return self if limit >= self.minimum_tokens else attrs.evolve(self, read=1.0, write=1.0)


def _is_number(value: object) -> bool:
    return not isinstance(value, bool) and isinstance(value, int | float) and abs(value) < float("inf")


class CacheState(StrEnum):
    """Whether the provider still has the prefix of the last request."""

    WARM = "warm"
    COLD = "cold"
    UNKNOWN = "unknown"

    @classmethod
    def of(cls, since_last_request: float | None, ttl_seconds: float | None) -> CacheState:
        """The state so many seconds after the last request; unknown if either number is."""
        if since_last_request is None or ttl_seconds is None:
            return cls.UNKNOWN
        return cls.WARM if since_last_request <= ttl_seconds else cls.COLD


def invalidated_tokens(*, after: int, head: int) -> int:
    """Tokens that the provider has to read anew after a fold: all but the head, which stays byte-identical."""
    return max(0, after - head)


def break_even_turns(
    prices: Prices, *, live: int, after: int, head: int, summary: int = 0, cache: CacheState = CacheState.WARM
) -> float:
    """Requests after which a fold has paid for itself; 0 if it pays at once, infinity if it saves nothing.

    `live` tokens are in the window, `after` the fold `after`; the first `head` of both are the same. `summary` of them are new
    output of the summarizer. With L, A, H, S for these, and p, o, r, w for the prices:

        warm   K = (L·p + S·o + (A - H)·(w - r)) / ((L - A)·r)    what is behind the edit is written again, not read
        cold   K = (L·p + S·o - (L - A)·w) / ((L - A)·r)          all is written again anyway, and a fold makes it less

    An unknown cache counts as a warm one, since breaking it is what costs.
    """
    saved = live - after
    if saved <= 0:
        return float("inf")
    cost = live * prices.summarizer_input + summary * prices.summarizer_output
    if cache is CacheState.COLD:
        cost -= saved * prices.write
    else:
        cost += invalidated_tokens(after=after, head=head) * (prices.write - prices.read)
    return max(0.0, cost / (saved * prices.read))


def _prices(
    name: str, read: float, write: float, output: float, ttl: float | None = None, minimum: int = 0
) -> tuple[str, Prices]:
    return name, Prices(name=name, read=read, write=write, output=output, ttl_seconds=ttl, minimum_tokens=minimum)


_MINUTES, _HOURS = 60.0, 3600.0

#: Price lists of November 2026 (litellm 1.110.2, genai-prices 0.2.3) and the providers' pages on caching. Where one provider has
#: several output prices, the usual one of its larger models. Times: Anthropic 5 minutes from the last hit, or 1 hour for writing
#: at twice the price. OpenAI before 5.6 keeps a prefix for 5 to 10 minutes, from 5.6 on for 30. Groq 2 hours, explicit caches of
#: Qwen 5 minutes. The others do not say: DeepSeek hours to days, xAI until it is evicted.
PRICES: dict[str, Prices] = dict(
    (
        _prices("anthropic", 0.1, 1.25, 5, 5 * _MINUTES, 1024),
        _prices("anthropic.1h", 0.1, 2.0, 5, 1 * _HOURS, 1024),
        _prices("anthropic.5_5", 0.05, 1.25, 5, 5 * _MINUTES, 512),  # Opus and Sonnet 5.5
        _prices("anthropic.fable", 0.025, 1.25, 5, 5 * _MINUTES, 512),  # Fable from 5.1, Mythos from 5.2 on
        _prices("openai.4o", 0.5, 1.0, 4, 10 * _MINUTES, 1024),  # gpt-4o, o1
        _prices("openai.4_1", 0.25, 1.0, 4, 10 * _MINUTES, 1024),  # gpt-4.1, o3, o4
        _prices("openai.5", 0.1, 1.0, 8, 10 * _MINUTES, 1024),
        _prices("openai.5_6", 0.1, 1.25, 5, 30 * _MINUTES, 1024),
        _prices("openai.6_1", 0.05, 1.25, 5, 30 * _MINUTES, 1024),
        _prices("gemini", 0.1, 1.0, 8, None, 4096),
        _prices("bedrock.nova", 0.25, 1.0, 4, 5 * _MINUTES, 1024),
        _prices("deepseek", 0.03, 1.0, 3),
        _prices("xai", 0.25, 1.0, 5, None, 128),
        _prices("mistral", 0.1, 1.0, 4),
        _prices("groq", 0.5, 1.0, 4, 2 * _HOURS),
        _prices("qwen", 0.2, 1.0, 4, None, 1024),
        _prices("qwen.explicit", 0.1, 1.25, 4, 5 * _MINUTES, 1024),
        _prices("moonshot", 0.2, 1.0, 5),
        _prices("open_model_hosts", 0.2, 1.0, 4),  # Fireworks, Together: 0.1 to 0.5
        _prices("uncached", 1.0, 1.0, 4),  # a host without a cache
        # Cached reads as cheap and writes as dear as is usual, so that nothing is edited lightly; no cache is known to last.
        _prices("unknown", 0.1, 1.25, 5, 1 * _HOURS),
    )
)

_BY_FAMILY = tuple(
    (re.compile(pattern), name)
    for pattern, name in (
        (r"^(ft:)?(gpt-4o|chatgpt-4o|gpt-4-5|o1)", "openai.4o"),
        (r"^(ft:)?(gpt-4-1|o[34])", "openai.4_1"),
        (r"^gpt-5-([6-9]|\d\d)|^gpt-6$|^gpt-6-(?!1(-|$))", "openai.5_6"),
        (r"^gpt-6-1(-|$)", "openai.6_1"),
        (r"^(gpt-5|codex)", "openai.5"),
    )
)
_BY_PROVIDER = ("deepseek", "xai", "mistral", "moonshot", "qwen")


def prices_for(model: ProviderProfile | str) -> Prices:
    """The prices of a model, by its name or by the profile that was looked up for it; cautious ones if it is not known.

    They are those of 2026. A host that pays other prices hands its own `Prices` to the policy.
    """
    profile = profile_for(model) if isinstance(model, str) else model
    if not isinstance(profile, ProviderProfile):
        raise InvalidArgument(f"model is {model!r:.80}; it must be a model's name or a ProviderProfile", name="model")
    name = model_name(model if isinstance(model, str) else profile.model)
    return PRICES[_chosen(name, profile)]


def _chosen(name: ModelName, profile: ProviderProfile) -> str:
    if name.host == "groq":
        return "groq"
    if "claude" in name.plain or profile.provider == "anthropic":
        return _claude(name)
    if "gemini" in name.plain or profile.api == "gemini.generate_content":
        return "gemini"
    if profile.name in ("open_model_hosts", "bedrock.nova"):
        return profile.name
    family = next((family for pattern, family in _BY_FAMILY if pattern.search(name.plain)), "")
    if family:
        return family
    return profile.provider if profile.provider in _BY_PROVIDER else "unknown"


def _claude(name: ModelName) -> str:
    if name.line in ("fable", "mythos") and name.version >= ((5, 1) if name.line == "fable" else (5, 2)):
        return "anthropic.fable"
    return "anthropic.5_5" if name.line in ("opus", "sonnet") and name.version >= (5, 5) else "anthropic"
